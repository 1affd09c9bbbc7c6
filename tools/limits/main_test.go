package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const table = `place                            files  lines  funcs  p50/p90/max  params>5  closures/1k  comment%  pointing/100  "is"%
shared (files: of the largest package)    24*  28730   1655    8/ 20/ 49       16*        12.7*       15          6.6*    23*
  shared/good                        6     714     35   10/ 24/ 30        0          9.4        11          4.0     20 
  shared/large                      11*   1688     80   13/ 29/ 49        1*         4.1        10          2.1      0 
  functions/bootstrap/agendaplanning     1       9      1    1/  1/  1        0          0.0        14          5.0*    21*

* over: 10 files a package
`

const list = "functions/bootstrap/agendaplanning pointing is\nshared/large files params\n"

func TestThePackagesOverALimitAreTheListedOnes(t *testing.T) {
	for name, c := range map[string]struct {
		table, list string
		mistakes    []string
	}{
		"the same": {table, list, nil},
		"a package became worse": {strings.Replace(table, "0          9.4 ", "0         10.4*", 1), list,
			[]string{"shared/good is over the limit of closures: mend the package"}},
		"a package became better": {strings.Replace(table, "11*", "10 ", 1), list,
			[]string{"shared/large keeps the limit of files: take it off the list (.ci/limits -update)"}},
		"a package is gone": {table, list + "shared/gone is\n",
			[]string{"shared/gone keeps the limit of is: take it off the list (.ci/limits -update)"}},
		"a package of sessions has its own limit of closures": {strings.ReplaceAll(table, "shared/good   ", "shared/session"), list,
			[]string{"shared/session is over the limit of closures: mend the package"}},
		"a row of another form": {strings.Replace(table, " 9.4 ", " - ", 1), list,
			[]string{`the row has another form: "  shared/good                        6     714     35   10/ 24/ 30        0          -        11          4.0     20 "`}},
		"no table": {"", list, []string{"the input has no row of a package"}},
	} {
		file := filepath.Join(t.TempDir(), "limits.txt")
		require.NoError(t, os.WriteFile(file, []byte(c.list), 0o600))
		var out strings.Builder
		err := run(strings.NewReader(c.table), &out, file, false)
		require.Equal(t, c.table, out.String(), name)
		if c.mistakes == nil {
			require.NoError(t, err, name)
			continue
		}
		require.EqualError(t, err, strings.Join(c.mistakes, "\n"), name)
	}
}

func TestUpdateWritesTheList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "limits.txt")
	require.NoError(t, run(strings.NewReader(table), &strings.Builder{}, file, true))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, list, string(text))
}

func TestThePackagesWithALimitOfTheirOwnExist(t *testing.T) {
	for name := range fewClosures {
		require.DirExists(t, filepath.Join("../..", name))
	}
}
