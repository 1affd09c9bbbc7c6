package batteries_test

import (
	"cmp"
	"slices"
)

// people checks whom a session is shown with: everyone that the version shown has
// who is on the event, in the order of the roles and then in their own, and nobody
// else; and the accounts likewise.
func (v *verdict) people(r *result, version *state) {
	place := func(s seat) int {
		return slices.IndexFunc(v.roles, func(role sessionRole) bool { return role.id == s.role })
	}
	seats := slices.Clone(version.participants)
	slices.SortStableFunc(seats, func(a, b seat) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.order, b.order)) })
	want := make([]expected, len(seats))
	for i, s := range seats {
		want[i] = v.expect(v.contacts, s.contact, "contact", v.events[0])
		want[i].slug = v.roles[place(s)].slug
	}
	v.present(r, want, r.participantsAt)
	for _, role := range accountRoles {
		var holders []expected
		for _, id := range version.accounts[role] {
			holders = append(holders, v.expect(v.accounts, id, role, v.events[0]))
		}
		v.present(r, holders, r.accountsAt[role])
	}
}

// accountRoles are the roles of accounts.
var accountRoles = []string{"sponsor", "exhibitor"}

// expected is one who stands on a session: whether it is certain if they are shown,
// whether they are, and as of when at least.
type expected struct {
	id, slug   string
	sure, held bool
	since      int64
}

// expect looks up whether a member has the role on the event.
func (j *judge) expect(f *family[*member], id, role string, event int64) expected {
	k := f.known[id]
	if k == nil { // It is being made.
		return expected{id: id}
	}
	e := expected{id: id, sure: f.still(k, j.before.clock), held: k.state.holds(event, role)}
	if was := j.before.members(f)[id]; was != nil {
		e.since = was.changed(event)
	}
	return e
}

// present: those shown are among the wanted, in their order, and nobody is missing.
func (v *verdict) present(r *result, want []expected, shown []presence) {
	for _, e := range want {
		on := len(shown) > 0 && shown[0].ID == e.id && shown[0].Role.Slug == e.slug
		switch {
		case e.sure && on != e.held:
			v.wrong("%s: %s %s is shown: %v, is there: %v", r.id, e.slug, e.id, on, e.held)
		case on && shown[0].Updated.UnixMilli() < e.since:
			v.wrong("%s: %s %s is shown as of %s, acknowledged was %d", r.id, e.slug, e.id, shown[0].Updated, e.since)
		}
		if on {
			shown = shown[1:]
		}
	}
	if len(shown) > 0 {
		v.wrong("%s is shown with %v too many", r.id, shown)
	}
}
