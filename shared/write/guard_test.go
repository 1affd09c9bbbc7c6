package write_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/wire"
	"lectern/shared/write"
)

var now = wire.At(time.Date(2026, 11, 21, 9, 38, 0, 123_456_789, time.UTC))

func TestGuard(t *testing.T) {
	seen := func(at time.Time) wire.Opt[wire.Time] { return wire.Some(wire.Time{Time: at}) }
	for _, test := range []struct {
		name   string
		guard  write.Guard
		status int
	}{
		{"nothing sent", write.Guard{}, 0},
		{"same time", write.Guard{UpdatedAt: seen(now.Time)}, 0},
		{"same millisecond", write.Guard{UpdatedAt: seen(now.Add(999 * time.Microsecond))}, 0},
		{"other zone", write.Guard{UpdatedAt: seen(now.In(time.FixedZone("", 3600)))}, 0},
		{"other millisecond", write.Guard{UpdatedAt: seen(now.Add(time.Millisecond))}, 409},
		{"null time", write.Guard{UpdatedAt: wire.Null[wire.Time]()}, 400},
		{"tag", write.Guard{IfMatch: `"7.abc"`}, 0},
		{"tag of another rendering", write.Guard{IfMatch: `"7.def"`}, 0},
		{"tag of a 409", write.Guard{IfMatch: `"7"`}, 0},
		{"weak tag", write.Guard{IfMatch: `W/"7.abc"`}, 0},
		{"any", write.Guard{IfMatch: ` * `}, 0},
		{"list", write.Guard{IfMatch: `"6.abc" ,, W/"7.abc",`}, 0},
		{"comma in a tag", write.Guard{IfMatch: `"6,a", "7.b"`}, 0},
		{"other version", write.Guard{IfMatch: `"6.abc"`}, 409},
		{"list of others", write.Guard{IfMatch: `"6.abc", "70.abc"`}, 409},
		{"tag of something else", write.Guard{IfMatch: `"abc"`}, 409},
		{"quoted star", write.Guard{IfMatch: `"*"`}, 409},
		{"empty tag", write.Guard{IfMatch: `""`}, 409},
		{"both hold", write.Guard{UpdatedAt: seen(now.Time), IfMatch: `"7.abc"`}, 0},
		{"tag does not hold", write.Guard{UpdatedAt: seen(now.Time), IfMatch: `"6.abc"`}, 409},
		{"time does not hold", write.Guard{UpdatedAt: seen(now.Add(time.Second)), IfMatch: `"7.abc"`}, 409},
		{"no quotes", write.Guard{IfMatch: `7.abc`}, 400},
		{"open quote", write.Guard{IfMatch: `"7.abc`}, 400},
		{"no comma", write.Guard{IfMatch: `"7.abc" "8.abc"`}, 400},
		{"star in a list", write.Guard{IfMatch: `"6.abc", *`}, 400},
		{"blank in a tag", write.Guard{IfMatch: `"7 abc"`}, 400},
		{"commas alone", write.Guard{IfMatch: `,,`}, 400},
		{"blank", write.Guard{IfMatch: " \t"}, 400},
		{"weak without tag", write.Guard{IfMatch: `W/`}, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.guard.Check(7, now)
			if test.status == 0 {
				require.NoError(t, err)
				return
			}
			requireStatus(t, test.status, err)
		})
	}
}

func TestStaleTellsTheCurrentState(t *testing.T) {
	var shown *apierr.Error
	require.ErrorAs(t, write.Guard{IfMatch: `"6.abc"`}.Check(7, now), &shown)
	require.Equal(t, map[string]any{"updated_at": now}, shown.Details)
	require.Equal(t, http.Header{"Etag": {`"7"`}}, shown.Header)
	require.NoError(t, write.Guard{IfMatch: shown.Header.Get("ETag")}.Check(7, now))
}
