package change_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/change"
	"lectern/shared/wire"
)

// TestARecordIsNeverLong: the longest values are cut most, and names as well.
func TestARecordIsNeverLong(t *testing.T) {
	for name, c := range map[string]struct {
		count, length int
		text          string
		names         int
	}{
		"tags":         {2, 60_000, "<", 5},
		"quotes":       {40, 20_000, `"`, 5},
		"controls":     {40, 20_000, "\x01", 5},
		"many":         {400, 300, `"`, 5},
		"more than is": {2_000, 300, "é", 5},
		"long names":   {1_000, 1, "x", 900},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(2, noon)
			kind := change.Kind{Name: "session.updated"}
			for i := range c.count {
				field := strings.Repeat("n", c.names) + fmt.Sprint(i)
				kind.Fields = append(kind.Fields, field)
				r.Values = append(r.Values, change.Value{Field: field, Old: strings.Repeat(c.text, c.length), New: 1})
			}
			r.Values = append(r.Values, change.Value{Field: "short", Old: "a", New: "b"})
			r.Kinds = []change.Kind{kind}
			got := change.New(t.Context(), r)
			text, err := wire.Encode(got)
			require.NoError(t, err)
			require.Less(t, len(text), 100_000)
			require.Greater(t, len(text), 16_000)
			last := got.Values[len(got.Values)-1]
			if len(got.Values) == c.count+1 {
				require.Equal(t, change.Value{Field: "short", Old: json.RawMessage(`"a"`), New: json.RawMessage(`"b"`)}, last)
			} else {
				require.Equal(t, change.Others, last.Field)
				require.Len(t, last.New.(change.Cut).SHA256, 64)
			}
			if cut, ok := got.Values[0].Old.(change.Cut); ok {
				require.Len(t, cut.SHA256, 64)
			}
			require.Len(t, kind.Fields, c.count, "the caller's list stays")
		})
	}
}
