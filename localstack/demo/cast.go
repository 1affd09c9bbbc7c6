package demo

import "time"

// host is the name of the conference's custom role: who helps in a workshop.
const host = "Workshop host"

// Role is the custom role that the event should have, as the operator command
// participant-role-create takes it. Without it workshops have no hosts.
var Role = map[string]any{"name": host, "core_role": "moderator"}

// parts are the roles on a session of a format; an abstract has none.
var parts = map[string][]string{
	"":                {speaker},
	"Keynote":         {speaker, "Chairperson"},
	talkFormat:        {speaker},
	"Panel":           {speaker, speaker, speaker, moderator},
	"Workshop":        {speaker, speaker, host},
	"Lightning talks": {moderator},
}

const (
	speaker   = "Speaker"
	moderator = "Moderator"
)

// cast gives the sessions their people, going round the contacts, so that all
// have a role and nobody two at the same time; and their sponsors and exhibitors.
func (p plan) cast(groups ...[]draft) [][]draft {
	seat := 0
	for _, drafts := range groups {
		for n, d := range drafts {
			roles := parts[d.format]
			if d.format == talkFormat && d.parent == "" && n%2 == 0 {
				roles = []string{speaker, speaker}
			}
			d.body["participants"] = p.participants(roles, &seat)
			p.support(d, n)
		}
	}
	return groups
}

// participants are the entries for roles that the event has; each role takes a
// seat either way.
func (p plan) participants(roles []string, seat *int) []map[string]any {
	all := []map[string]any{}
	for order, role := range roles {
		n := *seat
		*seat++
		if p.ids[participantRoles][role] == "" {
			continue
		}
		entry := map[string]any{
			"email": p.People.email(n % p.People.count()), "role_id": p.ids[participantRoles][role], "order": order,
		}
		if n%3 > 0 {
			entry["acceptance_status"] = "accepted"
		}
		if n%7 > 0 {
			entry["acceptance_invite_sent_at"] = p.days[0].AddDate(0, -3, n%20).Format(time.RFC3339)
		}
		all = append(all, entry)
	}
	return all
}

// support gives plenaries a sponsor and workshops an exhibitor, in turn.
func (p plan) support(d draft, n int) {
	kind := map[string]string{"Keynote": "sponsors", "Workshop": "exhibitors"}[d.format]
	if kind == "" {
		return
	}
	holders := p.holders(kind)
	name := p.Accounts[holders[n%len(holders)]][0]
	d.body[map[string]string{"sponsors": "sponsor_ids", "exhibitors": "exhibitor_ids"}[kind]] = []string{p.ids[kind][name]}
}
