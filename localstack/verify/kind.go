package verify

import (
	"fmt"
	"regexp"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
)

// unknown is the kind of what no one writes.
const unknown = "unknown"

// form is how the items of a kind are stored.
type form struct {
	kind string
	// rest is what stands behind the part in the partition key, and sort the sort key.
	rest, sort *regexp.Regexp
	// expires is whether they have a time to live. All others are kept for ever: one that
	// has one by mistake is whole until that passes, and then is deleted.
	expires bool
}

// runningNumber is the kind of what gives ids and numbers.
const runningNumber = "running number"

// regionLine is the kind of lines of the region's list of organizations.
const regionLine = "line of the region's organizations"

// changeRecord is the kind of change records in the feed.
const changeRecord = "change record"

// forms are the forms of a part of a partition key, by level.
var forms = map[string]map[string][]form{
	"region": {
		"L": {passing("rate limit", `\d+#[a-z_]+#\d+`, "-")},
		"N": {one(runningNumber, "id", "-")},
		"R": {one(regionLine, "org", `\d{19}`), one("progress of maintenance", "maintain", "-")},
	},
	"organization": {
		"":   {one("organization", "", "-")},
		"U":  {one("member", number, "-"), one("change of a member", number, "H#.+")},
		"T":  {one("token", number, "-")},
		"L":  {one("line of a list", "event|member|token", `\d{13}#\d{19}`)},
		"M":  {one("setting: "+field.Kind, "", field.Kind+"#.+")},
		"V":  {one("version of a shard", "", "[CA]#"+shard)},
		"Q":  {one("unique value", "(email|field)#.*", "-"), recordHold},
		"F":  records,
		"N":  {one(runningNumber, "contact|account", "-")},
		"H":  {one(changeRecord, `\d{10}#[0-7]`, ".+"), one("hour of change records", "", `\d{10}`)},
		"X":  {one("security event", `\d{6}`, ".+#.+")},
		"I":  {passing("idempotency key", `\d+#[0-9a-f]{64}`, `-|P#\d+#\d{4}`)},
		"RC": {one("row of a contact", "", shard+"#.+")},
		"RA": {one("row of an account", "", shard+"#.+")},
		contact.Kind.Letter: {one("contact", ".+", "B"), one("contact on an event", ".+", "E#"+number), one("change of a contact", ".+", "H#.+"),
			one("session of a contact", ".+", "S#"+number+"#.+")},
		account.Kind.Letter: {one("account", ".+", "B"), one("account on an event", ".+", "E#"+number), one("change of an account", ".+", "H#.+")},
	},
	"event": {
		"":   {one("event", "", "-")},
		"S":  {one("session", ".+", "B")},
		"M":  settings(),
		"V":  {one("version of a shard", "", "[SCA]#"+shard)},
		"Q":  {one("unique value", "(field|participant_role)#.*", "-"), recordHold},
		"F":  records,
		"N":  {one(runningNumber, "session", "-")},
		"RS": {one("row of a session", "", shard+"#.+")},
		"RC": {one("row of a contact on an event", "", shard+"#.+")},
		"RA": {one("row of an account on an event", "", shard+"#.+")},
	},
}

// records are the forms of small records, and recordHold is that of their unique values.
var (
	records = []form{
		one("record", parent, "R#[a-z_]+#.+"), one("number of records", parent, "N#[a-z_]+"), one("deleted record", "", "D#[a-z_]+#.+"),
	}
	recordHold = one("unique value", "F#[a-z_]+#.*", "-")
)

// What keys are made of.
const (
	number = `[1-9]\d*`
	shard  = "[0-9a-f]{2}"
	parent = "([0-9a-f-]{36})?"
)

func one(kind, rest, sort string) form { return form{kind: kind, rest: whole(rest), sort: whole(sort)} }

// passing is the form of a kind that has a time to live.
func passing(kind, rest, sort string) form {
	f := one(kind, rest, sort)
	f.expires = true
	return f
}

// whole is what a key must be from beginning to end. A unique value may have line ends.
func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?s)\A(?:` + pattern + `)\z`) }

// settings are the forms of an event's settings.
func settings() (all []form) {
	kinds := []string{field.Kind, participant.Kind, string(metadata.StatusKind)}
	for _, kind := range metadata.Kinds {
		kinds = append(kinds, string(kind))
	}
	for _, kind := range kinds {
		all = append(all, one("setting: "+kind, "", kind+"#.+"))
	}
	return all
}

// form is that of the item's kind; its kind is unknown where the service writes nothing
// under such a key.
func (i Item) form() form {
	at := placed(i.PK)
	for _, f := range forms[at.level()][at.part] {
		if at.key() == i.PK && f.rest.MatchString(at.rest) && f.sort.MatchString(i.SK) {
			return f
		}
	}
	return form{kind: unknown}
}

// flaw is what is wrong with the item's key or time to live; empty if nothing is.
func (i Item) flaw() string {
	f := i.form()
	at := placed(i.PK)
	switch {
	case f.kind == unknown:
		return fmt.Sprintf("an item of no known kind stands in a partition %q", at.part)
	case i.Kind != "" && f.kind != changeRecord:
		return fmt.Sprintf("the %s in %s is marked as a change record", f.kind, at.told(f.kind))
	case f.expires && i.Expires == 0:
		return fmt.Sprintf("the %s in %s has no ttl", f.kind, at.told(f.kind))
	case !f.expires && i.Expires != 0:
		return fmt.Sprintf("the %s in %s has a ttl", f.kind, at.told(f.kind))
	}
	return ""
}
