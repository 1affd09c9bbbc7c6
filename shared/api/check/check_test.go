package check_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

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

// refusal is the 400 for a body of anything.
func refusal(t *testing.T, raw string) *apierr.Error {
	t.Helper()
	_, err := check.Decode[anything]([]byte(raw))
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 400, refused.Status)
	return refused
}

func TestLongKeysAreNotRepeated(t *testing.T) {
	long := strings.Repeat("ä", 512)
	_, err := check.Decode[anything]([]byte(`{"` + long + `":1}`))
	require.NoError(t, err)
	refused := refusal(t, `{"free":{"a":{"`+long+`x":1}}}`)
	require.Equal(t, "free.a has a key of more than 1024 bytes.", refused.Message)
	require.Equal(t, "free.a", refused.Details["field"])

	nested := strings.Repeat(`{"`+long+`":`, 10) + "1e999" + strings.Repeat("}", 10)
	refused = refusal(t, `{"free":`+nested+`}`)
	require.Less(t, len(refused.Message), 1100)
	require.True(t, utf8.ValidString(refused.Message))
	require.Contains(t, refused.Message, "out of range")
	require.True(t, strings.HasSuffix(refused.Details["field"].(string), "ä…"))
}

// TestManyValuesAreRefused: small values take a hundred times their length in memory.
func TestManyValuesAreRefused(t *testing.T) {
	refused := refusal(t, `{"free":{"a":[`+strings.Repeat("{},", 200_000)+`{}]}}`)
	require.Contains(t, refused.Message, "more than 200000 values")
}

// TestHalvesOfSurrogatePairs: only both halves together are a character.
func TestHalvesOfSurrogatePairs(t *testing.T) {
	for text, fine := range map[string]bool{
		`\ud83d\ude00`: true, `x\uD83D\uDE00\n`: true, `\\ud83d`: true, `\\\\ud83d`: true, `\u00e9`: true, `\"\/\b`: true,
		`\ud83d`: false, `\ud83dx`: false, `\ude00`: false, `\ude00\ud83d`: false, `\ud83d\ud83d\ude00`: false,
		`\ud83d\n`: false, `\\\ud83d`: false, `\ud83d\u00e9`: false, `\ud83d\\ude00`: false,
	} {
		_, err := check.Decode[anything]([]byte(`{"free":{"a":"` + text + `"}}`))
		require.Equal(t, fine, err == nil, text)
	}
}

// TestABodyCostsWhatItsLengthIs: the memory for a value does not grow with the names of its parents.
func TestABodyCostsWhatItsLengthIs(t *testing.T) {
	deep := strings.Repeat(`{"`+strings.Repeat("k", 1000)+`":`, 20)
	for _, free := range []string{
		deep + "[" + strings.Repeat("0,", 190_000) + "0]" + strings.Repeat("}", 20),
		deep + "[" + strings.Repeat(`{"a":0},`, 50_000) + "0]" + strings.Repeat("}", 20),
		`{"a":"` + strings.Repeat(`\n`, 1_000_000) + `\ud83d\ude00"}`,
	} {
		raw := []byte(`{"free":` + free + `}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := check.Decode[anything](raw)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400*len(raw)))
	}
}
