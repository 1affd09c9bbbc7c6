package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
)

// TestDamageOfUploadsIsFound: an upload that is lost, changed, or of no session.
func TestDamageOfUploadsIsFound(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	stored := whole.named(t, "upload")
	with := func(change func(*raw.Item)) items {
		all := slices.Clone(whole)
		change(&all[slices.Index(all, stored)])
		return all
	}
	for problem, all := range map[string]items{
		"is not there and has 1 change records": slices.DeleteFunc(slices.Clone(whole), func(i raw.Item) bool { return i.Key == stored.Key }),
		"has version 2 and 1 change records":    with(func(i *raw.Item) { i.Version++ }),
		"stands in the wrong place":             with(func(i *raw.Item) { i.Data = strings.Replace(i.Data, `"object":"media/`, `"object":"media/0`, 1) }),
		"is not there and has the upload": with(func(i *raw.Item) {
			session, rest, _ := strings.Cut(i.SK, "#")
			other := session[:len(session)-4] + "0000"
			i.SK, i.Data = other+"#"+rest, strings.ReplaceAll(i.Data, session, other)
		}),
		"an upload cannot be read": with(func(i *raw.Item) { i.Data = "[]" }),
	} {
		require.Contains(t, strings.Join(all.problems(), "\n"), problem)
	}
}
