package bytes_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/tools/bench/scale"
)

// stereo returns the header of a WAV file with 16-bit stereo of 48 kHz, of size bytes of sound.
func stereo(size int) []byte {
	const channels, rate, frame = 2, 48_000, 4
	head := []byte("RIFF")
	head = binary.LittleEndian.AppendUint32(head, uint32(36+size))
	head = append(head, "WAVEfmt \x10\x00\x00\x00\x01\x00"...)
	head = binary.LittleEndian.AppendUint16(head, channels)
	head = binary.LittleEndian.AppendUint32(head, rate)
	head = binary.LittleEndian.AppendUint32(head, rate*frame)
	head = binary.LittleEndian.AppendUint16(head, frame)
	head = binary.LittleEndian.AppendUint16(head, 16)
	head = append(head, "data"...)
	return binary.LittleEndian.AppendUint32(head, uint32(size))
}

// TestAConversion of a recording, from the answer of complete until the recording is completed.
func TestAConversion(t *testing.T) {
	c := &it.Client{Stack: stacktest.Start(t, stacktest.Publishing()), T: t}
	b := &bench{c, c.NewSessions("A session with sound")[0]}
	size := scale.Size(4*megabyte, 600*megabyte)
	head := stereo(size)
	created := b.post(201, "/recordings", it.Object{"filename": "hall.wav", "size_bytes": size + len(head)})
	var signed stacktest.Signed
	require.NoError(t, json.Unmarshal(it.Encode(t, created["upload"]), &signed))
	b.put(signed, io.MultiReader(bytes.NewReader(head), io.LimitReader(zeros{}, int64(size))), int64(size+len(head)))

	id, _ := created["id"].(string)
	require.Equal(t, "recording", b.post(200, "/recordings/"+id+"/complete", it.Object{})["status"])
	began := time.Now()
	require.Eventually(t, func() bool {
		return b.Do(200, http.MethodGet, "/sessions/"+b.session+"/recordings/"+id, nil).At("data.status") == "completed"
	}, 5*time.Minute, 200*time.Millisecond)
	t.Logf("16-bit stereo of 48 kHz, %.0f s of sound: converted in %s, %s of the source",
		float64(size)/192_000, time.Since(began).Round(time.Millisecond), perSecond(size, time.Since(began)))
}
