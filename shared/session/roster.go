package session

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/size"
	"lectern/shared/table"
	"lectern/shared/write"
)

// roster has the people and accounts of one request: each is read once, however many
// sessions name it.
type roster struct{ contacts, accounts *register }

// roster returns an empty roster that reads from the table.
func (st *Store) roster(c *auth.Caller, x Expand) *roster {
	return &roster{newRegister(c, x, &st.Contacts.Store, st.Contacts.Read), newRegister(c, x, &st.Accounts.Store, st.Accounts.Read)}
}

// refresh runs a search and validates the people and accounts in memory in parallel. It
// returns an empty roster that reads only validated rows from memory: rows that another
// request loads meanwhile may be older than the search.
func (st *Store) refresh(ctx context.Context, c *auth.Caller, x Expand, search func(context.Context) error) (*roster, error) {
	r := &roster{}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error { return search(ctx) }))
	for kind, into := range map[*party.Store]**register{&st.Contacts.Store: &r.contacts, &st.Accounts.Store: &r.accounts} {
		g.Go(table.Safely(func() error {
			read, err := kind.Refresh(ctx, c)
			*into = newRegister(c, x, kind, read)
			return err
		}))
	}
	return r, g.Wait()
}

// meet reads the contacts and accounts that are not in the roster yet.
func (r *roster) meet(ctx context.Context, contacts, accounts []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error { return r.contacts.meet(ctx, contacts) }))
	g.Go(table.Safely(func() error { return r.accounts.meet(ctx, accounts) }))
	return g.Wait()
}

// attends reports whether a contact of the roster is on the event.
func (r *roster) attends(id string) bool {
	_, ok := r.contacts.holder(id, contact.Role)
	return ok
}

// learn adds the people and accounts of a body from the items that were read.
func (r *roster) learn(got write.Items, b *Body) error {
	contacts, accounts := b.cast()
	if err := r.contacts.learn(got, contacts); err != nil {
		return err
	}
	return r.accounts.learn(got, accounts)
}

// register is one kind of party in a roster. It may be used in parallel.
type register struct {
	caller *auth.Caller
	// translated reports whether the answer shows translations; they are not kept otherwise.
	translated bool
	store      *party.Store
	read       party.Reader
	mu         sync.Mutex
	// met has the parties that were looked for; zero for a party never on the event.
	met map[string]party.Party
	// again has the parties of met that may be torn: they are read again before they are shown.
	again map[string]bool
	// held is the number of bytes read into met. Beyond size.Held only the fields of brief
	// are kept.
	held  int
	brief []string
}

func newRegister(c *auth.Caller, x Expand, store *party.Store, read party.Reader) *register {
	return &register{
		caller: c, translated: x.TranslatedFields, store: store, read: read, met: map[string]party.Party{}, again: map[string]bool{},
		brief: slices.DeleteFunc(slices.Clone(store.Kind.Fields), func(name string) bool { return slices.Contains(contact.Longest, name) }),
	}
}

// holder returns the party of an id if it holds the role on the event.
func (r *register) holder(id, role string) (party.Party, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.met[id]
	return p, p.Holds(role)
}

func (r *register) add(parties ...party.Party) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range parties {
		r.met[p.ID], r.again[p.ID] = r.shown(p), r.store.MayBeTorn(p)
	}
}

// shown returns the part of a party that is kept.
func (r *register) shown(p party.Party) party.Party {
	if r.translated {
		return p
	}
	return p.Untranslated()
}

// learn adds the parties of ids from the items that were read.
func (r *register) learn(got write.Items, ids []string) error {
	for _, id := range r.missing(ids) {
		switch p, err := r.store.Found(r.caller, got, id); {
		case err != nil:
			return err
		case p.Body != nil:
			r.add(p)
		}
	}
	return nil
}

// meet reads the parties of ids that were not looked for yet, or may be torn.
func (r *register) meet(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(r.missing(ids), maxAtOnce) {
		found, err := r.read(ctx, r.caller, chunk)
		if err != nil {
			return err
		}
		r.hold(chunk, found)
	}
	return nil
}

// maxAtOnce is how many parties are read before their size is looked at.
const maxAtOnce = 250

// brief reports whether some of the people or accounts are kept in brief.
func (r *roster) brief() bool { return r.contacts.held > size.Held || r.accounts.held > size.Held }

// hold adds the found parties of ids.
func (r *register) hold(ids []string, found map[string]party.Party) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		p := r.shown(found[id])
		if p.Body != nil {
			r.held += p.Size()
		}
		if r.held > size.Held {
			p = p.Only(r.brief)
		}
		r.met[id] = p
		delete(r.again, id)
	}
}

// missing returns the ids that were not looked for yet or may be torn, each once.
func (r *register) missing(ids []string) (missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for _, id := range ids {
		if _, met := r.met[id]; (!met || r.again[id]) && !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	return missing
}
