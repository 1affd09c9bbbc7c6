package session

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/settings"
	"lectern/shared/table"
)

// roster is the people and accounts that one request has met: each is read once,
// however many sessions name it. The operations of a bulk share one.
type roster struct {
	contacts, accounts *register
	// addresses are the ids of contacts by the keys of their e-mail addresses, of
	// those that a bulk has looked for before its operations.
	addresses map[table.Key]string
}

// request is one request of writes: by whom, what its answers add, and whom it has
// met.
type request struct {
	*Store
	caller *auth.Caller
	expand Expand
	roster *roster
}

func (st *Store) request(c *auth.Caller, x Expand) *request {
	return &request{Store: st, caller: c, expand: x, roster: st.roster(c)}
}

// formatter shows a session as the answer of the request.
func (r *request) formatter(set *settings.Snapshot) *formatter {
	f := r.Store.formatter(r.caller, set, r.expand)
	f.roster = r.roster
	return f
}

// roster is an empty one that reads from the table.
func (st *Store) roster(c *auth.Caller) *roster {
	return &roster{
		contacts: newRegister(c, st.Contacts.Read), accounts: newRegister(c, st.Accounts.Read), addresses: map[table.Key]string{},
	}
}

// recalling is an empty roster that reads from memory where it can; refresh must
// have been called.
func (st *Store) recalling(c *auth.Caller) *roster {
	return &roster{contacts: newRegister(c, st.Contacts.Present), accounts: newRegister(c, st.Accounts.Present)}
}

// refresh does a search together with the validation of the people and accounts in
// memory, so that a recalling roster afterwards is as current as the search.
func (st *Store) refresh(ctx context.Context, c *auth.Caller, search func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error { return search(ctx) }))
	g.Go(table.Safely(func() error { return st.Contacts.Refresh(ctx, c) }))
	g.Go(table.Safely(func() error { return st.Accounts.Refresh(ctx, c) }))
	return g.Wait()
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

// register is one kind of party in a roster. It may be used in parallel.
type register struct {
	caller *auth.Caller
	read   func(context.Context, *auth.Caller, []string) (map[string]party.Party, error)
	mu     sync.Mutex
	// met has those looked for; one that was never on the event is zero.
	met map[string]party.Party
}

func newRegister(c *auth.Caller, read func(context.Context, *auth.Caller, []string) (map[string]party.Party, error)) *register {
	return &register{caller: c, read: read, met: map[string]party.Party{}}
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
		r.met[p.ID] = p
	}
}

// meet reads those of ids that were not looked for yet.
func (r *register) meet(ctx context.Context, ids []string) error {
	missing := r.missing(ids)
	if len(missing) == 0 {
		return nil
	}
	found, err := r.read(ctx, r.caller, missing)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range missing {
		r.met[id] = found[id]
	}
	return nil
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
