package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
)

// TestDamageOfFilesIsFound: a lost, changed or moved item of uploads, and files that do not fit them.
func TestDamageOfFilesIsFound(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	const uploads, due = "uploads of a session", "bytes to be looked at"
	with := func(name string, change func(*raw.Item)) items {
		all := slices.Clone(whole)
		change(&all[slices.Index(all, whole.named(t, name))])
		return all
	}
	file := func(text string) func(*raw.Item) {
		return func(i *raw.Item) { i.Data = strings.Replace(i.Data, `{`, `{"content":[`+text+`],`, 1) }
	}
	const one = `{"id":"00000000-0000-4000-8000-000000000001","bytes":"00000000-0000-4000-8000-000000000002","link":"x"}`
	for problem, all := range map[string]items{
		"no sweep looks at the upload":                            with(due, func(i *raw.Item) { i.SK = i.SK[:len(i.SK)-4] + "0000" }),
		"is not there and has uploads":                            with(uploads, func(i *raw.Item) { i.PK = i.PK[:len(i.PK)-4] + "0000" }),
		"does not fit the files of session":                       with(uploads, func(i *raw.Item) { i.Data = strings.Replace(i.Data, `"since"`, `"replaces":true,"since"`, 1) }),
		"cannot be read":                                          with(uploads, func(i *raw.Item) { i.Data = "[]" }),
		"the bytes that a sweep looks at cannot be read":          with(due, func(i *raw.Item) { i.Data = "[]" }),
		"has the file 00000000-0000-4000-8000-000000000001 twice": with("session", file(one+","+one)),
		"has no link": with("session", file(strings.Replace(one, `"link":"x"`, `"link":""`, 1))),
	} {
		require.Contains(t, strings.Join(all.problems(), "\n"), problem)
	}
}
