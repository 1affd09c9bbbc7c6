package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/wire"
)

func TestTheRestOfAnObjectIsKept(t *testing.T) {
	type record struct {
		ID    string `json:"id"`
		Parts []struct {
			Name string `json:"name"`
		} `json:"parts,omitempty"`
	}
	for text, want := range map[string]string{
		`{"id":"a"}`:                              `{"id":"b"}`,
		`{"ID":"a"}`:                              `{"id":"b"}`,
		`{"z":[{"x":"<"}],"id":"a","c":null}`:     `{"id":"b","c":null,"z":[{"x":"<"}]}`,
		`{"id":"a","parts":[{"name":"p","q":1}]}`: `{"id":"b","parts":[{"name":"p"}]}`,
	} {
		var r record
		rest, err := wire.DecodeWithRest([]byte(text), &r)
		require.NoError(t, err, text)
		require.Equal(t, "a", r.ID, text)
		r.ID = "b"
		got, err := rest.Encode(r)
		require.NoError(t, err, text)
		require.Equal(t, want, string(got))
	}
	for _, text := range []string{`{"id":1}`, `{"id":"a","x":}`, `[]`, ``} {
		_, err := wire.DecodeWithRest([]byte(text), &record{})
		require.Error(t, err, text)
	}
}
