package verify

import (
	"maps"
	"slices"
	"strings"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/party"
)

// addParty adds an item below a contact or account: the body, an association, the item of a person,
// or a change record.
func (o *Organization) addParty(all *Parties, at raw.Partition, item raw.Item) {
	switch {
	case item.SK == "B":
		body := &party.Body{}
		if !o.read(item, all.Name, body) {
			return
		}
		if body.ID != at.Rest {
			o.problemf("%s %s says it is %s", all.Name, at.Rest, body.ID)
		}
		body.Version = item.Version
		all.Records[at.Rest] = body
	case strings.HasPrefix(item.SK, "E#"):
		association := &party.Association{}
		if !o.read(item, all.Name, association) {
			return
		}
		if association.ID != at.Rest || item.SK != raw.EventKey(association.Event) {
			o.problemf("%s %s on %s says it is %s on %s", all.Name, at.Rest, item.SK, association.ID, raw.EventKey(association.Event))
		}
		association.Version = item.Version
		innerMap(all.Associations, item.SK)[at.Rest] = association
	case strings.HasPrefix(item.SK, "S#"):
		o.addPersonItem(at.Rest, item)
	default:
		o.addPersonal(all.Name+" "+at.Rest, item)
	}
}

// checkParties checks all contacts or accounts of the organization, and the associations with
// all events.
func (o *Organization) checkParties(all *Parties) {
	want := map[string]map[string]expectedRow{o.key: {}}
	for id, body := range all.Records {
		want[o.key][id] = expectedRow{body.Version, recordRow(all.Kind, body)}
		o.checkRoles(all, id)
		o.checkRecord(all, id)
	}
	numbers := map[int64]string{}
	for id, body := range all.Records {
		if other := numbers[body.Number]; other != "" || body.Number > o.runningNumbers[o.key+"#N#"+all.Name] {
			o.problemf("%s %s has the number %d, which %q has or which was not given yet", all.Name, id, body.Number, other)
			o.addRepair(o.key, all.Name)
		}
		numbers[body.Number] = id
	}
	for event, associations := range all.Associations {
		owner := o.key + "#" + event
		want[owner] = map[string]expectedRow{}
		for id, association := range associations {
			want[owner][id] = expectedRow{association.Version, associationRow(association)}
			if all.Records[id] == nil && (!o.purged[all.Name+" "+id] || associationRow(association)["r"] != nil) {
				o.problemf("%s %s is on %s and has no record", all.Name, id, event)
			}
			o.checkRoleNames(all, event, association)
		}
	}
	for owner, bodies := range want {
		o.compareRows(owner, all.Letter, bodies)
	}
}

// recordRow returns the expected row of a contact or account.
func recordRow(kind *party.Kind, b *party.Body) map[string]any {
	row := map[string]any{"c": b.CreatedAt.UnixMilli(), "u": b.UpdatedAt.UnixMilli(), "l": b.WrittenAt.UnixMilli(), "n": b.Number}
	words := b.Values["name"]
	if kind == contact.Kind {
		name := strings.TrimSpace(b.Values["first_name"] + " " + b.Values["last_name"])
		words = strings.Join([]string{name, b.Values["email"], b.Values["company_name"]}, "\x00")
	}
	row["w"] = strings.ToLower(words)
	return row
}

// associationRow returns the expected row of an association.
func associationRow(a *party.Association) map[string]any {
	row := map[string]any{"c": a.RecordCreatedAt.UnixMilli(), "u": a.UpdatedAt.UnixMilli()}
	letters := ""
	for _, role := range sortedKeys(a.Roles) {
		if role != "" && a.Roles[role].DeletedAt == nil {
			letters += role[:1]
		}
	}
	if letters != "" {
		row["r"] = letters
	}
	return row
}

// partyRoles are the roles that the service gives, by the name of the kind.
var partyRoles = map[string][]string{
	contact.Kind.Name: {contact.Role},
	account.Kind.Name: {account.Sponsor, account.Exhibitor},
}

// checkRoleNames checks that an association has at least one role and no unknown role.
func (o *Organization) checkRoleNames(all *Parties, event string, a *party.Association) {
	if len(a.Roles) == 0 {
		o.problemf("%s %s is on %s without a role", all.Name, a.ID, event)
	}
	for _, role := range sortedKeys(a.Roles) {
		if !slices.Contains(partyRoles[all.Name], role) {
			o.problemf("%s %s has the role %q on %s, which there is not", all.Name, a.ID, role, event)
		}
	}
}

// checkRoles compares the number of events that a record stores for each role with the associations.
func (o *Organization) checkRoles(all *Parties, id string) {
	active := map[string]int{}
	for _, associations := range all.Associations {
		if associations[id] == nil {
			continue
		}
		for role, held := range associations[id].Roles {
			if held.DeletedAt == nil {
				active[role]++
			}
		}
	}
	if got := all.Records[id].Active; !maps.Equal(got, active) {
		o.problemf("%s %s counts the roles %v, it holds %v", all.Name, id, got, active)
		o.addRepair(o.key, all.Name, id)
	}
}

// checkRecord checks the change records of a contact or account, and expects a hold of a contact's
// address. The last change is of the record or of an association.
func (o *Organization) checkRecord(all *Parties, id string) {
	body := all.Records[id]
	changed := body.UpdatedAt
	for _, associations := range all.Associations {
		if a := associations[id]; a != nil && a.UpdatedAt.After(changed.Time) {
			changed = a.UpdatedAt
		}
	}
	o.checkPublished(all.Name+" "+id, body.Version, changed.UnixMilli(), body.Sequence)
	if all.Kind == contact.Kind && body.Values["email"] != "" { // An erased contact has no address.
		o.expectHold(contact.ByEmail(o.id, body.Values["email"]), id)
	}
}
