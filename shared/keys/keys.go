// Package keys describes the keys of the table's items. A package that writes items declares
// a Pattern for each kind of item. Package layout collects the patterns for the check of a
// table (localstack), the page docs/keys.md and the policies of the functions (infra).
package keys

import (
	"regexp"
	"strings"

	"lectern/shared/table"
)

// Pattern is the form of the keys of one kind of item.
type Pattern struct {
	// Name names the kind of item.
	Name string
	// PK and SK are the keys with placeholders, such as <session>. A PK begins with o, the
	// key of an organization, with e, the key of an event, or with the letter of a part of
	// the region.
	PK, SK string
	// Expires reports whether the items have a time to live.
	Expires bool
	// Personal says whether the items can hold personal data. Every pattern sets it.
	Personal Personal
}

// Personal says whether the items of a pattern can hold personal data, and whether an erasure
// removes the data. The zero value says nothing: a test of package layout fails for it.
type Personal int

// The values of Personal.
const (
	// Nothing is for items with ids, numbers, times and names of fields, and nothing of a contact.
	Nothing Personal = iota + 1
	// Person is for items that may hold data of a contact. An erasure removes the data, but not text
	// that other people wrote about a person. An item without a contact in its key or data ends by its
	// time to live instead.
	Person
	// Outside is for items that may hold text about a person. An erasure leaves the text, because
	// other people wrote it or it belongs to the members of an organization (gaps.md section 7).
	Outside
)

// Both returns a pattern below the organization and the same pattern below an event. pk is
// the rest of the partition key.
func Both(name, pk, sk string, personal Personal) []Pattern {
	return []Pattern{{Name: name, PK: "o" + pk, SK: sk, Personal: personal}, {Name: name, PK: "e" + pk, SK: sk, Personal: personal}}
}

// Leading returns the pattern that a policy grants for the partition keys of p. All items of
// an organization have the same pattern.
func (p Pattern) Leading() string {
	letter, _, _ := strings.Cut(p.PK, "#")
	if letter == "o" || letter == "e" {
		letter = "O"
	}
	return letter + "#*"
}

// The expressions of placeholders.
const (
	number = `[1-9]\d*`
	id     = `.+`
)

var placeholders = map[string]string{
	"org": number, "event": number, "user": number, "token": number,
	"session": id, "contact": id, "account": id, "id": id, "change": id, "action": id,
	"shard": `[0-9a-f]{2}`, "number": `\d{19}`, "time": `\d{13}`, "yyyymmddhh": `\d{10}`, "yyyymm": `\d{6}`, "yyyy": `\d{4}`, "0..7": `[0-7]`,
	"kind": `[a-z_]+`, "parent": `[0-9a-f-]{36}`, "parent?": `([0-9a-f-]{36})?`, "value": `.*`,
	"hash": `[0-9a-f]{64}`, "claim": `\d+`, "index": `\d{4}`, "bucket": `[a-z_]+`, "window": `\d+`,
	"endpoint": `[0-9a-f-]{36}`, "record": `[0-9a-f-]{36}`, "yyyymmdd": `\d{8}`, "minute": `\d+`, "attempt": `[a-z]*\d+`,
	"segment": `\d{6}`, "published": `[0-9a-f-]{36}#[a-z.]+#\d+#(full|thin)`,
}

// placeholder finds the placeholders of a key.
var placeholder = regexp.MustCompile(`<([^>]+)>`)

// expression returns the regular expression of a whole key. It panics on an unknown
// placeholder.
func expression(key string) *regexp.Regexp {
	text, rest := strings.Builder{}, 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(key, -1) {
		means, ok := placeholders[key[at[2]:at[3]]]
		if !ok {
			panic("keys: unknown placeholder in " + key)
		}
		text.WriteString(regexp.QuoteMeta(key[rest:at[0]]) + means)
		rest = at[1]
	}
	return regexp.MustCompile(`(?s)\A` + text.String() + regexp.QuoteMeta(key[rest:]) + `\z`)
}

// Set finds the pattern of a key.
type Set struct{ below map[string][]compiled }

type compiled struct {
	Pattern
	pk, sk *regexp.Regexp
}

// NewSet returns the set of patterns.
func NewSet(patterns []Pattern) *Set {
	s := &Set{map[string][]compiled{}}
	owners := map[string]string{"o": "O#<org>", "e": "O#<org>#E#<event>"}
	for _, p := range patterns {
		letter, rest, below := strings.Cut(p.PK, "#")
		whole := p.PK
		if owner, ok := owners[letter]; ok {
			if whole = owner; below {
				whole += "#" + rest
			}
		}
		s.below[part(whole)] = append(s.below[part(whole)], compiled{p, expression(whole), expression(p.SK)})
	}
	return s
}

// part returns the letters of a partition key that say to which part of the table it belongs.
// Few patterns have the same part.
func part(pk string) string {
	fields := append(strings.SplitN(pk, "#", 6), "", "", "", "", "")
	switch {
	case fields[0] == "O" && fields[2] == "E":
		return "e#" + fields[4]
	case fields[0] == "O":
		return "o#" + fields[2]
	}
	return fields[0]
}

// Find returns the pattern of a key. It reports false for a key of no pattern.
func (s *Set) Find(key table.Key) (Pattern, bool) {
	for _, p := range s.below[part(key.PK)] {
		if p.pk.MatchString(key.PK) && p.sk.MatchString(key.SK) {
			return p.Pattern, true
		}
	}
	return Pattern{}, false
}
