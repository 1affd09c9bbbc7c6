package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
)

// transcribe stores a fragment and a summary of a session, and deletes another.
func transcribe(t *testing.T, s *stacktest.Stack, session string) {
	t.Helper()
	path := s.EventPath("/sessions/" + session + "/transcriptions")
	for i, kind := range []string{"fragment", "summary", "insight"} {
		body := stacktest.WithHeaders(map[string]any{"type": kind, "transcription": "Good morning.", "start_time": i}, "Idempotency-Key", kind)
		made := s.Call(t, 201, "POST", path, body).JSON(t)["data"].(map[string]any)
		if kind == "insight" {
			s.Call(t, 204, "DELETE", path+"/"+made["id"].(string), nil)
		}
	}
}

// TestDamageOfTranscriptionsIsFound: a lost, changed or additional item of transcriptions.
func TestDamageOfTranscriptionsIsFound(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	const segment, index, place = "segment of transcriptions", "index of transcriptions", "place of a transcription"
	without := func(name string) items {
		lost := whole.named(t, name)
		return slices.DeleteFunc(slices.Clone(whole), func(i raw.Item) bool { return i.Key == lost.Key })
	}
	with := func(name string, change func(*raw.Item)) items {
		all := slices.Clone(whole)
		at := slices.Index(all, whole.named(t, name))
		change(&all[at])
		return all
	}
	other := whole.named(t, segment)
	other.SK = "T#000007"
	for problem, all := range map[string]items{
		"is not there in version 4":   without(segment),
		"is in no index":              without(index),
		"is not where its place says": without(place),
		"of session " + other.PK[len(other.PK)-36:] + " is in no index": whole.with(other),
		"is not there in version":               with(segment, func(i *raw.Item) { i.Version++ }),
		"does not describe the segment 0":       with(segment, func(i *raw.Item) { i.Data = strings.Replace(i.Data, "Good", "Bad", 1) }),
		"has its segments in another order":     with(index, func(i *raw.Item) { i.Data = strings.Replace(i.Data, `"next":1`, `"next":0`, 1) }),
		"has version 2 and 1 change records":    with(segment, func(i *raw.Item) { i.Data = strings.Replace(i.Data, `"v":1`, `"v":2`, 1) }),
		"has a place and is not there":          with(place, func(i *raw.Item) { i.PK = i.PK[:len(i.PK)-4] + "0000" }),
		"is not there and has transcriptions":   with(index, func(i *raw.Item) { i.SK = i.SK[:len(i.SK)-4] + "0000" }),
		"a segment of transcriptions cannot be": with(segment, func(i *raw.Item) { i.Data = "[null]" }),
		"an index of transcriptions cannot be":  with(index, func(i *raw.Item) { i.Data = "[]" }),
		"the place of a transcription cannot":   with(place, func(i *raw.Item) { i.Data = "[]" }),
	} {
		require.Contains(t, strings.Join(all.problems(), "\n"), problem)
	}
}
