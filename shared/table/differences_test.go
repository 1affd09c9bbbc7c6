package table_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// envEngine says which engine LECTERN_DYNAMODB_URL is the address of; without it, it is
// dynoxide. `.ci/engines` sets both.
const envEngine = "LECTERN_ENGINE"

// differences are what each engine does otherwise than the tests say, which is what AWS
// documents. A test looks at one by calling conforms with its name; a difference that is
// no more, or that no test looks at, fails, so that the list stays true.
var differences = map[string]map[string]string{
	"dynoxide": {
		"another region has other tables": "one engine is one region: its tables are the same for all.",
	},
	"dynamodb-local": {
		"another region has other tables":                                    "with -sharedDb, tables are the same for all regions and credentials.",
		"a small write in a transaction costs 2":                             "it says 4: the units of a single write are doubled once more.",
		"a write of 5 KB in a transaction costs 10":                          "it says 20: the units of a single write are doubled once more.",
		"a write costs by the bytes that are stored":                         "it says twice as much: the units of a single write are doubled once more.",
		"a condition on 5 KB costs 10":                                       "it says 8: a condition is billed by 4 KB, as a read is, and doubled twice.",
		"a batch costs 1 for each key, there or not, and more for long ones": "it says 3: a key under which nothing stands costs nothing.",
	},
	"ministack": {
		"a read of 5 KB costs 2": "it says 1: a read costs the same whatever it reads.",
		"a batch costs 1 for each key, there or not, and more for long ones": "it says nothing of what a batch costs.",
		"a batch ends at 16 MB":                 "it answers any batch whole, so unprocessed keys are not seen there.",
		"a page costs by its bytes":             "it says 1: a page costs the same whatever it reads.",
		"a connection is kept over 2,000 calls": "it closes a connection after a thousand calls.",
	},
}

// known are the differences of the engine that is tested.
func known() map[string]string {
	name := os.Getenv(envEngine)
	if name == "" {
		name = "dynoxide"
	}
	return differences[name]
}

// met are the known differences that tests have looked at.
var met = map[string]bool{}

// conforms requires that what happened is what the test says, and of a known difference of
// the engine that it is not.
func conforms(t *testing.T, what string, same bool, seen ...any) {
	t.Helper()
	how, differs := known()[what]
	if !differs {
		require.True(t, same, "%s: %s", what, fmt.Sprint(seen...))
		return
	}
	met[what] = true
	t.Logf("differs: %s: %s", what, how)
	require.False(t, same, "%s: the engine differs no more; take this out of the list of differences", what)
}

// unmet are the known differences that no test has looked at.
func unmet() (names []string) {
	for name := range known() {
		if !met[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
