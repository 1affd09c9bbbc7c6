package demo

import "time"

// host is the name of the conference's custom role, for helpers in a workshop.
const host = "Workshop host"

// Role is the input of the operator command participant-role-create. Without the role,
// workshops have no hosts.
var Role = map[string]any{"name": host, "core_role": "moderator"}

// Slots are inputs of the operator command content-slot-create.
var Slots = []map[string]any{
	{
		"name": "Slides", "content_type": "presentation", "order": 1, "required": true, "min_files": 1, "due_date": "2027-05-04T22:00:00Z",
		"allowed_file_types": []string{"application/pdf", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	},
	{"name": "Handouts", "content_type": "handout", "order": 2, "max_files": 5},
}

// rolesOf has the roles on a session by format. Abstracts have no roles.
var rolesOf = map[string][]string{
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

// assignPeople gives people, sponsors and exhibitors to the sessions. It goes through the
// contacts in order, so that all contacts have a role and no contact has two at the same time.
func (p plan) assignPeople(groups ...[]draft) [][]draft {
	next := 0
	for _, drafts := range groups {
		for n, d := range drafts {
			roles := rolesOf[d.format]
			if d.format == talkFormat && d.parent == "" && n%2 == 0 {
				roles = []string{speaker, speaker}
			}
			d.body["participants"] = p.participants(roles, &next)
			p.assignAccount(d, n)
		}
	}
	return groups
}

// participants returns the entries for the roles that the event has. Missing roles skip a
// contact too.
func (p plan) participants(roles []string, next *int) []map[string]any {
	all := []map[string]any{}
	for order, role := range roles {
		n := *next
		*next++
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

// assignAccount gives keynotes a sponsor and workshops an exhibitor, in turn.
func (p plan) assignAccount(d draft, n int) {
	kind := map[string]string{"Keynote": "sponsors", "Workshop": "exhibitors"}[d.format]
	if kind == "" {
		return
	}
	holders := p.holders(kind)
	name := p.Accounts[holders[n%len(holders)]][0]
	d.body[map[string]string{"sponsors": "sponsor_ids", "exhibitors": "exhibitor_ids"}[kind]] = []string{p.ids[kind][name]}
}
