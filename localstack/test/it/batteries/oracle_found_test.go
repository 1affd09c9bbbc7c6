package batteries_test

import (
	"maps"
	"slices"
)

// finding is what is wrong with an answer to a search of people or accounts.
type finding struct {
	judge
	q      hunt
	family *family[*member]
	was    map[string]*member
	// on are those known to be on a session that the search asks for, maybe those
	// who may be or not be on one.
	on, maybe map[string]bool
}

// found lists what is wrong with an answer to a search that began at before, as
// check does for sessions.
func (m *model) found(q hunt, p pageOf[*shownMember], before watermark) (problems []string, exact bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &finding{judge: m.judging(q.ask, before), q: q, family: m.family(q.quarry)}
	f.was = before.members(f.family)
	if q.bySession {
		f.findPeople()
	}
	as := make([]dated, len(p.results))
	for i, r := range p.results {
		as[i] = f.result(r)
	}
	var all []candidate
	for id, k := range f.family.known {
		c := candidate{dated: sighting{k.state, q.event}, sure: f.family.still(k, before.clock)}
		c.kept = c.sure && q.keeps(sighting{k.state, q.event})
		if q.bySession && c.kept { // Who is not kept anyway is not, whatever the sessions.
			c.sure, c.kept = f.on[id] || !f.maybe[id], f.on[id]
		}
		all = append(all, c)
	}
	open := f.whole(q.ask, p.paging, shownIDs(p.results, func(r *shownMember) string { return r.id }), as, f.family.creating, all)
	return f.problems, open == 0
}

// findPeople finds out who is on sessions. A session that was written may have those it
// had, those it has, and those whom a write has named.
func (f *finding) findPeople() {
	f.on, f.maybe = map[string]bool{}, map[string]bool{}
	passed := [2]map[string]bool{{}, {}}
	roles := map[string]sessionRole{}
	for _, role := range f.roles {
		roles[role.id] = role
	}
	for id, k := range f.sessions.known {
		still := f.sessions.still(k, f.before.clock)
		counts := f.q.counts(k.state, f.live)
		seats := slices.Clone(k.state.participants)
		if was := f.before.sessions[id]; was != nil && !still {
			seats = append(seats, was.participants...)
		}
		for _, s := range seats {
			if !still || f.loose {
				f.maybe[s.contact] = true
			} else if counts {
				for filter, by := range f.q.roleFilters() {
					if by(roles[s.role]) {
						passed[filter][s.contact] = true
					}
				}
			}
		}
	}
	for id := range passed[0] {
		f.on[id] = passed[1][id]
	}
	for id, k := range f.contacts.known {
		if !f.quiet(seated(id), f.before.clock) || !f.quiet(invited(k.state.values["email"]), f.before.clock) {
			f.maybe[id] = true
		}
	}
}

// result checks one member that is shown, and gives it as the version that it is.
func (f *finding) result(r *shownMember) dated {
	event := f.q.event
	if was := f.was[r.id]; was != nil && r.updated < was.changed(event) {
		f.wrong("%s is shown as of %d, acknowledged was %d", r.id, r.updated, was.changed(event))
	}
	k := f.family.known[r.id]
	if k == nil {
		if f.family.creating == 0 {
			f.wrong("%s is shown and was never made", r.id)
		}
		return nil
	}
	version := f.family.past[placed(r.id, event, r.updated)]
	if version == nil {
		if f.family.still(k, f.before.clock) {
			f.wrong("%s is shown as of %d, which it never was", r.id, r.updated)
		}
		return nil
	}
	if f.q.quarry == allParticipants {
		f.parts(r)
	}
	s, still := sighting{version, event}, f.family.still(k, f.before.clock)
	if !maps.Equal(s.shown(), r.values) || r.created != s.created || r.deleted {
		f.wrong("%s is shown as %+v, it is %+v", r.id, *r, s.shown())
	}
	if !f.q.keeps(s) {
		f.wrong("%s does not match: %+v", r.id, *version)
	}
	if still {
		f.relations(r, s)
	}
	return s
}

// parts: a participant is shown with all roles, whatever was searched by, and with
// each on all of its sessions.
func (f *finding) parts(r *shownMember) {
	for _, role := range f.roles {
		for id, k := range f.sessions.known {
			if !f.sessions.still(k, f.before.clock) {
				continue
			}
			is := k.state.deleted == 0 && k.state.has(r.id, func(id string) bool { return id == role.id })
			if shown := slices.Contains(r.roles[role.slug], id); shown != is {
				f.wrong("%s is shown as %s of %s: %v, is that: %v", r.id, role.slug, id, shown, is)
			}
		}
		for _, id := range r.roles[role.slug] {
			if f.sessions.known[id] == nil && f.sessions.creating == 0 {
				f.wrong("%s is shown on %s, which was never made", r.id, id)
			}
		}
	}
}

// relations: an account is shown with its contacts that are on the event.
func (f *finding) relations(r *shownMember, s sighting) {
	for _, id := range s.on(s.event).related {
		e := f.expect(f.contacts, id, "contact", s.event)
		if shown := slices.Contains(r.related, id); e.sure && shown != e.held {
			f.wrong("%s is shown with its contact %s: %v, is there: %v", r.id, id, shown, e.held)
		}
	}
	for _, id := range r.related {
		if !slices.Contains(s.on(s.event).related, id) {
			f.wrong("%s is shown with the contact %s, which is none of its", r.id, id)
		}
	}
}
