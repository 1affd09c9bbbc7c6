package recordings_test

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/recordings"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/change"
	"lectern/shared/recording"
)

// soon is the longest wait for a conversion.
const soon = 60 * time.Second

// speaking is a tone that all files of 16 kHz can have.
var speaking = tone{1000, 0.5}

// stereo is a film's sound: a second of 48 kHz.
var stereo = wave{channels: 2, rate: 48_000, bits: 24, frames: 48_000, tones: []tone{speaking}}

// TestOtherSoundIsConverted by the worker, with status recording until then.
func TestOtherSoundIsConverted(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t, stacktest.Publishing())
	id := d.sent(stereo.file())
	first := data(d.complete(200, id, object{"duration_seconds": 1}))
	require.Contains(t, []any{"recording", "completed"}, first["status"])
	var item entity
	require.Eventually(t, func() bool {
		item = data(d.complete(200, id))
		return item["status"] == "completed"
	}, soon, 50*time.Millisecond)
	require.Equal(t, entity{
		"id": id, "type": "recording", "session_id": d.session, "s3_bucket": "lectern", "s3_key": d.object(id), "encoding": "linear16",
		"sample_rate": 16000.0, "channels": 1.0, "status": "completed", "duration_seconds": 1.0, "file_size_bytes": 32_044.0,
		"started_at": first["started_at"], "created_at": first["created_at"], "completed_at": item["completed_at"], "updated_at": item["updated_at"],
	}, item)
	require.NotNil(t, item["completed_at"])
	require.Equal(t, item, data(d.Do(200, http.MethodGet, d.path("/"+id), nil)))
}

// TestADamagedFileIsRefused: a floating-point sample that is no number. Nothing is kept of such a recording.
func TestADamagedFileIsRefused(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t, stacktest.Publishing())
	file := wave{channels: 1, rate: 16_000, bits: 32, float: true, frames: 1000, tones: []tone{{0, math.NaN()}}}.file()
	id := d.sent(file)
	require.Eventually(t, func() bool {
		return d.TrySend(t, http.MethodPost, d.EventPath(d.path("/"+id+"/complete")), object{}).Status == 422
	}, soon, 50*time.Millisecond)
	refusal := d.complete(422, id)
	require.Equal(t, []any{"TRANSCODE_ERROR", "UnprocessableError"}, []any{refusal["code"], refusal["name"]})
	require.Contains(t, refusal["message"], "Create another recording")
	item := data(d.Do(200, http.MethodGet, d.path("/"+id), nil))
	require.Equal(t, []any{"recording", nil, float64(len(file))}, []any{item["status"], item["duration_seconds"], item["file_size_bytes"]})
	d.end(id, 2*time.Hour)
	require.EqualValues(t, 1, entity(d.Operator(t, "maintain", object{"cursor": object{}})).At("purged.uploads"))
	d.requireGone(id)
}

// TestEachKindOfSoundIsConverted: the tone keeps frequency and level, the sound its length, and nothing is added.
func TestEachKindOfSoundIsConverted(t *testing.T) {
	b := newBench(t)
	for name, w := range map[string]wave{
		"8 bits":     {channels: 1, rate: 16_000, bits: 8},
		"24 bits":    {channels: 1, rate: 16_000, bits: 24},
		"32 bits":    {channels: 1, rate: 16_000, bits: 32},
		"float":      {channels: 1, rate: 16_000, bits: 32, float: true},
		"double":     {channels: 1, rate: 16_000, bits: 64, float: true},
		"A-law":      {channels: 1, rate: 8_000, bits: 8, law: 6},
		"µ-law":      {channels: 2, rate: 8_000, bits: 8, law: 7, extended: true},
		"stereo":     {channels: 2, rate: 16_000, bits: 16},
		"16":         {channels: 16, rate: 48_000, bits: 32, float: true},
		"8 kHz":      {channels: 1, rate: 8_000, bits: 16},
		"11.025 kHz": {channels: 1, rate: 11_025, bits: 16},
		"12 kHz":     {channels: 1, rate: 12_000, bits: 16},
		"22.05 kHz":  {channels: 1, rate: 22_050, bits: 16},
		"24 kHz":     {channels: 1, rate: 24_000, bits: 16},
		"32 kHz":     {channels: 1, rate: 32_000, bits: 16},
		"44.1 kHz":   {channels: 2, rate: 44_100, bits: 16},
		"47.952 kHz": {channels: 1, rate: 47_952, bits: 24},
		"48 kHz":     {channels: 2, rate: 48_000, bits: 16, extended: true},
		"88.2 kHz":   {channels: 2, rate: 88_200, bits: 24, extended: true},
		"96 kHz":     {channels: 2, rate: 96_000, bits: 32, float: true, extended: true},
		"176.4 kHz":  {channels: 1, rate: 176_400, bits: 24},
		"192 kHz":    {channels: 2, rate: 192_000, bits: 64, float: true},
	} {
		w.frames, w.tones = w.rate*3/10+7, []tone{speaking}
		item, file := b.converted(w.file())
		all := samples(t, file)
		want := math.Ceil(float64(w.frames) * 16_000 / float64(w.rate))
		require.EqualValues(t, want, len(all), name)
		require.InDelta(t, want/16_000, item["duration_seconds"], 1e-9, name)
		found, rest := level(middle(all), speaking.hertz)
		noise, off := 0.0002, 0.0005
		if w.bits == 8 {
			noise, off = 0.01, 0.004 // The steps of 8 bits.
		}
		if w.law != 0 {
			noise, off = 0.02, 0.008 // Steps of 3 % of the sample.
		}
		require.InDelta(t, speaking.level, found, off, name)
		require.Less(t, rest, noise, name)
	}
}

// TestTheChannelsAreMixed to their mean, so that nothing is cut.
func TestTheChannelsAreMixed(t *testing.T) {
	b := newBench(t)
	left, right := tone{500, 0.8}, tone{2000, 0.6}
	_, file := b.converted(wave{channels: 2, rate: 44_100, bits: 16, frames: 22_050, tones: []tone{left, right}}.file())
	all := middle(samples(t, file))
	for _, n := range []tone{left, right} {
		found, _ := level(all, n.hertz)
		require.InDelta(t, n.level/2, found, 0.001)
	}
	_, file = b.converted(wave{channels: 2, rate: 16_000, bits: 16, frames: 8_000, tones: []tone{{500, 0.8}, {500, -0.8}}}.file())
	for _, s := range samples(t, file) {
		require.InDelta(t, 0, s, 0.0001)
	}
	_, file = b.converted(wave{channels: 1, rate: 16_000, bits: 32, float: true, frames: 8_000, tones: []tone{{500, 4}}}.file())
	loudest := 0.0
	for _, s := range samples(t, file) {
		loudest = max(loudest, s)
	}
	require.InDelta(t, 1, loudest, 0.0001, "sound beyond full scale is cut")
}

// TestNoFrequencyIsFolded: what 16 kHz cannot have is gone, and what it can have is kept.
func TestNoFrequencyIsFolded(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		rate        int
		hertz, kept float64
	}{
		{48_000, 12_000, 0}, {48_000, 8_050, 0}, {48_000, 20_000, 0}, {44_100, 12_000, 0}, {96_000, 28_000, 0}, {192_000, 60_000, 0}, {22_050, 9_000, 0},
		{48_000, 6_900, 1}, {44_100, 6_900, 1}, {192_000, 6_900, 1}, {8_000, 3_400, 1}, {11_025, 4_700, 1}, {48_000, 50, 1},
	} {
		w := wave{channels: 1, rate: c.rate, bits: 24, frames: c.rate / 2, tones: []tone{{c.hertz, 0.5}}}
		_, file := b.converted(w.file())
		all := middle(samples(t, file))
		if c.kept > 0 {
			found, rest := level(all, c.hertz)
			require.InDelta(t, 0.5, found, 0.005, c)
			require.Less(t, rest, 0.001, c)
			continue
		}
		_, loud := level(all, 0)
		require.Less(t, 20*math.Log10(loud/0.5), -75.0, c)
	}
}

// TestEachSampleHasItsPlace: a source that is read in several blocks keeps its time, its sign and its level.
func TestEachSampleHasItsPlace(t *testing.T) {
	b := newBench(t)
	of := tone{440, 0.5}
	for _, rate := range []int{44_100, 48_000} {
		_, file := b.converted(wave{channels: 1, rate: rate, bits: 16, frames: 60 * rate, tones: []tone{of}}.file())
		all := samples(t, file)
		require.Len(t, all, 60*16_000)
		for i := 1000; i < len(all)-1000; i++ {
			if want := of.at(i, 16_000); math.Abs(all[i]-want) > 0.002 {
				require.InDelta(t, want, all[i], 0.002, "the sample %d of %d", i, rate)
			}
		}
	}
}

// TestALostOrderIsGivenAgain a day later, by the same call.
func TestALostOrderIsGivenAgain(t *testing.T) {
	b := newBench(t)
	id, _ := b.received(stereo.file())
	waiting, at := data(b.complete(200, id)), time.Now().Add(25*time.Hour)
	late := b.ServeGroup(recordings.Group, func(env *api.Env) { env.Now = func() time.Time { return at } })
	again := data(late.Do(200, http.MethodPost, b.path("/"+id+"/complete"), nil))
	require.Equal(t, "recording", again["status"])
	require.Greater(t, again["updated_at"], waiting["updated_at"])
	var second []byte
	for bucket := range change.Buckets {
		for item, err := range b.Table(t).Between(t.Context(), change.Partition(b.Org, at, bucket), "0", "~") {
			require.NoError(t, err)
			c, err := change.Decode(item)
			require.NoError(t, err)
			second = it.MessageOf(t, *c, recording.KindReceived, id)
		}
	}
	require.NotNil(t, second)
	require.Zero(t, b.invoke(second))
	b.kept(id)
	require.Equal(t, "completed", data(late.Do(200, http.MethodPost, b.path("/"+id+"/complete"), nil))["status"])
}

// TestACompletionDuringAConversionChangesNothing, and neither do messages after its end.
func TestACompletionDuringAConversionChangesNothing(t *testing.T) {
	b := newBench(t)
	b.Inside(t, "the worker converts beside the test")
	changes := b.WatchChanges("recording")
	id := b.sent(stereo.file())
	waiting := data(b.complete(200, id))
	require.Equal(t, waiting, data(b.complete(200, id)))
	require.Equal(t, waiting, data(b.Do(200, http.MethodGet, b.path("/"+id), nil)))
	require.EqualValues(t, waiting, b.Do(200, http.MethodGet, b.path(""), nil).At("data").([]any)[0])
	require.Zero(t, b.Maintain(9).Uploads, "a received recording has no end")
	published := b.published(id)
	require.Zero(t, b.invoke(published, published), "two workers at once")
	item, _ := b.kept(id)
	before := it.EngineOf(t, b.Stack).Dump(t)
	require.Zero(t, b.invoke(published, published))
	require.Equal(t, before, it.EngineOf(t, b.Stack).Dump(t))
	require.Equal(t, item, data(b.complete(200, id)))
	actions := []string{}
	for _, c := range changes.Since() {
		actions = append(actions, c.Action)
	}
	require.Equal(t, []string{"recording.created", "recording.received", "recording.converting", "recording.completed"}, slices.Compact(actions))
	require.Equal(t, 1, strings.Count(strings.Join(actions, " "), "recording.completed"))
	it.EngineOf(t, b.Stack).RequireWhole(t)
}
