package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/wire"
)

func TestEncodeLeavesHTMLAlone(t *testing.T) {
	got, err := wire.Encode(map[string]any{
		"text": "<b> & \"x\"", "kept": json.RawMessage(`"<i>"`), "opt": wire.Some("a<b"),
	})
	require.NoError(t, err)
	require.Equal(t, `{"kept":"<i>","opt":"a<b","text":"<b> & \"x\""}`, string(got))
	_, err = wire.Encode(func() {})
	require.Error(t, err)
}
