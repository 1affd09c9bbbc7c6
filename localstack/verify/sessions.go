package verify

import (
	"slices"
	"strings"

	"lectern/shared/repair"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// checkSessions checks all sessions of an event, whose partition owner is.
func (o *Organization) checkSessions(owner string, bodies map[string]*session.Body) {
	want, before := map[string]stored{}, o.Count
	for id, body := range bodies {
		want[id] = stored{body.Version, sessionRow(body)}
		o.published("session "+id, body.Version, body.UpdatedAt.UnixMilli(), body.Sequence)
		o.checkLinks(id, body, bodies)
		event := strings.TrimPrefix(owner, o.key+"#")
		o.checkGuests(event, id, body)
		o.checkPeople(event, id, body)
	}
	o.mirrored(owner, "S", want)
	o.checkSubsessions(owner, bodies)
	if o.Count > before {
		o.mendable(owner, repair.Sessions)
	}
}

// sessionRow is what the row of a session must hold.
func sessionRow(b *session.Body) map[string]any {
	row := map[string]any{"c": b.CreatedAt.UnixMilli(), "u": b.UpdatedAt.UnixMilli(), "t": b.Title,
		"n": strings.TrimPrefix(b.FriendlyID(), "SESS-")}
	put := func(name string, value any, there bool) {
		if there {
			row[name] = value
		}
	}
	at := func(name string, moment *wire.Time) {
		if moment != nil {
			row[name] = moment.UnixMilli()
		}
	}
	at("d", b.DeletedAt)
	at("s", b.StartsAt)
	for name, id := range map[string]*string{"a": b.Status, "k": b.TrackID, "l": b.LevelID, "f": b.FormatID, "g": b.LanguageID} {
		put(name, id, id != nil)
	}
	put("p", b.Parent, b.Parent != "")
	put("x", b.TagIDs, len(b.TagIDs) > 0)
	put("b", true, b.IsAbstract)
	put("o", true, b.Target != nil)
	cast := castOf(b)
	put("w", cast, len(cast) > 0)
	return row
}

// castOf are the people of a session by role, as its row has them.
func castOf(b *session.Body) (cast []map[string]any) {
	for _, p := range b.Participants {
		at := slices.IndexFunc(cast, func(c map[string]any) bool { return c["r"] == p.RoleID })
		if at < 0 {
			at, cast = len(cast), append(cast, map[string]any{"r": p.RoleID, "c": []string{}})
		}
		cast[at]["c"] = append(cast[at]["c"].([]string), p.ContactID)
	}
	return cast
}

// checkLinks: both sides of a composition know of each other.
func (o *Organization) checkLinks(id string, b *session.Body, all map[string]*session.Body) {
	for _, link := range b.Sources {
		if source := all[link.SessionID]; source == nil || source.Target == nil || source.Target.CompositionID != link.CompositionID {
			o.wrong("session %s has the source %s, which does not know of it", id, link.SessionID)
		}
	}
	if b.Target == nil {
		return
	}
	target := all[b.Target.SessionID]
	if target == nil || !slices.ContainsFunc(target.Sources, func(l session.Link) bool { return l.SessionID == id }) {
		o.wrong("session %s has the target %s, which does not know of it", id, b.Target.SessionID)
	}
}

// checkGuests: whom a session names are or were on the event, or are purged.
func (o *Organization) checkGuests(event, id string, b *session.Body) {
	named := map[string][]string{"account": slices.Concat(b.SponsorIDs, b.ExhibitorIDs)}
	for _, p := range b.Participants {
		named["contact"] = append(named["contact"], p.ContactID)
	}
	for kind, ids := range named {
		for _, guest := range ids {
			if o.Parties[kind].Here[event][guest] == nil && !o.gone[kind+" "+guest] {
				o.wrong("session %s names the %s %s, which was never on the event", id, kind, guest)
			}
		}
	}
}

// checkSubsessions: a parent lists its subsessions that are not deleted and no other, and
// no number was given twice or is yet to be given.
func (o *Organization) checkSubsessions(owner string, bodies map[string]*session.Body) {
	numbers, live := map[string]string{}, map[string][]string{}
	for id, b := range bodies {
		if other := numbers[b.FriendlyID()]; other != "" {
			o.wrong("sessions %s and %s are both %s", id, other, b.FriendlyID())
		}
		numbers[b.FriendlyID()] = id
		if b.Parent != "" && b.DeletedAt == nil {
			live[b.Parent] = append(live[b.Parent], id)
		}
	}
	for id, b := range bodies {
		given := o.numbers[owner+"#N#session"]
		if b.Parent != "" {
			parent := bodies[b.Parent]
			if parent == nil {
				o.wrong("session %s has the parent %s, which is not there", id, b.Parent)
				continue
			}
			given = parent.LastNumber
		}
		if b.Number > given {
			o.wrong("session %s has the number %d, the last one given is %d", id, b.Number, given)
		}
		if !sameSet(b.Subsessions, live[id]) {
			o.wrong("session %s lists the subsessions %v and has %v", id, b.Subsessions, live[id])
		}
	}
}
