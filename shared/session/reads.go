package session

import (
	"context"
	"maps"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/caps"
	"lectern/shared/party"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// request is one request of writes: by whom, and what its answers add.
//
// An operation has all it needs read before it is planned, in two batches that the
// operations of a bulk share: what the path and
// the draft name that decides (keys), and whom and what these name in turn (more,
// company).
type request struct {
	*Store
	caller *auth.Caller
	expand Expand
	// running are the numbers of the sessions that it makes.
	running *write.Numbers
	// places admits the sessions that it makes.
	places *caps.Request
	// reserved is that of an operation of a bulk (formatter.reserved).
	reserved *reservation
}

func (st *Store) request(c *auth.Caller, x Expand) *request {
	places := st.Caps.Request(st.Source(c), caps.Sessions)
	running := write.NewNumbers(st.Table, at(c).numbers(), places.Admit)
	return &request{Store: st, caller: c, expand: x, running: running, places: places}
}

// keys are those of the members and addresses that a draft names.
func (r *request) keys(e *edit) []table.Key {
	return append(slices.Collect(maps.Values(e.members)), e.draft.refs().Keys(r.caller)...)
}

// more are the keys of the people and accounts that a draft names.
func (r *request) more(e *edit, got write.Items) []table.Key {
	keys := e.draft.refs().More(r.Contacts, r.caller, got)
	for _, list := range e.draft.accounts() {
		for _, id := range list.sent.Value {
			keys = append(keys, r.Accounts.Keys(r.caller, id)...)
		}
	}
	return keys
}

// company are the keys of whom and what the session at key names, for the answer and
// to tell who is deleted from the event; none where there is no such session.
func (r *request) company(got write.Items, key table.Key) []table.Key {
	b, err := stored(got, key)
	if err != nil {
		return nil
	}
	contacts, accounts := b.cast()
	return slices.Concat(
		r.sessions(b.relatives()), r.unread(&r.Contacts.Store, got, contacts), r.unread(&r.Accounts.Store, got, accounts))
}

func (r *request) sessions(ids []string) []table.Key {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = at(r.caller).body(id)
	}
	return keys
}

// unread are the keys of the parties of ids, but of those that were read. A party is
// read whole: its record and its association are compared.
func (r *request) unread(st *party.Store, got write.Items, ids []string) (keys []table.Key) {
	for _, id := range ids {
		whole := st.Keys(r.caller, id)
		if _, read := got[whole[0]]; !read {
			keys = append(keys, whole...)
		}
	}
	return keys
}

// partners are the keys of the sessions that the one at key is composed with.
func (r *request) partners(got write.Items, key table.Key) []table.Key {
	b, err := stored(got, key)
	if err != nil {
		return nil
	}
	return r.sessions(b.partners())
}

// plan is Store.plan with the answer of the request. Of whom and what the sessions of
// the steps named before, the answer takes what was read.
func (r *request) plan(ctx context.Context, set *settings.Snapshot, met *roster, got write.Items, now wire.Time, steps ...step) (*write.Plan, error) {
	f := r.formatter(r.caller, set, r.expand)
	f.roster, f.reserved = met, r.reserved
	for _, s := range steps {
		if s.before == nil {
			continue
		}
		if err := met.learn(got, s.before); err != nil {
			return nil, err
		}
		if err := f.learn(got, s.before.relatives()); err != nil {
			return nil, err
		}
	}
	return r.Store.plan(ctx, f, now, steps...)
}

// learn adds to others the sessions of ids that are among what was read.
func (f *formatter) learn(got write.Items, ids []string) error {
	for _, id := range ids {
		item, read := got[at(f.caller).body(id)]
		if !read {
			continue
		}
		other, err := decode(item)
		if err != nil {
			return err
		}
		f.others[id] = other
	}
	return nil
}

// cast are the ids of the people and the accounts that a session names.
func (b *Body) cast() (contacts, accounts []string) {
	for _, p := range b.Participants {
		contacts = append(contacts, p.ContactID)
	}
	return contacts, slices.Concat(b.SponsorIDs, b.ExhibitorIDs)
}

// relatives are the ids of the other sessions that a session names.
func (b *Body) relatives() []string {
	ids := append(b.partners(), b.Subsessions...)
	if b.Parent != "" {
		ids = append(ids, b.Parent)
	}
	return ids
}
