package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/sessionfile"
)

// TestDamageOfFilesIsFound: a lost, changed or moved item, and files that do not fit their bytes.
func TestDamageOfFilesIsFound(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	bytes := slices.IndexFunc(whole, func(i raw.Item) bool { return strings.Contains(i.SK, "#"+sessionfile.Kind.Name+"#") })
	open := slices.Index(whole, whole.named(t, "open uploads of a session"))
	with := func(at int, change func(*raw.Item)) items {
		all := slices.Clone(whole)
		change(&all[at])
		return all
	}
	replace := func(from, to string) func(*raw.Item) {
		return func(i *raw.Item) {
			require.Contains(t, i.Data, from)
			i.Data = strings.Replace(i.Data, from, to, 1)
		}
	}
	session, _, _ := strings.Cut(whole[bytes].SK, "#")
	talk := slices.IndexFunc(whole, func(i raw.Item) bool { return strings.HasSuffix(i.PK, "#S#"+session) && i.SK == "B" })
	file := func(text string) items { return with(talk, replace(`{`, `{"content":[`+text+`],`)) }
	const one = `{"id":"00000000-0000-4000-8000-000000000001","bytes":"00000000-0000-4000-8000-000000000002","link":"x"}`
	_, rest, _ := strings.Cut(whole[bytes].Data, `"ends":"`)
	ends, _, _ := strings.Cut(rest, `"`)
	id := whole[bytes].SK[strings.LastIndex(whole[bytes].SK, "#")+1:]
	for problem, all := range map[string]items{
		"does not fit its bytes":    with(bytes, replace(`"ends":"`+ends+`",`, "")),
		"which stay":                with(bytes, replace(`"ends":"`+ends+`",`, "")),
		"is not there and has open": with(open, func(i *raw.Item) { i.PK = i.PK[:len(i.PK)-4] + "0000" }),
		"open uploads of session":   with(open, func(i *raw.Item) { i.Data = "[]" }),
		"cannot be read":            with(bytes, func(i *raw.Item) { i.Data = strings.Replace(i.Data, `"file":{`, `"file":[{`, 1) }),
		"has the file 00000000":     file(one + "," + one),
		"has no link":               file(strings.Replace(one, `"link":"x"`, `"link":""`, 1)),
		"has no bytes that stay":    file(one),
		"is complete and has its":   file(strings.Replace(one, "00000000-0000-4000-8000-000000000002", id, 1)),
	} {
		require.Contains(t, strings.Join(all.problems(), "\n"), problem)
	}
}
