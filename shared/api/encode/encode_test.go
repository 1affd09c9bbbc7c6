package encode_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lectern/shared/api/encode"
)

func TestPlainUndoesWhatHTMLNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune{'a', '"', '\\', '<', '>', '&', 'u', '0', '3', 'c', '\n', '\u2028', 'ä'})).Draw(t, "text")
		marshaled, err := json.Marshal(text)
		require.NoError(t, err)
		want, err := encode.JSON(text)
		require.NoError(t, err)
		require.Equal(t, string(want), string(encode.Plain(marshaled)))
	})
}

func TestGunzipUnpacks(t *testing.T) {
	got, err := encode.Gunzip(encode.Gzip([]byte("text")))
	require.NoError(t, err)
	require.Equal(t, "text", string(got))
	_, err = encode.Gunzip([]byte("text"))
	require.Error(t, err)
}
