package verify

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/session"
)

// onePixel is a PNG of one pixel in base64.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

// year matches the year of the last change of a record.
var year = regexp.MustCompile(`"updated_at":"\d{4}`)

// TestDamageOfHoldingSlidesIsFound: a setup or a part of a picture that is lost or changed, and sessions that have
// no slide, or one too many, for a long time.
func TestDamageOfHoldingSlidesIsFound(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	set, part := slices.Index(whole, whole.named(t, "holding slides of an event")), slices.Index(whole, whole.named(t, "part of a picture"))
	talk := slices.IndexFunc(whole, func(i raw.Item) bool {
		return i.Pattern().Name == "session" && strings.Contains(i.Data, `"title":"A talk"`)
	})
	_, id, _ := strings.Cut(whole[talk].PK, "#S#")
	with := func(changes map[int]func(string) string) items {
		all := slices.Clone(whole)
		for at, change := range changes {
			all[at].Data = change(all[at].Data)
		}
		return all
	}
	to := func(text string) func(string) string { return func(string) string { return text } }
	// old moves the last change of a record years back, and replaces a text.
	old := func(from, to string) func(string) string {
		return func(data string) string {
			require.Contains(t, data, from)
			return year.ReplaceAllString(strings.Replace(data, from, to, 1), `"updated_at":"2020`)
		}
	}
	const pending, accepted = `"status":"pending"`, `"status":"accepted"`
	lost := slices.Delete(slices.Clone(whole), part, part+1)
	moved := slices.Clone(whole)
	moved[part].SK = "P#logo#0000"
	newer := slices.Clone(whole)
	newer[set].Version++
	slide := `"content":[{"id":"` + session.SlideID(id) + `","bytes":"` + id + `","link":"x"}],`
	empty := slices.DeleteFunc(slices.Clone(lost), func(i raw.Item) bool { return strings.HasSuffix(i.PK, "#S#"+id) })
	for _, c := range []struct {
		problem string
		all     items
	}{
		{"the holding slides cannot be read", with(map[int]func(string) string{set: to("[]")})},
		{"the part P#background#0000 of a picture cannot be read", with(map[int]func(string) string{part: to("[]")})},
		{"the parts of the background of the holding slides are of another picture", lost},
		{"the parts of the background of the holding slides are of another picture", empty},
		{"the parts of the logo of the holding slides are of another picture", moved},
		{"has version 2 and 1 change records", newer},
		{"session " + id + " has no holding slide", with(map[int]func(string) string{set: old("", ""), talk: old(pending, accepted)})},
		{"has a holding slide and should have none", with(map[int]func(string) string{set: old("", ""), talk: old(`{`, `{`+slide)})},
		{"has a holding slide and should have none", with(map[int]func(string) string{
			set: old(`"on":true`, `"on":false`), talk: old(pending, slide+accepted),
		})},
	} {
		require.Contains(t, strings.Join(c.all.problems(), "\n"), c.problem)
	}
	for _, waits := range []items{
		with(map[int]func(string) string{set: old("", ""), talk: func(data string) string { return strings.Replace(data, pending, accepted, 1) }}),
		with(map[int]func(string) string{talk: old(pending, accepted)}),
	} {
		require.NotContains(t, strings.Join(waits.problems(), "\n"), "holding slide")
	}
}
