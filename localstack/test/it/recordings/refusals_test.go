package recordings_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestSoundThatIsNotTakenIsRefused(t *testing.T) {
	d := newDesk(t)
	like := func(change func(*sound)) []byte {
		s := speech
		change(&s)
		return s.file()
	}
	for name, file := range map[string][]byte{
		"17 channels": like(func(s *sound) { s.channels, s.content = 17, make([]byte, 340) }), "no channel": like(func(s *sound) { s.channels = 0 }),
		"7.9 kHz": like(func(s *sound) { s.rate = 7900 }), "193 kHz": like(func(s *sound) { s.rate = 193_000 }), "an odd rate": like(func(s *sound) { s.rate = 44_101 }),
		"12 bits": like(func(s *sound) { s.bits = 12 }), "16 bits of floats": like(func(s *sound) { s.format = 3 }), "gaps": like(func(s *sound) { s.gap = 2 }),
		"half a frame": like(func(s *sound) { s.channels, s.content = 2, make([]byte, 18) }), "stereo ended early": like(func(s *sound) { s.channels, s.cut = 2, true }),
		"no sound":               like(func(s *sound) { s.channels, s.content = 2, []byte{} }),
		"16 bits of a telephone": like(func(s *sound) { s.format = 7 }),
		"MP3 in WAV":             like(func(s *sound) { s.format = 0x55 }), "another extension": like(func(s *sound) { s.format = 0xFFFE }),
		"ended early": like(func(s *sound) { s.cut = true }), "big-endian": like(func(s *sound) { s.container = "RIFX" }), "a piece of the name": like(func(s *sound) { s.container = "IFF " }),
		"half a sample": like(func(s *sound) { s.length = 15_999 }), "no end of a chunk": like(func(s *sound) { s.before = chunk("JUNK", 1<<31, nil) }),
		"MP3": append([]byte("ID3\x04"), make([]byte, 500)...), "OGG": append([]byte("OggS"), make([]byte, 500)...), "text": []byte("speech"), "one byte": {0},
		"a length beyond the file": like(func(s *sound) {
			s.container, s.length = "RF64", 1<<32-1
			s.before = chunk("ds64", 28, append(bytes.Repeat([]byte{255}, 16), make([]byte, 12)...))
		}),
		"a header that is too far away": like(func(s *sound) { s.before = chunk("JUNK", 70_000, make([]byte, 70_000)) }),
		"only a header":                 speech.file()[:36], "only names": []byte("RIFF\x00\x00\x00\x00WAVEdata\x00\x00\x00\x00"), "HTML": []byte("<html><script>alert(1)</script>"),
	} {
		id := d.sent(file)
		refusal := d.complete(422, id)
		require.Equal(t, []any{"TRANSCODE_ERROR", "UnprocessableError"}, []any{refusal["code"], refusal["name"]}, name)
		require.Equal(t, "recording", d.Do(200, http.MethodGet, d.path("/"+id), nil).At("data.status"), name)
	}
	for name, file := range map[string][]byte{
		"chunks before": like(func(s *sound) {
			s.before = chunk("bext", 3, []byte("abc\x00")) + chunk("JUNK", 1000, make([]byte, 1000))
		}),
		"an extension": like(func(s *sound) { s.format, s.extended = 0xFFFE, true }), "RF64": like(func(s *sound) { s.container, s.length = "RF64", 1<<32-1 }),
		"a length that the recorder did not know": like(func(s *sound) { s.length = 1<<32 - 1 }),
		"a length of more than four bytes": like(func(s *sound) {
			s.container, s.length, s.after = "BW64", 1<<32-1, chunk("LIST", 4, []byte("INFO"))
			s.before = chunk("ds64", 28, append(binary.LittleEndian.AppendUint64(make([]byte, 8), 16_000), make([]byte, 12)...))
		}),
		"chunks after": like(func(s *sound) { s.after = chunk("LIST", 4, []byte("INFO")) }),
	} {
		require.Equal(t, 0.5, data(d.complete(200, d.sent(file)))["duration_seconds"], name)
	}
}

// TestSoundThatIsTooLongIsRefused: the converted file has more than 5 GB. The size of the file is told to the table alone.
func TestSoundThatIsTooLongIsRefused(t *testing.T) {
	d := newDesk(t)
	s := speech
	s.rate, s.bits, s.length, s.content = 8_000, 8, 1<<31, make([]byte, 100)
	id := d.sent(s.file())
	require.Equal(t, "TRANSCODE_ERROR", d.complete(422, id)["code"], "the file ends before its sound")
	it.ChangeUpload(t, d.Table(t), d.item(id), object{"size": 5 << 30})
	require.Contains(t, d.complete(422, id)["message"], "too long")
	require.Equal(t, "recording", d.Do(200, http.MethodGet, d.path("/"+id), nil).At("data.status"))
}

func TestAWrongRecordingIsRefused(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		body  object
		field string
	}{
		{object{"size_bytes": 1}, "filename"}, {object{"filename": "", "size_bytes": 1}, "filename"}, {object{"filename": "a/b.wav", "size_bytes": 1}, "filename"},
		{object{"filename": "a\x00.wav", "size_bytes": 1}, ""}, {object{"filename": "a.wav"}, "size_bytes"}, {object{"filename": "a.wav", "size_bytes": 0}, "size_bytes"},
		{object{"filename": "a.wav", "size_bytes": 5<<30 + 1}, "size_bytes"}, {object{"filename": "a.wav", "size_bytes": 1, "content_type": "text/html"}, "content_type"},
		{object{"filename": "a.wav", "size_bytes": 1, "content_type": "audio"}, "content_type"},
	} {
		answer := d.Do(400, http.MethodPost, d.path(""), c.body)
		if c.field != "" {
			require.Equal(t, c.field, answer.At("details.field"), "%v", c.body)
		}
	}
	file := speech.file()
	id := d.sent(file)
	require.Equal(t, "file_size_bytes", d.complete(400, id, object{"file_size_bytes": len(file) + 1}).At("details.field"))
	require.Equal(t, "duration_seconds", d.complete(400, id, object{"duration_seconds": -1}).At("details.field"))
	d.Do(400, http.MethodGet, d.path("?pageSize=0"), nil)
	d.Do(400, http.MethodGet, d.path("/x"), nil)
	missing, _ := d.create(1)
	require.Contains(t, d.complete(400, missing)["message"], "bytes")
	d.complete(200, id)
}

// TestTheBytesAreTakenOnce at the signed address, in the declared size and type alone.
func TestTheBytesAreTakenOnce(t *testing.T) {
	d := newDesk(t)
	file := speech.file()
	id, signed := d.create(len(file))
	for name, wrong := range map[string]struct {
		content []byte
		change  func(*stacktest.Signed)
	}{
		"longer":         {append(speech.file(), 0), func(*stacktest.Signed) {}},
		"shorter":        {file[1:], func(*stacktest.Signed) {}},
		"another type":   {file, func(r *stacktest.Signed) { r.Headers["Content-Type"] = "text/html" }},
		"no condition":   {file, func(r *stacktest.Signed) { delete(r.Headers, "If-None-Match") }},
		"another object": {file, func(r *stacktest.Signed) { r.URL = strings.Replace(r.URL, id, uuid.NewString(), 1) }},
	} {
		other := stacktest.Signed{URL: signed.URL, Method: signed.Method, Headers: maps.Clone(signed.Headers)}
		wrong.change(&other)
		require.GreaterOrEqual(t, stacktest.SendBytes(t, other, wrong.content).Status, 400, name)
	}
	require.Contains(t, d.complete(400, id)["message"], "missing")
	require.Equal(t, 200, stacktest.SendBytes(t, signed, file).Status)
	require.Equal(t, 412, stacktest.SendBytes(t, signed, file).Status)
	d.complete(200, id)
}

// TestARecordingIsOfItsSessionAlone: another session, event or organization finds nothing.
func TestARecordingIsOfItsSessionAlone(t *testing.T) {
	d := newDesk(t)
	id := d.sent(speech.file())
	stranger, event := &it.Client{Stack: d.NewOrganization(t), T: t}, d.InNewEvent()
	for _, other := range []*desk{
		{d.Client, d.NewSessions("Another")[0]}, {stranger, stranger.NewSessions("Theirs")[0]}, {event, event.NewSessions("There")[0]},
	} {
		require.Equal(t, "Recording not found", other.complete(404, id)["message"])
		other.Do(404, http.MethodGet, other.path("/"+id), nil)
		require.Empty(t, other.Do(200, http.MethodGet, other.path(""), nil)["data"])
	}
	unknown := &desk{d.Client, uuid.NewString()}
	for _, answer := range []entity{
		unknown.complete(404, id), unknown.Do(404, http.MethodGet, unknown.path("/"+id), nil), unknown.Do(404, http.MethodGet, unknown.path(""), nil),
		unknown.Do(404, http.MethodPost, unknown.path(""), object{"filename": "a.wav", "size_bytes": 1}),
	} {
		require.Equal(t, "Session not found", answer["message"])
	}
	require.Equal(t, "Recording not found", d.complete(404, uuid.NewString())["message"])
}
