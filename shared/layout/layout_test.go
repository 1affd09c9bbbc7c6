package layout_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/keys"
	"lectern/shared/layout"
	"lectern/shared/table"
)

var update = flag.Bool("update", false, "write docs/keys.md anew")

const page = "../../docs/keys.md"

// TestThePageShowsEveryPattern compares docs/keys.md with the declared patterns, or with
// -update writes it.
func TestThePageShowsEveryPattern(t *testing.T) {
	text := "# Keys of the table\n\n" +
		"Written from the declarations of the packages that store the items: `go test ./shared/layout -update`.\n\n" +
		"`o` is `O#<org>` and `e` is `O#<org>#E#<event>`. Items with a time to live are marked `TTL`. A part marked `?` may be empty.\n\n" +
		"The column \"personal data\" says how an erasure of a contact treats the items. It removes data of the contact from " +
		"items marked `erased`; an idempotency key has no contact in its key and ends by its time to live. It leaves items " +
		"marked `stays`: their text about a person was written by others, or belongs to the members of an " +
		"organization. The other items have ids, numbers, times and names of fields alone.\n\n" +
		"| What | PK | SK | | personal data |\n|---|---|---|---|---|\n"
	for i, p := range layout.Keys {
		pk, expires := "`"+p.PK+"`", ""
		if p.Expires {
			expires = "TTL"
		}
		if i+1 < len(layout.Keys) && same(p, layout.Keys[i+1]) {
			continue
		}
		if i > 0 && same(layout.Keys[i-1], p) {
			pk = "`" + layout.Keys[i-1].PK + "`, " + pk
		}
		text += fmt.Sprintf("| %s | %s | `%s` | %s | %s |\n", p.Name, pk, p.SK, expires, personal[p.Personal])
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o600))
	}
	shown, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, text, string(shown), "write it anew with go test ./shared/layout -update")
}

// personal has the words of the page for the values of keys.Personal.
var personal = map[keys.Personal]string{keys.Nothing: "", keys.Person: "erased", keys.Outside: "stays"}

// TestEveryPatternDeclaresPersonalData fails for a new kind of item without a declaration.
func TestEveryPatternDeclaresPersonalData(t *testing.T) {
	require.Empty(t, undeclared(layout.Keys), "set Personal of these patterns")
	require.Equal(t, []string{"new at o#Z -", "odd at o#Z x"}, undeclared([]keys.Pattern{
		{Name: "new", PK: "o#Z", SK: "-"}, {Name: "odd", PK: "o#Z", SK: "x", Personal: keys.Outside + 1},
		{Name: "a", PK: "o#Z", SK: "a", Personal: keys.Nothing}, {Name: "b", PK: "o#Z", SK: "b", Personal: keys.Person},
		{Name: "c", PK: "o#Z", SK: "c", Personal: keys.Outside},
	}))
}

// undeclared returns the patterns that do not declare whether their items can hold personal data.
func undeclared(patterns []keys.Pattern) (names []string) {
	for _, p := range patterns {
		if _, ok := personal[p.Personal]; !ok {
			names = append(names, p.Name+" at "+p.PK+" "+p.SK)
		}
	}
	return names
}

// same reports whether a is below the organization what b is below an event.
func same(a, b keys.Pattern) bool {
	return a.Name == b.Name && a.SK == b.SK && a.Personal == b.Personal && a.PK[0] == 'o' && b.PK == "e"+a.PK[1:]
}

// TestFind finds a key of each pattern, and no key beside the patterns.
func TestFind(t *testing.T) {
	for key, name := range map[table.Key]string{
		{PK: "O#1", SK: "-"}:                                        "organization",
		{PK: "O#1#E#2", SK: "-"}:                                    "event",
		{PK: "O#1#E#2#S#x", SK: "B"}:                                "session",
		{PK: "O#1#C#x", SK: "S#2#y"}:                                "session of a contact",
		{PK: "O#1#Q#email#a\nb#", SK: "-"}:                          "unique value",
		{PK: "O#1#Q#F#rule##a", SK: "-"}:                            "unique value",
		{PK: "O#1#F", SK: "R#rule#x"}:                               "record",
		{PK: "O#1#F", SK: "R#data_request#x"}:                       "data request",
		{PK: "O#1#F", SK: "D#data_request#x"}:                       "deleted data request",
		{PK: "L#1#entity_reads#3", SK: "-"}:                         "rate limit",
		{PK: "O#1#V", SK: "A#03"}:                                   "version of a shard",
		{PK: "O#1#I#2#" + strings.Repeat("0f", 32), SK: "P#1#0001"}: "idempotency key",
		{PK: "O#01", SK: "-"}:                                       "",
		{PK: "O#1#", SK: "-"}:                                       "",
		{PK: "O#1#F#", SK: "R#rule#x"}:                              "",
		{PK: "O#1#E#2#S#x", SK: "C"}:                                "",
		{PK: "O#1#V", SK: "S#03"}:                                   "",
		{PK: "Z#1", SK: "-"}:                                        "",
		{}:                                                          "",
	} {
		p, ok := layout.Find(key)
		require.Equal(t, name, p.Name, key)
		require.Equal(t, name != "", ok, key)
	}
}
