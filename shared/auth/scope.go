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

// AllScopes lists the scopes of all kinds of tokens.
var AllScopes = Scopes{
	ReadEvents, ReadSessions, ReadContacts, ReadReports, ReadDashboards, ReadInsights,
	ReadTranscriptions, ReadMedia, ReadAwards, ReadAuditLogs,
	WriteSessions, WriteContacts, WriteExhibitors, WriteSponsors, WriteFields, WriteMetadata,
	WriteTranscriptions, WriteMedia, WriteEvents, WriteAwards,
}

// APIScopes lists the scopes of API tokens: all except ReadAuditLogs, which only log export
// tokens have.
var APIScopes = slices.DeleteFunc(slices.Clone(AllScopes), func(s Scope) bool { return s == ReadAuditLogs })

// Scopes lists the scopes that allow a route. A token needs one of the scopes.
type Scopes []Scope

// Public marks routes that need no token.
var Public = Scopes{"public"}

// IsPublic reports whether the route needs no token.
func (s Scopes) IsPublic() bool { return slices.Equal(s, Public) }

// SignedIn marks routes for a member who has signed in: the group asks for the session of the browser.
var SignedIn = Scopes{"signed-in-user"}

// NeedToken reports whether the route needs a token with one of the scopes.
func (s Scopes) NeedToken() bool { return !s.IsPublic() && !slices.Equal(s, SignedIn) }

// String returns the scopes separated by bars, as in the route table.
func (s Scopes) String() string { return s.join("|") }

func (s Scopes) join(by string) string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, by)
}

// readable reports whether a legacy token has one of the scopes.
func (s Scopes) readable() bool { return slices.ContainsFunc(s, isLegacy) }

// isLegacy reports whether legacy tokens have the scope.
func isLegacy(s Scope) bool { return strings.HasPrefix(string(s), "read:") && s != ReadAuditLogs }
