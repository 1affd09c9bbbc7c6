package session

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"lectern/shared/account"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/write"
)

// roster is the people and accounts that one request has met: each is read once,
// however many sessions name it.
type roster struct{ contacts, accounts *register }

// roster is an empty one that reads from the table.
func (st *Store) roster(c *auth.Caller, x Expand) *roster {
	return &roster{newRegister(c, x, &st.Contacts.Store, st.Contacts.Read), newRegister(c, x, &st.Accounts.Store, st.Accounts.Read)}
}

// refresh does a search beside the validation of the people and accounts in memory,
// and gives an empty roster that is as current as the search. Of memory it reads what
// was validated only: what another request loads meanwhile may be older.
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

// attends is whether a contact is on the event, of those in the roster.
func (r *roster) attends(id string) bool {
	_, ok := r.contacts.holder(id, contact.Role)
	return ok
}

// learn adds those whom a body names, as far as they are among what was read.
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
	// translated is whether translations are shown; they are not kept otherwise.
	translated bool
	store      *party.Store
	read       party.Reader
	mu         sync.Mutex
	// met has those looked for; one that was never on the event is zero.
	met map[string]party.Party
	// doubts are those of met who are read again before they are shown.
	doubts map[string]bool
	// held is how many bytes were read into met, short what is kept of a party where
	// there is no room for more.
	held  int
	short []string
}

// shortOf are the fields of the short forms.
var shortOf = map[*party.Kind][]string{contact.Kind: contact.Short, account.Kind: account.Short}

func newRegister(c *auth.Caller, x Expand, store *party.Store, read party.Reader) *register {
	return &register{
		caller: c, translated: x.TranslatedFields, store: store, read: read, met: map[string]party.Party{}, doubts: map[string]bool{},
		short: shortOf[store.Kind],
	}
}

// holder gives the party of an id where it holds the role on the event.
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
		r.met[p.ID], r.doubts[p.ID] = r.shown(p), r.store.Doubts(p)
	}
}

// shown is what is kept of a party.
func (r *register) shown(p party.Party) party.Party {
	if r.translated {
		return p
	}
	return p.Untranslated()
}

// learn adds those of ids that are among what was read.
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

// meet reads those of ids that were not looked for yet, or are in doubt.
func (r *register) meet(ctx context.Context, ids []string) error {
	missing := append(r.missing(ids), r.doubted(ids)...)
	if len(missing) == 0 {
		return nil
	}
	for chunk := range slices.Chunk(missing, maxAtOnce) {
		found, err := r.read(ctx, r.caller, chunk)
		if err != nil {
			return err
		}
		r.hold(chunk, found)
	}
	return nil
}

const (
	// maxAtOnce is how many parties are read before their size is looked at.
	maxAtOnce = 250
	// maxHeld is how many bytes of parties are held; of those beyond it, only what the
	// short form shows.
	maxHeld = 64 << 20
)

// hold adds what was found of ids.
func (r *register) hold(ids []string, found map[string]party.Party) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		p := r.shown(found[id])
		if p.Body != nil {
			r.held += p.Size()
		}
		if r.held > maxHeld {
			p = p.Trim(r.short)
		}
		r.met[id] = p
		delete(r.doubts, id)
	}
}

// doubted are those of ids that are in doubt, each once.
func (r *register) doubted(ids []string) (doubted []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, doubt := range r.doubts {
		if doubt && slices.Contains(ids, id) {
			doubted = append(doubted, id)
		}
	}
	return doubted
}

// missing are those of ids that were not looked for yet, each once.
func (r *register) missing(ids []string) (missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for _, id := range ids {
		if _, met := r.met[id]; !met && !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	return missing
}
