package sessionfiles_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/sessionfile"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

// desk is a client of the slots of an event, and of the files of one of its sessions.
type desk struct {
	*it.Client
	session string
}

// newDesk returns a client of an event with the features.
func newDesk(t *testing.T, features ...string) *desk {
	t.Helper()
	c := it.NewClient(t, features...)
	return &desk{c, c.NewSessions("A talk")[0]}
}

// of returns a client of the files of another session.
func (d *desk) of(session string) *desk { return &desk{d.Client, session} }

// newSlot creates a slot with a name.
func (d *desk) newSlot(name string, more ...object) entity {
	d.T.Helper()
	return d.Command("content-slot-create", it.Merged(object{"name": name, "content_type": "presentation"}, more...))
}

// archive archives a slot.
func (d *desk) archive(id string) {
	d.T.Helper()
	d.Command("content-slot-update", object{"slot_id": id, "is_active": false})
}

// slots returns the slots of a list.
func (d *desk) slots(parts ...string) []entity {
	d.T.Helper()
	return d.Do(http.StatusOK, http.MethodGet, "/content-slots"+it.Query(parts), nil).List("data")
}

// names returns the names of the slots of a list.
func (d *desk) names(parts ...string) []string {
	d.T.Helper()
	return it.Texts(d.slots(parts...), "name")
}

// ofSession returns the names of the slots that apply to a session.
func (d *desk) ofSession(id string) []string {
	d.T.Helper()
	return d.names("session_id=" + id)
}

// pdf is a small PDF.
const pdf = "%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"

// path returns the path of the session's files, below the event.
func (d *desk) path(rest ...string) string {
	return "/sessions/" + d.session + "/files" + strings.Join(rest, "")
}

// draft returns the body of a create of a file with the bytes.
func draft(text string, more ...object) object {
	return it.Merged(object{"filename": "slides.pdf", "size_bytes": len(text)}, more...)
}

// begin begins the upload of a new file.
func (d *desk) begin(text string, more ...object) entity {
	d.T.Helper()
	return d.Do(http.StatusCreated, http.MethodPost, d.path(), draft(text, more...)).At("data").(object)
}

// put sends bytes as an upload asks for, and returns the status.
func put(t *testing.T, upload entity, text string) int {
	t.Helper()
	return it.SendUpload(t, upload, text)
}

// complete completes a file.
func (d *desk) complete(status int, id string) entity {
	d.T.Helper()
	answer := d.Do(status, http.MethodPost, d.path("/", id, "/complete"), nil)
	if status != http.StatusOK {
		return answer
	}
	require.Equal(d.T, []string{"data"}, answer.Keys())
	return answer.At("data").(object)
}

// add uploads a file and returns it.
func (d *desk) add(text string, more ...object) entity {
	d.T.Helper()
	begun := d.begin(text, more...)
	require.Equal(d.T, http.StatusOK, put(d.T, begun, text))
	return d.complete(http.StatusOK, begun.ID())
}

// list returns the files of the session.
func (d *desk) list(parts ...string) []entity {
	d.T.Helper()
	return d.Do(http.StatusOK, http.MethodGet, d.path()+it.Query(parts), nil).List("data")
}

// link returns the path of a file's address.
func link(t *testing.T, file entity) string {
	t.Helper()
	address, err := url.Parse(file.Text("url"))
	require.NoError(t, err)
	at := strings.Index(address.Path, "/files/")
	require.GreaterOrEqual(t, at, 0, address.Path)
	return address.Path[at:]
}

// follow asks for the address of a file without a token, and returns where it leads.
func (d *desk) follow(status int, file entity) string {
	d.T.Helper()
	answer := d.As("").Call(d.T, status, http.MethodGet, link(d.T, file), nil)
	return answer.Header.Get("Location")
}

// download returns the bytes of a file with the header of the answer.
func (d *desk) download(file entity) (string, http.Header) {
	d.T.Helper()
	request, err := http.NewRequestWithContext(d.T.Context(), http.MethodGet, d.follow(http.StatusFound, file), nil)
	require.NoError(d.T, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(d.T, err)
	defer func() { require.NoError(d.T, answer.Body.Close()) }()
	var text bytes.Buffer
	_, err = text.ReadFrom(answer.Body)
	require.NoError(d.T, err)
	require.Equal(d.T, http.StatusOK, answer.StatusCode, text.String())
	return text.String(), answer.Header
}

// content returns the files that the session shows.
func (d *desk) content() []entity {
	d.T.Helper()
	return d.Get(http.StatusOK, d.session).List("content")
}

// insert stores a record of bytes under an id.
func (d *desk) insert(t *testing.T, id string, record []byte) {
	t.Helper()
	key := upload.At(d.Org, d.Event).Key(d.session, sessionfile.Kind.Name, id)
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Insert(table.Item{Key: key, Version: 1, Data: record})))
}
