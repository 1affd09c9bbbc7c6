package change_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/change"
	"lectern/shared/wire"
)

// TestPointersOfRivalsDiffer: two writers of one version at one moment get one id, and
// what one has written must not be taken for the other's.
func TestPointersOfRivalsDiffer(t *testing.T) {
	at := wire.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	pointer := func(title string) any {
		r := change.New(t.Context(), change.Record{At: at, Org: 1, Type: "contact", RecordID: "c", Version: 2,
			Values: []change.Value{{Field: "title", New: title}}})
		return r.Pointer("O#1#C#c")
	}
	require.Equal(t, pointer("first"), pointer("first"))
	require.NotEqual(t, pointer("first"), pointer("second"))
}
