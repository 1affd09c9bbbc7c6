package media_test

import (
	"bytes"
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

// desk is a client of the media of one session.
type desk struct {
	*it.Client
	session string
}

func newDesk(t *testing.T, options ...stacktest.Option) *desk {
	t.Helper()
	d := &it.Client{Stack: stacktest.Start(t, options...), T: t}
	return &desk{d, d.NewSessions("A talk")[0]}
}

// of returns a client of the media of another session.
func (d *desk) of(session string) *desk { return &desk{d.Client, session} }

// path returns the path of the session's media, below the event.
func (d *desk) path(rest string) string { return "/sessions/" + d.session + "/media" + rest }

// post sends a step of an upload and returns the answer.
func (d *desk) post(status int, step string, body any, header ...string) entity {
	d.T.Helper()
	return d.Do(status, http.MethodPost, d.path("/upload/"+step), body, header...)
}

// data returns the data of an answer.
func data(e entity) entity { return e.At("data").(object) }

// first is the content of a part that another may follow, last that of a part that none may.
var (
	first = bytes.Repeat([]byte("film"), blob.MinPart/4)
	last  = []byte("end")
	size  = len(first) + len(last)
)

// pending is an upload of a test.
type pending struct {
	target object
	// parts are the parts for complete.
	parts []object
}

// initiate begins the upload of a file of size bytes.
func (d *desk) initiate(size int, header ...string) *pending {
	d.T.Helper()
	opened := data(d.post(201, "initiate", object{"filename": "Keynote.MP4", "size_bytes": size}, header...))
	return &pending{target: object{"key": opened["key"], "upload_id": opened["upload_id"]}}
}

// sign signs parts.
func (d *desk) sign(p *pending, numbers ...int) []stacktest.Signed {
	d.T.Helper()
	answer := d.post(200, "sign-part", it.Merged(p.target, object{"part_numbers": numbers}))
	var signed struct {
		Data struct{ Parts []stacktest.Signed }
	}
	require.NoError(d.T, json.Unmarshal(it.Encode(d.T, answer), &signed))
	require.Len(d.T, signed.Data.Parts, len(numbers))
	return signed.Data.Parts
}

// send sends a part and notes its ETag.
func (d *desk) send(p *pending, number int, content []byte) {
	d.T.Helper()
	answer := stacktest.SendBytes(d.T, d.sign(p, number)[0], content)
	require.Equal(d.T, 200, answer.Status, "%s", answer.Body)
	p.parts = append(p.parts, object{"part_number": number, "etag": answer.Header.Get("ETag")})
}

// sent begins an upload and sends both parts.
func (d *desk) sent() *pending {
	d.T.Helper()
	p := d.initiate(size)
	d.send(p, 1, first)
	d.send(p, 2, last)
	return p
}

// completion returns the body that completes the upload.
func (p *pending) completion(more ...object) object {
	return it.Merged(p.target, append([]object{{"filename": "Keynote.MP4", "size_bytes": size, "parts": p.parts}}, more...)...)
}

// key returns the key of the bytes.
func (p *pending) key() string { return p.target["key"].(string) }

// item returns the key of the record of an upload.
func (d *desk) item(p *pending) table.Key {
	d.T.Helper()
	place := upload.At(d.Org, d.Event)
	id, ok := place.IDOf("media", d.session, p.key())
	require.True(d.T, ok)
	return place.Key(d.session, "media_item", id)
}

// join makes the object of an upload, as a request does that ends before it writes the item.
func (d *desk) join(p *pending) {
	d.T.Helper()
	parts, err := d.Bucket(d.T).Parts(d.T.Context(), p.multipart())
	require.NoError(d.T, err)
	require.NoError(d.T, d.Bucket(d.T).Complete(d.T.Context(), p.multipart(), parts))
}

// multipart returns the upload as the bucket knows it.
func (p *pending) multipart() blob.Multipart {
	return blob.Multipart{Key: p.key(), ID: p.target["upload_id"].(string)}
}

// end moves the end of an upload so far into the past.
func (d *desk) end(p *pending, ago time.Duration) {
	d.T.Helper()
	it.EndUpload(d.T, d.Table(d.T), d.item(p), ago)
}

// requireGone checks that an upload has neither bytes, nor parts, nor a record.
func (d *desk) requireGone(p *pending) {
	d.T.Helper()
	_, err := d.Bucket(d.T).Head(d.T.Context(), p.key())
	require.ErrorIs(d.T, err, blob.ErrAbsent)
	_, err = d.Bucket(d.T).Parts(d.T.Context(), p.multipart())
	require.ErrorIs(d.T, err, blob.ErrAbsent)
	_, err = d.Table(d.T).Get(d.T.Context(), d.item(p))
	require.ErrorIs(d.T, err, table.ErrNotFound)
}
