package check_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
)

type anything struct {
	Name string         `json:"name,omitempty"`
	Free map[string]any `json:"free,omitempty"`
	_    struct{}       `json:"-" additionalProperties:"true"`
}

func TestNoBytesGetThroughButAnObject(t *testing.T) {
	r := check.NewRegistry()
	s := r.Schema(reflect.TypeFor[anything](), true, "")
	check.Finish(r)
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"name"`, `"free"`, `"Name"`, `"\ud800"`, `"\u0000"`, "1.0", "-0", "1e400", "null", "true", "\xff", " ", `"a"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		var raw []byte
		for _, text := range rapid.SliceOf(piece).Draw(t, "pieces") {
			raw = append(raw, text...)
		}
		if rapid.Bool().Draw(t, "an object") {
			raw = append(append([]byte(`{"free":{"k":`), raw...), "}}"...)
		}
		plain, err := check.Body(r, s, raw)
		var refusal *apierr.Error
		if errors.As(err, &refusal) {
			require.Equal(t, 400, refusal.Status)
			return
		}
		require.NoError(t, err)
		var decoded anything
		require.NoError(t, json.Unmarshal(plain, &decoded))
	})
}

func TestAKeywordThatIsNotCheckedIsRefusedAtStart(t *testing.T) {
	r := check.NewRegistry()
	r.Schema(reflect.TypeFor[struct {
		N int `json:"n" multipleOf:"5"`
	}](), true, "odd")
	require.Panics(t, func() { check.Finish(r) })
}
