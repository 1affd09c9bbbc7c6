package verify

import (
	"maps"
	"slices"
	"strings"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/party"
)

// checkParties checks all contacts or accounts of the organization, on all events.
func (o *Organization) checkParties(all *Parties) {
	want := map[string]map[string]stored{o.key: {}}
	for id, body := range all.Records {
		want[o.key][id] = stored{body.Version, recordRow(all.Kind, body)}
		o.checkRoles(all, id)
		o.checkRecord(all, id)
	}
	numbers := map[int64]string{}
	for id, body := range all.Records {
		if other := numbers[body.Number]; other != "" || body.Number > o.numbers[o.key+"#N#"+all.Name] {
			o.wrong("%s %s has the number %d, which %q has or which was not given yet", all.Name, id, body.Number, other)
			o.mendable(o.key, all.Name)
		}
		numbers[body.Number] = id
	}
	for event, here := range all.Here {
		owner := o.key + "#" + event
		want[owner] = map[string]stored{}
		for id, association := range here {
			want[owner][id] = stored{association.Version, placeRow(association)}
			if all.Records[id] == nil && (!o.gone[all.Name+" "+id] || placeRow(association)["r"] != nil) {
				o.wrong("%s %s is on %s and has no record", all.Name, id, event)
			}
			o.checkRoleNames(all, event, association)
		}
	}
	for owner, bodies := range want {
		o.mirrored(owner, all.Letter, bodies)
	}
}

// recordRow is what the row of a record must hold.
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

// placeRow is what the row of an association must hold.
func placeRow(here *party.Association) map[string]any {
	row := map[string]any{"c": here.RecordCreatedAt.UnixMilli(), "u": here.UpdatedAt.UnixMilli()}
	letters := ""
	for _, role := range sorted(here.Roles) {
		if role != "" && here.Roles[role].DeletedAt == nil {
			letters += role[:1]
		}
	}
	if letters != "" {
		row["r"] = letters
	}
	return row
}

// roles are those that there are, by the name of the kind.
var roles = map[string][]string{
	contact.Kind.Name: {contact.Role},
	account.Kind.Name: {account.Sponsor, account.Exhibitor},
}

// checkRoleNames: an association has at least one role, and only such as there are.
func (o *Organization) checkRoleNames(all *Parties, event string, here *party.Association) {
	if len(here.Roles) == 0 {
		o.wrong("%s %s is on %s without a role", all.Name, here.ID, event)
	}
	for _, role := range sorted(here.Roles) {
		if !slices.Contains(roles[all.Name], role) {
			o.wrong("%s %s has the role %q on %s, which there is not", all.Name, here.ID, role, event)
		}
	}
}

// checkRoles: a record counts the events on which it holds each role.
func (o *Organization) checkRoles(all *Parties, id string) {
	active := map[string]int{}
	for _, here := range all.Here {
		if here[id] == nil {
			continue
		}
		for role, held := range here[id].Roles {
			if held.DeletedAt == nil {
				active[role]++
			}
		}
	}
	if got := all.Records[id].Active; !maps.Equal(got, active) {
		o.wrong("%s %s counts the roles %v, it holds %v", all.Name, id, got, active)
		o.mendable(o.key, all.Name, id)
	}
}

// checkRecord: each version of a record has its change record, the last one of when it
// was changed last on any event. A contact holds its address.
func (o *Organization) checkRecord(all *Parties, id string) {
	body := all.Records[id]
	changed := body.UpdatedAt
	for _, here := range all.Here {
		if at := here[id]; at != nil && at.UpdatedAt.After(changed.Time) {
			changed = at.UpdatedAt
		}
	}
	o.published(all.Name+" "+id, body.Version, changed.UnixMilli(), body.Sequence)
	if all.Kind == contact.Kind {
		o.own(contact.ByEmail(o.id, body.Values["email"]).PK, id)
	}
}
