package verify

import (
	"slices"
	"strings"

	"lectern/shared/person"
	"lectern/shared/repair"
	"lectern/shared/session"
)

// addVisit takes in the item of a session beside a contact.
func (o *Organization) addVisit(contact string, item Item) {
	var visit person.Item
	if !o.read(item, "session of a contact", &visit) {
		return
	}
	visit.Version = item.Version
	into(o.visits, strings.TrimPrefix(item.SK, "S#"))[contact] = visit
}

// checkPeople: each contact on a session has an item that says its roles there, or that
// announces it. The items are done with then. Without the organization's flag a session
// that was written before there were items may lack all of its own.
func (o *Organization) checkPeople(event, id string, b *session.Body) {
	of := strings.TrimPrefix(event, "E#") + "#" + id
	visits, roles := o.visits[of], map[string][]string{}
	delete(o.visits, of)
	for _, p := range b.Participants {
		roles[p.ContactID] = append(roles[p.ContactID], p.RoleID)
	}
	for contact, held := range roles {
		visit, there := visits[contact]
		delete(visits, contact)
		slices.Sort(held)
		switch {
		case !there && o.personItems:
			o.wrong("contact %s has no item of session %s", contact, id)
		case !there:
		case visit.Created != b.CreatedAt.UnixMilli() || visit.Version > b.Version:
			o.wrong("the item of session %s beside contact %s is of another session, or ahead of it", id, contact)
		case len(visit.Roles) > 0 && !slices.Equal(visit.Roles, held):
			o.wrong("the item of session %s beside contact %s says the roles %v, the session %v", id, contact, visit.Roles, held)
		}
	}
	for contact, visit := range visits {
		if len(visit.Roles) > 0 {
			o.wrong("contact %s has an item of session %s and is not on it", contact, id)
			o.mendable(o.key+"#"+event, repair.Sessions, contact)
		}
	}
}

// checkVisits: what is left of the items is of sessions that are not there, which an
// announcement may be.
func (o *Organization) checkVisits() {
	for _, of := range sorted(o.visits) {
		for contact, visit := range o.visits[of] {
			if len(visit.Roles) > 0 {
				o.wrong("contact %s has an item of session %s, which is not there", contact, of)
				event, _, _ := strings.Cut(of, "#")
				o.mendable(o.key+"#E#"+event, repair.Sessions, contact)
			}
		}
	}
}
