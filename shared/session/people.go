package session

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/account"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/size"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Parties are the stores of the contacts and accounts that sessions name.
type Parties struct {
	Contacts *contact.Store
	Accounts *account.Store
}

// Keys returns the keys of the contacts and accounts of b that are not among the read items.
// Found compares a record with its association, so both are read together.
func (p Parties) Keys(c *auth.Caller, got write.Items, b *Body) (keys []table.Key) {
	contacts, accounts := b.Parties()
	return append(unread(&p.Contacts.Store, c, got, contacts), unread(&p.Accounts.Store, c, got, accounts)...)
}

func unread(st *party.Store, c *auth.Caller, got write.Items, ids []string) (keys []table.Key) {
	for _, id := range ids {
		both := st.Keys(c, id)
		if _, read := got[both[0]]; !read {
			keys = append(keys, both...)
		}
	}
	return keys
}

// People returns an empty People that reads from the table. Only an answer with translations
// keeps them.
func (p Parties) People(c *auth.Caller, translated bool) *People {
	return p.people(c, translated, p.Contacts.Read, p.Accounts.Read)
}

func (p Parties) people(c *auth.Caller, translated bool, contacts, accounts party.Reader) *People {
	return &People{
		parties:  p,
		Contacts: loader(c, translated, &p.Contacts.Store, contacts), Accounts: loader(c, translated, &p.Accounts.Store, accounts),
	}
}

// loader returns a Loader that leaves out the longest fields beyond size.Loaded.
func loader(c *auth.Caller, translated bool, store *party.Store, read party.Reader) *party.Loader {
	brief := slices.DeleteFunc(slices.Clone(store.Kind.Fields), isLongest)
	return party.NewLoader(c, store, read, party.Portion{
		Translated: translated, Brief: brief, Budget: size.Loaded, Weigh: party.Party.Size,
	})
}

func isLongest(name string) bool { return slices.Contains(contact.Longest, name) }

// Validated validates the contacts and accounts in memory, and returns an empty People that
// takes only validated rows from memory: rows that another request loads later may be older
// than a search of this request.
func (p Parties) Validated(ctx context.Context, c *auth.Caller, translated bool) (*People, error) {
	var contacts, accounts party.Reader
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		contacts, err = p.Contacts.Refresh(ctx, c)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		accounts, err = p.Accounts.Refresh(ctx, c)
		return err
	}))
	err := g.Wait()
	return p.people(c, translated, contacts, accounts), err
}

// People are the contacts and accounts of a request: each is read once, for all sessions.
type People struct {
	parties            Parties
	Contacts, Accounts *party.Loader
}

// Load reads the contacts and accounts that are not loaded yet.
func (p *People) Load(ctx context.Context, contacts, accounts []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error { return p.Contacts.Load(ctx, contacts) }))
	g.Go(table.Safely(func() error { return p.Accounts.Load(ctx, accounts) }))
	return g.Wait()
}

// AddFrom adds the contacts and accounts of b from the read items.
func (p *People) AddFrom(got write.Items, b *Body) error {
	contacts, accounts := b.Parties()
	if err := p.Contacts.AddFrom(got, contacts); err != nil {
		return err
	}
	return p.Accounts.AddFrom(got, accounts)
}

// OnEvent reports whether a loaded contact is on the event.
func (p *People) OnEvent(contactID string) bool {
	_, ok := p.Contacts.Holder(contactID, contact.Role)
	return ok
}

// Brief reports whether some contacts or accounts are loaded in brief, for lack of memory.
func (p *People) Brief() bool { return p.Contacts.Exceeded() || p.Accounts.Exceeded() }
