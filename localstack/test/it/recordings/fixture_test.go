package recordings_test

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/shared/table"
	"lectern/shared/upload"
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
	after            string // chunks after the sound
	extended, cut    bool
	// inner is the format that an extension names, and content the sound; without it, half a second of silence.
	inner   uint16
	content []byte
	// gap is a number of bytes between frames.
	gap uint16
}

// speech is the sound that is taken.
var speech = sound{container: "RIFF", format: 1, channels: 1, rate: 16_000, bits: 16}

// file returns a file with the sound.
func (s sound) file() []byte {
	content := s.content
	if content == nil {
		content = make([]byte, 16_000)
	}
	format := binary.LittleEndian.AppendUint16(nil, s.format)
	format = binary.LittleEndian.AppendUint16(format, s.channels)
	format = binary.LittleEndian.AppendUint32(format, s.rate)
	format = binary.LittleEndian.AppendUint32(format, s.rate*uint32(s.channels)*uint32(s.bits)/8)
	format = binary.LittleEndian.AppendUint16(format, s.channels*s.bits/8+s.gap)
	format = binary.LittleEndian.AppendUint16(format, s.bits)
	if s.extended {
		format = append(format, 22, 0, byte(s.bits), 0, 4, 0, 0, 0, byte(max(s.inner, 1)), 0, 0, 0, 0, 0, 16, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71)
	}
	length := uint32(len(content))
	if s.length != 0 {
		length = s.length
	}
	text := s.before + chunk("fmt ", uint32(len(format)), format)
	if s.cut {
		content = content[:100]
	}
	text += chunk("data", length, content) + s.after
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

// item returns the key of the record of a recording.
func (d *desk) item(id string) table.Key {
	return upload.At(d.Org, d.Event).Key(d.session, "recording", id)
}

// end moves the end of a recording so far into the past.
func (d *desk) end(id string, ago time.Duration) {
	d.T.Helper()
	it.EndUpload(d.T, d.Table(d.T), d.item(id), ago)
}

// requireGone checks that a recording has neither bytes nor a record.
func (d *desk) requireGone(id string) {
	d.T.Helper()
	d.Do(404, http.MethodGet, d.path("/"+id), nil)
	_, err := d.Bucket(d.T).Head(d.T.Context(), d.object(id))
	require.ErrorIs(d.T, err, blob.ErrAbsent)
	_, err = d.Table(d.T).Get(d.T.Context(), d.item(id))
	require.ErrorIs(d.T, err, table.ErrNotFound)
}
