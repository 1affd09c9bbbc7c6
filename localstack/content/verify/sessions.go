package verify

import (
	"fmt"
	"slices"
	"strings"

	"lectern/localstack/content/verify/files"
	"lectern/localstack/content/verify/raw"
	"lectern/shared/person"
	"lectern/shared/repair"
	"lectern/shared/session"
	"lectern/shared/slide"
	"lectern/shared/wire"
)

// addSession adds the body of a session, its open uploads, or a segment of its transcriptions.
func (o *Organization) addSession(at raw.Partition, item raw.Item) {
	if strings.HasPrefix(item.SK, "T#") {
		o.transcriptsOf(at).AddSegment(at.Rest, item)
		return
	}
	if item.SK == "F" {
		o.filesOf(at.Owner).AddOpen(at.Rest, item)
		return
	}
	body := &session.Body{}
	if !o.read(item, "session", body) {
		return
	}
	if body.ID != at.Rest || item.SK != "B" {
		o.problemf("session %s says it is %s", at.Rest, body.ID)
	}
	body.Version = item.Version
	innerMap(o.Sessions, at.Owner)[at.Rest] = body
}

// addSlides adds how the holding slides of an event are set up, or a part of a picture.
func (o *Organization) addSlides(at raw.Partition, item raw.Item) {
	o.filesOf(at.Owner).AddSlides(item)
}

// checkSlides compares how the holding slides of the events are set up with the pictures and the change records.
func (o *Organization) checkSlides() {
	for _, event := range sortedKeys(o.files) {
		o.files[event].CheckPictures()
		if set := o.files[event].Slides(); set.Known() {
			o.checkPublished(fmt.Sprint(slide.Type, " ", raw.ParsePartition(event).EventID()), set.Revision(), set.UpdatedAt.UnixMilli(), 0)
		}
	}
}

// filesOf returns the files of an event.
func (o *Organization) filesOf(event string) *files.Items {
	if o.files[event] == nil {
		o.files[event] = files.New(o.problemf)
	}
	return o.files[event]
}

// checkSessions checks the sessions of an event. owner is the key of the event.
func (o *Organization) checkSessions(owner string, bodies map[string]*session.Body) {
	want, before := map[string]expectedRow{}, o.Count
	for id, body := range bodies {
		want[id] = expectedRow{body.Version, sessionRow(body)}
		o.checkPublished("session "+id, body.Version, body.UpdatedAt.UnixMilli(), body.Sequence)
		o.checkLinks(id, body, bodies)
		event := strings.TrimPrefix(owner, o.key+"#")
		o.checkReferences(event, id, body)
		o.checkPersonItems(event, id, body)
	}
	o.compareRows(owner, "S", want)
	o.checkSubsessions(owner, bodies)
	o.filesOf(owner).Check(bodies)
	if o.Count > before {
		o.addRepair(owner, repair.Sessions)
	}
}

// sessionRow returns the expected row of a session.
func sessionRow(b *session.Body) map[string]any {
	row := map[string]any{"c": b.CreatedAt.UnixMilli(), "u": b.UpdatedAt.UnixMilli(), "t": b.Title,
		"n": strings.TrimPrefix(b.FriendlyID(), "SESS-")}
	put := func(name string, value any, exists bool) {
		if exists {
			row[name] = value
		}
	}
	at := func(name string, value *wire.Time) {
		if value != nil {
			row[name] = value.UnixMilli()
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
	participants := participantsByRole(b)
	put("w", participants, len(participants) > 0)
	return row
}

// participantsByRole returns a row's participants, in order of the first participant of each role.
func participantsByRole(b *session.Body) (roles []map[string]any) {
	for _, p := range b.Participants {
		at := slices.IndexFunc(roles, func(c map[string]any) bool { return c["r"] == p.RoleID })
		if at < 0 {
			at, roles = len(roles), append(roles, map[string]any{"r": p.RoleID, "c": []string{}})
		}
		roles[at]["c"] = append(roles[at]["c"].([]string), p.ContactID)
	}
	return roles
}

// checkLinks checks that the sources and the target of a composition name each other.
func (o *Organization) checkLinks(id string, b *session.Body, all map[string]*session.Body) {
	for _, link := range b.Sources {
		if source := all[link.SessionID]; source == nil || source.Target == nil || source.Target.CompositionID != link.CompositionID {
			o.problemf("session %s has the source %s, which does not know of it", id, link.SessionID)
		}
	}
	if b.Target == nil {
		return
	}
	target := all[b.Target.SessionID]
	if target == nil || !slices.ContainsFunc(target.Sources, func(l session.Link) bool { return l.SessionID == id }) {
		o.problemf("session %s has the target %s, which does not know of it", id, b.Target.SessionID)
	}
}

// checkReferences checks that each contact and account of a session has an association with the
// event, possibly deleted, or was purged.
func (o *Organization) checkReferences(event, id string, b *session.Body) {
	references := map[string][]string{"account": slices.Concat(b.SponsorIDs, b.ExhibitorIDs)}
	for _, p := range b.Participants {
		references["contact"] = append(references["contact"], p.ContactID)
	}
	for kind, ids := range references {
		for _, partyID := range ids {
			if o.Parties[kind].Associations[event][partyID] == nil && !o.purged[kind+" "+partyID] {
				o.problemf("session %s names the %s %s, which was never on the event", id, kind, partyID)
			}
		}
	}
}

// checkSubsessions checks that each parent lists all subsessions that are not deleted, and that no
// two sessions have the same number or a number above the last number given.
func (o *Organization) checkSubsessions(owner string, bodies map[string]*session.Body) {
	numbers, live := map[string]string{}, map[string][]string{}
	for id, b := range bodies {
		if other := numbers[b.FriendlyID()]; other != "" {
			o.problemf("sessions %s and %s are both %s", id, other, b.FriendlyID())
		}
		numbers[b.FriendlyID()] = id
		if b.Parent != "" && b.DeletedAt == nil {
			live[b.Parent] = append(live[b.Parent], id)
		}
	}
	for id, b := range bodies {
		given := o.runningNumbers[owner+"#N#session"]
		if b.Parent != "" {
			parent := bodies[b.Parent]
			if parent == nil {
				o.problemf("session %s has the parent %s, which is not there", id, b.Parent)
				continue
			}
			given = parent.LastNumber
		}
		if b.Number > given {
			o.problemf("session %s has the number %d, the last one given is %d", id, b.Number, given)
		}
		if !sameSet(b.Subsessions, live[id]) {
			o.problemf("session %s lists the subsessions %v and has %v", id, b.Subsessions, live[id])
		}
	}
}

// addPersonItem adds the item of a person on a session.
func (o *Organization) addPersonItem(contact string, item raw.Item) {
	var added person.Item
	if !o.read(item, "session of a contact", &added) {
		return
	}
	added.Version = item.Version
	innerMap(o.personItems, strings.TrimPrefix(item.SK, "S#"))[contact] = added
}

// checkPersonItems checks that each contact on a session has an item with the roles, or an
// announcement. Sessions of an organization without the flag person_items may have no items,
// because earlier releases did not write items.
func (o *Organization) checkPersonItems(event, id string, b *session.Body) {
	key := strings.TrimPrefix(event, "E#") + "#" + id
	items, roles := o.personItems[key], map[string][]string{}
	delete(o.personItems, key)
	for _, p := range b.Participants {
		roles[p.ContactID] = append(roles[p.ContactID], p.RoleID)
	}
	for contact, held := range roles {
		item, found := items[contact]
		delete(items, contact)
		slices.Sort(held)
		switch {
		case !found && o.personItemsComplete:
			o.problemf("contact %s has no item of session %s", contact, id)
		case !found:
		case item.Created != b.CreatedAt.UnixMilli() || item.Version > b.Version:
			o.problemf("the item of session %s beside contact %s is of another session, or ahead of it", id, contact)
		case len(item.Roles) > 0 && !slices.Equal(item.Roles, held):
			o.problemf("the item of session %s beside contact %s says the roles %v, the session %v", id, contact, item.Roles, held)
		}
	}
	for contact, item := range items {
		if len(item.Roles) > 0 {
			o.problemf("contact %s has an item of session %s and is not on it", contact, id)
			o.addRepair(o.key+"#"+event, repair.Sessions, contact)
		}
	}
}

// checkOrphanPersonItems reports items of missing sessions. An announcement without a session is
// no problem, because its session's transaction may have failed.
func (o *Organization) checkOrphanPersonItems() {
	for _, key := range sortedKeys(o.personItems) {
		for contact, item := range o.personItems[key] {
			if len(item.Roles) > 0 {
				o.problemf("contact %s has an item of session %s, which is not there", contact, key)
				event, _, _ := strings.Cut(key, "#")
				o.addRepair(o.key+"#E#"+event, repair.Sessions, contact)
			}
		}
	}
}
