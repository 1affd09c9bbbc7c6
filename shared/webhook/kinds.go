package webhook

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/auth"
)

// Kinds are the published kinds of change that an endpoint can take (gaps.md section 10).
var Kinds = []string{
	"contact.created", "contact.updated", "contact.deleted", "contact.event.associated", "contact.event.disassociated",
	"session.created", "session.updated", "session.deleted", "session.speaker.attached", "session.speaker.detached",
	"exhibitor.created", "exhibitor.updated", "exhibitor.deleted", "exhibitor.event.associated", "exhibitor.event.disassociated",
	"sponsor.created", "sponsor.updated", "sponsor.deleted", "sponsor.event.associated", "sponsor.event.disassociated",
}

// Ping is the kind of the delivery that tests an endpoint. No endpoint can select Ping.
const Ping = "webhook.ping"

// scopes are the scopes for the kinds of each record: those of the GET of the record.
var scopes = map[string]auth.Scopes{
	"contact":   {auth.ReadContacts},
	"session":   {auth.ReadSessions},
	"exhibitor": {auth.ReadContacts, auth.ReadEvents},
	"sponsor":   {auth.ReadContacts, auth.ReadEvents},
}

// ScopesOf returns the scopes that allow a token to get a kind: the token needs one of them. Any
// token may get Ping.
func ScopesOf(kind string) auth.Scopes {
	record, _, _ := strings.Cut(kind, ".")
	if all, ok := scopes[record]; ok {
		return all
	}
	return auth.Public
}

// KindName is one of Kinds in a body.
type KindName string

// Schema lists the kinds.
func (KindName) Schema(huma.Registry) *huma.Schema {
	all := make([]any, len(Kinds))
	for i, kind := range Kinds {
		all[i] = kind
	}
	return &huma.Schema{Type: huma.TypeString, Enum: all}
}
