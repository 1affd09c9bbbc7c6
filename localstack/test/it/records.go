package it

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/session"
	"lectern/shared/table"
)

// Object is a JSON body. Its numbers are float64.
type Object = map[string]any

// Entity is a record as the service answers it. Its numbers are float64.
type Entity map[string]any

// Page holds one page of a search or list.
type Page struct {
	Results    []Entity
	Pagination struct{ CurrentPage, PageSize, TotalPages, TotalResults int }
}

// UnknownEvent and UnknownID are ids without a record.
const (
	UnknownEvent = 999_999_999
	UnknownID    = "00000000-0000-4000-8000-000000000000"
)

// ID returns the property id.
func (r Entity) ID() string { return r.Text("id") }

// Text returns a string property, empty for any other type.
func (r Entity) Text(name string) string {
	s, _ := r[name].(string)
	return s
}

// At returns the property at a path such as track.name; nil without such a property.
func (r Entity) At(path string) any {
	var value any = Object(r)
	for name := range strings.SplitSeq(path, ".") {
		inner, ok := value.(Object)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

// List returns a property that is an array of objects.
func (r Entity) List(name string) []Entity {
	items, _ := r[name].([]any)
	all := make([]Entity, len(items))
	for i, item := range items {
		inner, _ := item.(Object)
		all[i] = inner
	}
	return all
}

// Keys returns the names of the properties.
func (r Entity) Keys() []string {
	return slices.Collect(maps.Keys(r))
}

// FieldValue returns the shown value of a custom field; nil without a value.
func (r Entity) FieldValue(internalName string) any {
	for _, shown := range r.List("custom_fields") {
		if shown["internal_name"] == internalName {
			return shown["value"]
		}
	}
	return nil
}

// ShownKeys returns the sorted keys of a participant, without the time of the invitation.
func ShownKeys(e Entity) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e)), func(name string) bool { return name == "acceptance_invite_sent_at" })
}

// KeysOf returns the sorted keys of a record, separated by spaces.
func KeysOf(r Entity) string {
	return strings.Join(slices.Sorted(maps.Keys(r)), " ")
}

// RequireOperatorError runs a command that must be refused and returns the error.
func RequireOperatorError(t *testing.T, s *stacktest.Stack, command string, input any) *apierr.Error {
	t.Helper()
	_, err := s.TryOperator(t, command, input)
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused, "%s %v", command, input)
	return refused
}

// Encode returns a value as JSON.
func Encode(t *testing.T, value any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// OldestFirst compares records by creation time, then by id.
func OldestFirst(a, b Entity) int {
	return cmp.Or(cmp.Compare(a.Text("created_at"), b.Text("created_at")), cmp.Compare(a.ID(), b.ID()))
}

// SortedIDs returns the ids of records in the order of compare, equal records by id.
func SortedIDs(all []Entity, compare func(a, b Entity) int) []string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Entity) int { return cmp.Or(compare(a, b), cmp.Compare(a.ID(), b.ID())) })
	return Texts(all, "id")
}

// ByTime returns a comparison by the time of that name; records without the time come
// last.
func ByTime(name string, desc bool) func(a, b Entity) int {
	return func(a, b Entity) int {
		x, y := a.Text(name), b.Text(name)
		switch {
		case x == "" || y == "":
			return cmp.Compare(map[bool]int{true: 1}[x == ""], map[bool]int{true: 1}[y == ""])
		case desc:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
}

// Query returns a query string of the parts, such as expand=composition.
func Query(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// Merged returns an object with the properties of all; later objects win.
func Merged(body Object, more ...Object) Object {
	all := Object{}
	for _, part := range append([]Object{body}, more...) {
		maps.Copy(all, part)
	}
	return all
}

// Column returns the property at a path of every record.
func Column(records []Entity, path string) []any {
	values := make([]any, len(records))
	for i, r := range records {
		values[i] = r.At(path)
	}
	return values
}

// Texts returns the string at a path of every record.
func Texts(records []Entity, path string) []string {
	values := make([]string, len(records))
	for i, r := range records {
		values[i], _ = r.At(path).(string)
	}
	return values
}

// ByID returns the record with the id.
func ByID(t *testing.T, records []Entity, id string) Entity {
	t.Helper()
	for _, r := range records {
		if r.ID() == id {
			return r
		}
	}
	require.Fail(t, "not among the records", id)
	return nil
}

// RequireError checks the form of an error, its code and the field in its details. An
// empty field must be absent.
func RequireError(t *testing.T, answer Entity, code, field string) {
	t.Helper()
	require.NotEmpty(t, answer["name"], "%v", answer)
	require.Equal(t, answer["name"], answer["error"])
	require.NotEmpty(t, answer["message"])
	require.Equal(t, code, answer.Text("code"), "%v", answer)
	got, _ := answer.At("details.field").(string)
	require.Equal(t, field, got, "%v", answer)
	require.NotContains(t, answer, "valid_options", "those belong to bulk answers")
}

// RequireInvalid checks a 400 that names the field.
func RequireInvalid(t *testing.T, answer Entity, field string) {
	t.Helper()
	RequireError(t, answer, "VALIDATION_ERROR", field)
	require.Equal(t, "ValidationError", answer["name"])
}

// Pick returns the named properties of a record.
func Pick(r Entity, names ...string) Object {
	part := Object{}
	for _, name := range names {
		part[name] = r[name]
	}
	return part
}

// DecimalOf returns a number in decimal digits.
func DecimalOf(n int64) string { return strconv.FormatInt(n, 10) }

// RequireFeatureDisabled checks the 403 for a feature that the event has switched off.
func RequireFeatureDisabled(t *testing.T, answer Entity) {
	t.Helper()
	RequireError(t, answer, "FEATURE_NOT_ENABLED", "")
	require.Equal(t, "ForbiddenError", answer["name"])
	require.NotContains(t, answer, "reason")
}

// AtUnknownEvent returns the caller with ids of an unknown event and organization.
func AtUnknownEvent(s *stacktest.Stack) *stacktest.Stack {
	other := *s
	other.Event, other.Org = UnknownEvent, UnknownEvent
	return &other
}

// mediaBytes is the content of a sample of media.
var mediaBytes = []byte("film")

// newMedia begins an upload of a new session, sends its only part unless the operation does, and
// completes the upload for a read. It returns the session's id for initiate, and otherwise after it the
// id for the path or what bodyOfMedia needs.
func newMedia(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	session := MustCreate(t, s, "/sessions/create", SampleDraft("sessions"))
	if strings.HasSuffix(op.Path, "/initiate") {
		return session
	}
	path := s.EventPath("/sessions/" + session + "/media/upload/")
	opened := Entity(s.Call(t, 201, "POST", path+"initiate", SampleDraft(media)).JSON(t))
	key, upload := opened.At("data.key").(string), opened.At("data.upload_id").(string)
	target := Object{"key": key, "upload_id": upload}
	var signed struct {
		Data struct{ Parts []stacktest.Signed }
	}
	s.Call(t, 200, "POST", path+"sign-part", Merged(target, Object{"part_numbers": []int{1}})).Into(t, &signed)
	sent := stacktest.SendBytes(t, signed.Data.Parts[0], mediaBytes)
	require.Equal(t, 200, sent.Status, "%s", sent.Body)
	record := key + "|" + upload + "|" + sent.Header.Get("ETag")
	if op.Method != http.MethodGet {
		return session + "/" + record
	}
	body := bodyOfMedia(api.Operation{Path: "/complete"}, record)
	return session + "/" + Entity(s.Call(t, 201, "POST", path+"complete", body).JSON(t)).At("data.id").(string)
}

// bodyOfMedia returns the body of a step of an upload: key, id and the ETag of the part, with bars
// between them.
func bodyOfMedia(op api.Operation, record string) any {
	if strings.HasSuffix(op.Path, "/initiate") {
		return SampleDraft(media)
	}
	parts := append(strings.Split(record, "|"), "unknown", "unknown")
	body := Object{"key": parts[0], "upload_id": parts[1]}
	switch {
	case strings.HasSuffix(op.Path, "/sign-part"):
		body["part_numbers"] = []int{1}
	case strings.HasSuffix(op.Path, "/complete"):
		body = Merged(body, SampleDraft(media), Object{"parts": []any{Object{"part_number": 1, "etag": parts[2]}}})
	}
	return body
}

// Speech is a WAV file of two samples of the sound that recordings take.
const Speech = "RIFF\x28\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00" +
	"data\x04\x00\x00\x00\x00\x00\x00\x00"

// newRecording creates a session, and a recording with its bytes for an operation on one. It returns
// the session's id, and after it the recording's.
func newRecording(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	session := MustCreate(t, s, "/sessions/create", SampleDraft("sessions"))
	if !strings.Contains(op.Path, "{id}") {
		return session
	}
	var created struct {
		Data struct {
			ID     string
			Upload stacktest.Signed
		}
	}
	s.Call(t, 201, "POST", s.EventPath("/sessions/"+session+"/recordings"), SampleDraft(recordings)).Into(t, &created)
	sent := stacktest.SendBytes(t, created.Data.Upload, []byte(Speech))
	require.Equal(t, 200, sent.Status, "%s", sent.Body)
	return session + "/" + created.Data.ID
}

// LoseRow removes the row of a session, as some damage may.
func LoseRow(t *testing.T, s *stacktest.Stack, id string) {
	t.Helper()
	items, rows, lost := s.Table(t), session.Of(s.Org, s.Event).Rows().Rows, []table.Write(nil)
	all, err := items.Versions(t.Context(), rows, "0", "~")
	require.NoError(t, err)
	for key := range all {
		if strings.HasSuffix(key, "#"+id) {
			lost = append(lost, table.Delete(table.Key{PK: rows, SK: key}))
		}
	}
	require.Len(t, lost, 1)
	require.NoError(t, items.Transact(t.Context(), lost...))
}

// bodies return the bodies of collections whose operations have bodies of their own, as bodyOf does.
var bodies = map[string]func(api.Operation, string) any{
	media: bodyOfMedia, awards: awardDraft, queries: queryDraft, dashboards: dashboardDraft, widgets: dashboardDraft,
	insights: questionOf,
}

// makers create the records of collections that no plain create makes, as NewRecord does.
var makers = map[string]func(*testing.T, api.Operation, *stacktest.Stack) string{
	awards: newAward, insights: noRecord, queries: newReport, dashboards: newReport, widgets: newReport,
	webhooks: newWebhook, media: newMedia, recordings: newRecording, files: newFile,
	placements: newPlacement,
}
