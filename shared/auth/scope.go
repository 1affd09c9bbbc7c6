package auth

import (
	"slices"
	"strings"

	"lectern/shared/tenancy"
)

// Scope is one permission of a token.
type Scope = tenancy.Scope

// The scopes of spec.md section 5.1.
const (
	ReadEvents         Scope = "read:events"
	ReadSessions       Scope = "read:sessions"
	ReadContacts       Scope = "read:contacts"
	ReadReports        Scope = "read:reports"
	ReadDashboards     Scope = "read:dashboards"
	ReadInsights       Scope = "read:insights"
	ReadTranscriptions Scope = "read:transcriptions"
	ReadMedia          Scope = "read:media"
	ReadAwards         Scope = "read:awards"
	ReadAuditLogs      Scope = tenancy.ReadAuditLogs

	WriteSessions       Scope = "write:sessions"
	WriteContacts       Scope = "write:contacts"
	WriteExhibitors     Scope = "write:exhibitors"
	WriteSponsors       Scope = "write:sponsors"
	WriteFields         Scope = "write:fields"
	WriteMetadata       Scope = "write:metadata"
	WriteTranscriptions Scope = "write:transcriptions"
	WriteMedia          Scope = "write:media"
	WriteEvents         Scope = "write:events"
	WriteAwards         Scope = "write:awards"
)

// AllScopes lists every scope a token can be given.
var AllScopes = Scopes{
	ReadEvents, ReadSessions, ReadContacts, ReadReports, ReadDashboards, ReadInsights,
	ReadTranscriptions, ReadMedia, ReadAwards, ReadAuditLogs,
	WriteSessions, WriteContacts, WriteExhibitors, WriteSponsors, WriteFields, WriteMetadata,
	WriteTranscriptions, WriteMedia, WriteEvents, WriteAwards,
}

// APIScopes is every scope that a token of the API can have: all but ReadAuditLogs, which
// the tokens of log exports have alone.
var APIScopes = slices.DeleteFunc(slices.Clone(AllScopes), func(s Scope) bool { return s == ReadAuditLogs })

// Scopes is what a route asks for: any one of them will do.
type Scopes []Scope

// Public is for routes that ask for no token at all.
var Public = Scopes{"public"}

// Open is whether the route asks for no token.
func (s Scopes) Open() bool { return slices.Equal(s, Public) }

// String joins the scopes with a bar, as route tables have them.
func (s Scopes) String() string { return s.join("|") }

func (s Scopes) join(by string) string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, by)
}

// readable is whether a legacy token has one of the scopes: it reads everything
// but the logs.
func (s Scopes) readable() bool {
	return slices.ContainsFunc(s, func(scope Scope) bool {
		return strings.HasPrefix(string(scope), "read:") && scope != ReadAuditLogs
	})
}
