// Package layout lists the kinds of items of the table. A new kind of item needs a keys.Pattern
// in the package that writes the items, and a new package needs a line in Keys below. The pattern
// declares whether the items can hold personal data.
package layout

import (
	"slices"

	"lectern/shared/account"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/datarequest"
	"lectern/shared/delivery"
	"lectern/shared/field"
	"lectern/shared/grant"
	"lectern/shared/idempotency"
	"lectern/shared/keys"
	"lectern/shared/maintain"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/person"
	"lectern/shared/programme"
	"lectern/shared/ratelimit"
	"lectern/shared/requestlog"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/sessionfile"
	"lectern/shared/signin"
	"lectern/shared/slide"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/transcript"
	"lectern/shared/upload"
)

// Keys are the patterns of all items.
var Keys = slices.Concat(
	tenancy.Keys, grant.Keys, signin.Keys, programme.Keys,
	field.Keys, metadata.Keys, participant.Keys,
	session.Keys, sessionfile.Keys, slide.Keys, transcript.Keys, upload.Keys,
	contact.Kind.Keys(), person.Keys, contact.Keys, account.Kind.Keys(),
	resource.Keys,
	change.Keys, delivery.Keys, datarequest.Keys, requestlog.Keys, idempotency.Keys, ratelimit.Keys, maintain.Keys,
)

var set = keys.NewSet(Keys)

// Find returns the pattern of a key. It reports false for a key under which the service
// writes no item.
func Find(key table.Key) (keys.Pattern, bool) { return set.Find(key) }
