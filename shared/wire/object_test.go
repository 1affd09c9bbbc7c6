package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lectern/shared/wire"
)

func TestAnObjectKeepsItsOrder(t *testing.T) {
	var o wire.Object
	text, err := o.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, "{}", string(text))
	o.Add("b", "x")
	o.Add("a", nil)
	more := o.With("c", []int{1})
	other := o.With("d", (*string)(nil))
	o.Add("e", true)
	for want, object := range map[string]wire.Object{
		`{"b":"x","a":null,"e":true}`: o, `{"b":"x","a":null,"c":[1]}`: more, `{"b":"x","a":null,"d":null}`: other,
	} {
		text, err := wire.Encode(object)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	_, err = o.With("f", func() {}).MarshalJSON()
	require.ErrorContains(t, err, "f")
}

// TestAnEditedObjectKeepsItsOrder: edits change and leave out properties of a copy.
func TestAnEditedObjectKeepsItsOrder(t *testing.T) {
	var o wire.Object
	for _, name := range []string{"b", "<a>", "c"} {
		o.Add(name, "\u2028 & "+name)
	}
	o.Add("d", nil)
	edited := o.Edit(func(name string, value any) any {
		return map[string]any{"b": value, "<a>": []int{1}, "d": value}[name]
	})
	edited.Add("e", 2)
	for want, object := range map[string]wire.Object{
		`{"b":"\u2028 & b","<a>":[1],"d":null,"e":2}`:                       edited,
		`{"b":"\u2028 & b","<a>":"\u2028 & <a>","c":"\u2028 & c","d":null}`: o,
	} {
		text, err := wire.Encode(object)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	o.Add("f", func() {})
	_, err := o.Edit(func(_ string, value any) any { return value }).MarshalJSON()
	require.ErrorContains(t, err, "f")
}

// TestTextsInAnObject: Object and Encode write a text in the same form.
func TestTextsInAnObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`), rapid.Just("a\u2028<b>\x00\"\\")).Draw(t, "text")
		var o wire.Object
		o.Add("text", text)
		got, err := o.MarshalJSON()
		require.NoError(t, err)
		want, err := wire.Encode(map[string]string{"text": text})
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		require.True(t, json.Valid(got))
	})
}
