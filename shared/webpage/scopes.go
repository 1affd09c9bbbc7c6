package webpage

import (
	"slices"
	"strings"

	"lectern/shared/auth"
)

// words has the subjects of scopes.
var words = map[string]string{
	"events":         "events, agenda drafts and rules, webhooks",
	"sessions":       "sessions and their files",
	"contacts":       "people and companies",
	"reports":        "saved queries",
	"dashboards":     "dashboards",
	"insights":       "answers to queries about the programme",
	"transcriptions": "transcriptions of sessions",
	"media":          "recordings and media",
	"awards":         "award programs, submissions and reviews",
	"exhibitors":     "exhibitors",
	"sponsors":       "sponsors",
	"fields":         "custom fields",
	"metadata":       "rooms, tracks, tags and statuses",
}

// writesEvents is the subject of write:events: agenda and dashboards, not events (spec.md section 5.1).
const writesEvents = "agenda drafts and rules, dashboards, saved queries, webhooks"

// Permissions are scopes in words, grouped.
type Permissions struct{ Reads, Writes []string }

// PermissionsOf returns scopes in words.
func PermissionsOf(scopes []auth.Scope) (p Permissions) {
	for _, scope := range scopes {
		verb, what, _ := strings.Cut(string(scope), ":")
		text := words[what]
		switch {
		case scope == auth.WriteEvents:
			p.Writes = append(p.Writes, writesEvents)
		case verb == "write":
			p.Writes = append(p.Writes, text)
		default:
			p.Reads = append(p.Reads, text)
		}
	}
	slices.Sort(p.Reads)
	slices.Sort(p.Writes)
	return p
}
