package speech_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/speech"
)

// word is a word of an output, from a second to half a second later.
func word(text, speaker string, at float64) string {
	return fmt.Sprintf(`{"type": "pronunciation", "start_time": "%.2f", "end_time": "%.2f", "speaker_label": %q, "alternatives": [{"content": %q}]}`,
		at, at+0.5, speaker, text)
}

// mark is a punctuation mark.
func mark(text string) string {
	return fmt.Sprintf(`{"type": "punctuation", "alternatives": [{"content": %q}]}`, text)
}

// cut cuts an output with items.
func cut(t *testing.T, language string, items ...string) []speech.Fragment {
	t.Helper()
	all, err := speech.Cut(fmt.Appendf(nil, `{"results": {"language_code": %q, "items": [%s]}}`, language, strings.Join(items, ",")))
	require.NoError(t, err)
	return all
}

// TestAnOutputIsCut at the end of a sentence, at a change of the speaker, and after a minute or a thousand
// characters.
func TestAnOutputIsCut(t *testing.T) {
	require.Equal(t, []speech.Fragment{
		{"spk_0", "Good morning, all.", "en-US", 0, 2.5}, {"spk_0", "Yes", "en-US", 3, 3.5}, {"spk_1", "No?", "en-US", 4, 4.5},
		{"spk_1", "Fine", "en-US", 5, 5.5},
	}, cut(t, "en-US", mark("."), word("Good", "spk_0", 0), word("morning", "spk_0", 1), mark(","), word("all", "spk_0", 2), mark("."),
		word("Yes", "spk_0", 3), word("No", "spk_1", 4), mark("?"), word("Fine", "spk_1", 5)))
	require.Equal(t, []speech.Fragment{{"a", "良い天気。", "ja-JP", 0, 1.5}, {"a", "はい", "ja-JP", 2, 2.5}},
		cut(t, "ja-JP", word("良い", "a", 0), word("天気", "a", 1), mark("。"), word("はい", "a", 2)))
	var items []string
	for i := range 150 {
		items = append(items, word("la", "a", float64(i)))
	}
	minutes := cut(t, "en-US", items...)
	require.Len(t, minutes, 3)
	for _, f := range minutes {
		require.LessOrEqual(t, f.End-f.Start, 60.0)
	}
	long := strings.Repeat("x", 600)
	require.Len(t, cut(t, "en-US", word(long, "a", 0), word(long, "a", 1), word(strings.Repeat("y", 2000), "a", 2)), 3)
	require.Empty(t, cut(t, "en-US"))
	require.Empty(t, cut(t, "en-US", mark("."), `{"alternatives": []}`, `{"alternatives": [{"content": ""}]}`))
}

// TestOlderOutputsNameSpeakersElsewhere: in the segments of the labels, by the start of a word.
func TestOlderOutputsNameSpeakersElsewhere(t *testing.T) {
	all, err := speech.Cut([]byte(`{"results": {
		"speaker_labels": {"segments": [{"items": [{"start_time": "0.1", "speaker_label": "spk_3"}]}]},
		"items": [{"start_time": "0.1", "end_time": "0.4", "alternatives": [{"content": "Hello"}]}, {"alternatives": [{"content": "."}]}]}}`))
	require.NoError(t, err)
	require.Equal(t, []speech.Fragment{{Speaker: "spk_3", Text: "Hello.", Start: 0.1, End: 0.4}}, all)
}

func TestBrokenOutputsAreErrors(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{"results": {"items": [{"start_time": "a", "end_time": "1", "alternatives": [{"content": "x"}]}]}}`,
		`{"results": {"items": [{"start_time": "2", "end_time": "1", "alternatives": [{"content": "x"}]}]}}`,
		`{"results": {"items": [{"start_time": "-1", "end_time": "1", "alternatives": [{"content": "x"}]}]}}`,
		`{"results": {"items": [{"start_time": "1", "alternatives": [{"content": "x"}]}]}}`,
	} {
		_, err := speech.Cut([]byte(text))
		require.Error(t, err, text)
	}
}

func TestTheNamesOfTranscribers(t *testing.T) {
	for _, name := range []string{"", "amazon", "stand-in"} {
		require.NoError(t, speech.Check(name))
	}
	require.EqualError(t, speech.Check("whisper"), `LECTERN_TRANSCRIBER must be amazon or stand-in, or not set: "whisper"`)
	require.Equal(t, "stand-in", speech.Provider("stand-in"))
	require.Equal(t, "amazon-transcribe", speech.Provider("amazon"))
}
