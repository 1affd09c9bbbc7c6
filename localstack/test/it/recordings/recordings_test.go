package recordings_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/shared/maintain"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

// desk is a client of the recordings of one session.
type desk struct {
	*it.Client
	session string
}

func newDesk(t *testing.T, options ...stacktest.Option) *desk {
	t.Helper()
	d := &it.Client{Stack: stacktest.Start(t, options...), T: t}
	return &desk{d, d.NewSessions("A talk")[0]}
}

// path returns the path of the session's recordings, below the event.
func (d *desk) path(rest string) string { return "/sessions/" + d.session + "/recordings" + rest }

// sound describes a WAV file.
type sound struct {
	container        string
	format, channels uint16
	rate             uint32
	bits             uint16
	before           string // chunks before the format
	length           uint32 // of the data chunk, where it is not that of the sound
	extended, cut    bool
}

// speech is the sound that is taken.
var speech = sound{container: "RIFF", format: 1, channels: 1, rate: 16_000, bits: 16}

// file returns a file with half a second of sound.
func (s sound) file() []byte {
	content := make([]byte, 16_000)
	format := binary.LittleEndian.AppendUint16(nil, s.format)
	format = binary.LittleEndian.AppendUint16(format, s.channels)
	format = binary.LittleEndian.AppendUint32(format, s.rate)
	format = binary.LittleEndian.AppendUint32(format, s.rate*uint32(s.channels)*uint32(s.bits)/8)
	format = binary.LittleEndian.AppendUint16(format, s.channels*s.bits/8)
	format = binary.LittleEndian.AppendUint16(format, s.bits)
	if s.extended {
		format = append(format, 22, 0, 16, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 16, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71)
	}
	length := uint32(len(content))
	if s.length != 0 {
		length = s.length
	}
	text := s.before + chunk("fmt ", uint32(len(format)), format)
	if s.cut {
		content = content[:100]
	}
	text += chunk("data", length, content)
	return []byte(s.container + string(binary.LittleEndian.AppendUint32(nil, uint32(len(text)+4))) + "WAVE" + text)
}

// chunk returns a chunk of a file.
func chunk(id string, length uint32, content []byte) string {
	return id + string(binary.LittleEndian.AppendUint32(nil, length)) + string(content)
}

// create creates a recording of a file and returns it with the request for its bytes.
func (d *desk) create(size int, header ...string) (id string, signed stacktest.Signed) {
	d.T.Helper()
	answer := d.Do(201, http.MethodPost, d.path(""), object{"filename": "a.wav", "size_bytes": size}, header...)
	var created struct {
		Data struct {
			ID     string
			Upload stacktest.Signed
		}
	}
	require.NoError(d.T, json.Unmarshal(it.Encode(d.T, answer), &created))
	return created.Data.ID, created.Data.Upload
}

// sent creates a recording and sends the file.
func (d *desk) sent(file []byte) (id string) {
	d.T.Helper()
	id, signed := d.create(len(file))
	answer := stacktest.SendBytes(d.T, signed, file)
	require.Equal(d.T, 200, answer.Status, "%s", answer.Body)
	return id
}

// complete completes a recording.
func (d *desk) complete(status int, id string, more ...object) entity {
	d.T.Helper()
	return d.Do(status, http.MethodPost, d.path("/"+id+"/complete"), it.Merged(object{}, more...))
}

// data returns the data of an answer.
func data(e entity) entity { return e.At("data").(object) }

// object returns the key of the bytes of a recording.
func (d *desk) object(id string) string {
	return upload.At(d.Org, d.Event).Object("recordings", d.session, id)
}

// end moves the end of a recording so far into the past.
func (d *desk) end(id string, ago time.Duration) {
	d.T.Helper()
	stored, err := d.Table(d.T).Get(d.T.Context(), upload.At(d.Org, d.Event).Key(d.session, "recording", id))
	require.NoError(d.T, err)
	var all map[string]any
	require.NoError(d.T, json.Unmarshal(stored.Data, &all))
	all["ends"] = wire.At(time.Now().Add(-ago))
	stored.Data, err = json.Marshal(all)
	require.NoError(d.T, err)
	require.NoError(d.T, d.Table(d.T).Transact(d.T.Context(), table.Replace(stored, stored.Version)))
}

// TestARecordingIsSentAndCompleted, read and listed.
func TestARecordingIsSentAndCompleted(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	file := speech.file()
	body := object{"filename": "Hall A.wav", "size_bytes": len(file), "content_type": "audio/x-wav"}
	made := data(d.Do(201, http.MethodPost, d.path(""), body, "Idempotency-Key", "one"))
	require.Equal(t, "recording", made["status"])
	require.Equal(t, map[string]any{"Content-Type": "audio/x-wav", "If-None-Match": "*"}, made.At("upload.headers"))
	again := data(d.Do(201, http.MethodPost, d.path(""), body, "Idempotency-Key", "one"))
	require.Equal(t, made["id"], again["id"], "sent twice, created once")
	signed := again.At("upload").(object)
	id := made.ID()
	waiting := d.Do(200, http.MethodGet, d.path("/"+id), nil)
	require.Nil(t, waiting.At("data.upload"))
	require.Nil(t, waiting.At("data.completed_at"))
	d.complete(400, id)
	to := stacktest.Signed{URL: signed["url"].(string), Method: "PUT", Headers: map[string]string{"Content-Type": "audio/x-wav", "If-None-Match": "*"}}
	require.Equal(t, 200, stacktest.SendBytes(t, to, file).Status)

	item := data(d.complete(200, id, object{"duration_seconds": 7, "file_size_bytes": len(file)}))
	require.Equal(t, entity{
		"id": id, "type": "recording", "session_id": d.session, "s3_bucket": "lectern", "s3_key": d.object(id), "encoding": "linear16",
		"sample_rate": 16000.0, "channels": 1.0, "status": "completed", "duration_seconds": 0.5, "file_size_bytes": float64(len(file)),
		"started_at": made["created_at"], "created_at": made["created_at"], "completed_at": item["completed_at"], "updated_at": item["updated_at"],
	}, item)
	require.Equal(t, item, data(d.complete(200, id)), "a second call changes nothing")
	require.Equal(t, item, data(d.Do(200, http.MethodGet, d.path("/"+id), nil)))
	done := data(d.Do(201, http.MethodPost, d.path(""), body, "Idempotency-Key", "one"))
	require.Equal(t, []any{"completed", nil}, []any{done["status"], done["upload"]})

	open, _ := d.create(1)
	list := d.Do(200, http.MethodGet, d.path("?pageSize=1&page=2"), nil)
	require.Equal(t, open, list.At("data").([]any)[0].(object)["id"])
	require.Equal(t, object{"current_page": 2.0, "page_size": 1.0, "total_pages": 2.0, "total_results": 2.0}, list["pagination"])
}

// TestAnEndedRecordingIsRemoved by the service's own maintenance, with the bytes.
func TestAnEndedRecordingIsRemoved(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	open := d.sent(speech.file())
	d.end(open, 2*time.Hour)
	d.Do(404, http.MethodGet, d.path("/"+open), nil)
	d.complete(404, open)
	require.EqualValues(t, 0, d.Do(200, http.MethodGet, d.path(""), nil).At("pagination.total_results"))
	require.EqualValues(t, 1, entity(d.Operator(t, "maintain", object{"cursor": object{}})).At("purged.uploads"))
	_, err := d.Bucket(t).Head(t.Context(), d.object(open))
	require.ErrorIs(t, err, blob.ErrAbsent)
}

func TestSoundThatIsNotTakenIsRefused(t *testing.T) {
	d := newDesk(t)
	like := func(change func(*sound)) []byte {
		s := speech
		change(&s)
		return s.file()
	}
	for name, file := range map[string][]byte{
		"stereo": like(func(s *sound) { s.channels = 2 }), "8 kHz": like(func(s *sound) { s.rate = 8000 }), "44.1 kHz": like(func(s *sound) { s.rate = 44_100 }),
		"24 bits": like(func(s *sound) { s.bits = 24 }), "8 bits": like(func(s *sound) { s.bits = 8 }), "floats": like(func(s *sound) { s.format = 3 }),
		"MP3 in WAV": like(func(s *sound) { s.format = 0x55 }), "another extension": like(func(s *sound) { s.format = 0xFFFE }),
		"ended early": like(func(s *sound) { s.cut = true }), "big-endian": like(func(s *sound) { s.container = "RIFX" }), "a piece of the name": like(func(s *sound) { s.container = "IFF " }),
		"half a sample": like(func(s *sound) { s.length = 15_999 }), "no end of a chunk": like(func(s *sound) { s.before = chunk("JUNK", 1<<31, nil) }),
		"MP3": append([]byte("ID3\x04"), make([]byte, 500)...), "OGG": append([]byte("OggS"), make([]byte, 500)...), "text": []byte("speech"), "one byte": {0},
		"only a header": speech.file()[:36], "only names": []byte("RIFF\x00\x00\x00\x00WAVEdata\x00\x00\x00\x00"), "HTML": []byte("<html><script>alert(1)</script>"),
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
	} {
		require.Equal(t, 0.5, data(d.complete(200, d.sent(file)))["duration_seconds"], name)
	}
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

// TestSimultaneousCompletionsAreOne change.
func TestSimultaneousCompletionsAreOne(t *testing.T) {
	d := newDesk(t)
	changes := d.WatchChanges("recording")
	id := d.sent(speech.file())
	var all sync.WaitGroup
	answers := make([]stacktest.Answer, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = d.TrySend(t, http.MethodPost, d.EventPath(d.path("/"+id+"/complete")), object{})
		})
	}
	all.Wait()
	for _, a := range answers {
		require.Equal(t, 200, a.Status, "%s", a.Body)
		require.JSONEq(t, string(answers[0].Body), string(a.Body))
	}
	actions := []string{}
	for _, c := range changes.Since() {
		actions = append(actions, c.Action)
	}
	require.Equal(t, []string{"recording.created", "recording.completed"}, actions)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestBytesThatNeverComeLeaveNothing, and those of a purged session neither.
func TestBytesThatNeverComeLeaveNothing(t *testing.T) {
	d := newDesk(t)
	kept := d.sent(speech.file())
	d.complete(200, kept)
	unsent, _ := d.create(1)
	unfinished := d.sent(speech.file())
	require.EqualValues(t, 2, d.maintain(2))
	for _, id := range []string{unsent, unfinished} {
		d.Do(404, http.MethodGet, d.path("/"+id), nil)
		_, err := d.Bucket(t).Head(t.Context(), d.object(id))
		require.ErrorIs(t, err, blob.ErrAbsent)
	}
	first, err := d.Bucket(t).First(t.Context(), d.object(kept), 4)
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte("RIFF"), first), fmt.Sprint(first))
	d.Delete(200, d.session)
	d.Do(404, http.MethodGet, d.path("/"+kept), nil)
	require.EqualValues(t, 1, d.maintain(31))
	_, err = d.Bucket(t).Head(t.Context(), d.object(kept))
	require.ErrorIs(t, err, blob.ErrAbsent)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// maintain does the whole of maintenance so many days from now, and returns the number of removed
// uploads.
func (d *desk) maintain(days int) (removed int64) {
	d.T.Helper()
	env := d.Env(d.T)
	env.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
	for cursor := (&maintain.Cursor{}); cursor != nil; {
		done, err := operator.New(env).Do(d.T.Context(), operator.Maintain, it.Encode(d.T, object{"cursor": cursor}))
		require.NoError(d.T, err)
		report := done.(*maintain.Report)
		require.Zero(d.T, report.Failed)
		removed, cursor = removed+report.Purged.Uploads, report.Cursor
	}
	return removed
}
