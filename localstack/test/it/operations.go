package it

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/functions/mcp"
	"lectern/functions/oauth"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/auth"
)

// Kind describes one of the four records that share bulk, versions and soft delete.
type Kind struct {
	Collection string
	// Module is the module of the kind's custom fields. TextField takes any text,
	// LongField 64 KB of text, and a create needs RequiredField.
	Module, TextField, LongField, RequiredField string
	// PlainErrors says that an error of a bulk is a message alone.
	PlainErrors bool
}

// Kinds lists the four kinds.
var Kinds = []Kind{
	{Collection: "sessions", Module: "session", TextField: "title", LongField: "description", RequiredField: "title"},
	{Collection: "contacts", Module: "contact", TextField: "title", LongField: "about", RequiredField: "email", PlainErrors: true},
	{Collection: "sponsors", Module: "account", TextField: "name", LongField: "description", RequiredField: "name"},
	{Collection: "exhibitors", Module: "account", TextField: "name", LongField: "description", RequiredField: "name"},
}

// WithText returns a body with the text alone.
func (k Kind) WithText(text string) Object { return Object{k.TextField: text} }

// Draft returns a body for a create, with the text.
func (k Kind) Draft(text string) Object { return Merged(SampleDraft(k.Collection), k.WithText(text)) }

// CreatePath returns the path of the create, below the event.
func (k Kind) CreatePath() string { return "/" + k.Collection + "/create" }

// BulkPath returns the path of the bulk, below the event.
func (k Kind) BulkPath() string { return "/" + k.Collection + "/bulk" }

// Path returns the path of one record, below the event.
func (k Kind) Path(id string) string { return "/" + k.Collection + "/" + id }

// Count returns the number of records of the event.
func (k Kind) Count(s *stacktest.Stack) int {
	return stacktest.Call[Page](s, http.StatusOK, http.MethodPost, s.EventPath("/"+k.Collection), Object{}).Pagination.TotalResults
}

// Mark returns a property that identifies the record in a search and that no update of the
// text changes.
func (k Kind) Mark(made Entity) string {
	if k.Collection == "contacts" {
		return made.Text("email")
	}
	return made.Text("friendly_id")
}

// FindByMark returns the search for the record of a mark.
func (k Kind) FindByMark(s *stacktest.Stack, mark string) Request {
	if k.Collection == "sessions" {
		return Request{http.MethodGet, s.EventPath("/sessions?page_size=100&search=" + mark), nil}
	}
	return Request{http.MethodPost, s.EventPath(fmt.Sprintf("/%s?pageSize=100", k.Collection)), Object{"filters": Object{"search": mark}}}
}

// RequireError checks that operation i failed with the code for the field and returns the
// error. Errors of contacts are a message alone.
func (k Kind) RequireError(t *testing.T, o BulkAnswer, i int, code, field string) Entity {
	t.Helper()
	if k.PlainErrors {
		message := o.PlainError(t, i)
		require.NotContains(t, message, "unexpected", "an error that nobody foresaw")
		require.Contains(t, message, field)
		return Entity{"message": message}
	}
	return o.Failed(t, i, code, field)
}

// Operations returns all routes of the service but those of OAuth and MCP: no API token opens these, and their tests have browsers and
// assistants (areas connections and assistants).
func Operations() []api.Operation {
	var all []api.Operation
	for _, group := range functions.Groups {
		if group.Name != oauth.Group.Name && group.Name != mcp.Group.Name {
			all = append(all, group.Operations...)
		}
	}
	return all
}

// noID lists the segments of routes' paths that name no record.
var noID = []string{"{eventId}", "{orgId}", documentType}

// anID reports whether a segment of a route's path names a record, such as {sessionId}.
func anID(segment string) bool {
	return strings.HasPrefix(segment, "{") && !slices.Contains(noID, segment)
}

// OnRecord reports whether the operation's path names a record.
func OnRecord(op api.Operation) bool { return slices.ContainsFunc(strings.Split(op.Path, "/"), anID) }

// NamesOwner reports whether the operation's path names an event or organization.
func NamesOwner(op api.Operation) bool {
	return strings.Contains(op.Path, "{eventId}") || strings.Contains(op.Path, "{orgId}")
}

// OfOrganization reports whether the operation is about records of the organization.
func OfOrganization(op api.Operation) bool {
	return strings.Contains(op.Path, "{orgId}") || CollectionOf(op) == webhooks || OfWholeOrganization(op) ||
		CollectionOf(op) == insights && !NamesOwner(op)
}

// OfWholeOrganization reports whether the operation refuses every caller who is limited to events.
func OfWholeOrganization(op api.Operation) bool {
	return slices.Contains([]string{gdpr, awards}, CollectionOf(op)) ||
		slices.Contains(reportCollections, CollectionOf(op)) && !strings.Contains(op.Path, "{eventId}")
}

// The collections below the caller's organization that the path does not name, the collections
// of records below a session, and that of the content made of transcriptions.
const (
	webhooks       = "webhooks"
	gdpr           = "gdpr"
	transcriptions = "transcriptions"
	media          = "media"
	recordings     = "recordings"
	content        = "content"
	files          = "files"
	drafts         = "agenda-drafts"
)

// placements is the name of the sessions of a draft here. No path has it.
const placements = "draft-sessions"

// belowSessions are the collections of records below a session.
var belowSessions = []string{transcriptions, media, recordings, files}

// IsBelow reports whether a path to a record of a collection also names a record of another, or the
// record above it.
func IsBelow(collection, other string) bool {
	return slices.Contains(belowSessions, collection) && (other == "sessions" || slices.Contains(belowSessions, other)) ||
		collection == placements && other == drafts || collection == drafts && other == placements
}

// OutcomeOf returns the status of a request of RequestFor. None makes a delivery or an archive, or names a link to bytes.
func OutcomeOf(op api.Operation) int {
	if strings.HasSuffix(op.Path, "/ai/generate") {
		return http.StatusServiceUnavailable // No region of the tests has a model.
	}
	if strings.Contains(op.Path, "{deliveryId}") || strings.Contains(op.Path, "{version}") || strings.HasSuffix(op.Path, "/archive") {
		return http.StatusNotFound
	}
	return op.Status
}

// NeedsReadScope reports whether the operation needs a read scope of the kinds in its body beside
// the scopes of its route.
func NeedsReadScope(op api.Operation) bool {
	return CollectionOf(op) == webhooks && (op.Method == http.MethodPut || strings.HasSuffix(op.Path, "/create"))
}

// CollectionOf returns the collection in a route's path, such as sessions; empty without
// an event or organization in the path.
func CollectionOf(op api.Operation) string {
	if _, below, ok := strings.Cut(op.Path, "/"+insights+"/"); ok {
		return collectionOfInsights(below)
	}
	for _, collection := range append([]string{webhooks, gdpr}, reportCollections...) {
		if op.Path == "/v1/"+collection || strings.HasPrefix(op.Path, "/v1/"+collection+"/") {
			return collection
		}
	}
	if strings.HasSuffix(op.Path, "/"+transcriptions+"/{id}") {
		return transcriptions
	}
	if strings.Contains(op.Path, "{fileId}") {
		return files
	}
	if strings.Contains(op.Path, "{draftId}/sessions") {
		return placements
	}
	for _, collection := range []string{media, recordings} {
		if strings.Contains(op.Path+"/", "/{sessionId}/"+collection+"/") {
			return collection
		}
	}
	if segments := strings.Split(op.Path, "/"); len(segments) > 4 {
		return segments[4]
	}
	return ""
}

// byAddress reports whether the operation names a record in its query.
func byAddress(op api.Operation) bool {
	return op.Method == http.MethodGet && CollectionOf(op) == "participants"
}

// RequestFor returns a request for the operation on the caller's event and organization
// and on the record, with a body that the operation accepts. The id of a record below another
// follows the other's id and a slash.
func RequestFor(op api.Operation, s *stacktest.Stack, record string) Request {
	segments := strings.Split(op.Path, "/")
	above, id, both := strings.Cut(record, "/")
	if !both {
		id = above
	}
	for i, segment := range segments {
		switch {
		case segment == "{eventId}":
			segments[i] = fmt.Sprint(s.Event)
		case segment == "{orgId}":
			segments[i] = fmt.Sprint(s.Org)
		case segment == "{sessionId}" && slices.Contains(belowSessions, CollectionOf(op)), segment == "{draftId}":
			segments[i] = above
		case segment == "{version}":
			segments[i] = UnknownID
		case segment == documentType:
			segments[i] = documentOf(op)
		case anID(segment):
			segments[i] = id
		}
	}
	if CollectionOf(op) == awards {
		segments = awardPath(op, segments, record)
	}
	path := strings.Join(segments, "/")
	if byAddress(op) {
		path += "?email=" + id
	}
	return Request{op.Method, path, bodyOf(op, id)}
}

// CallerOf returns the caller with a token that has a scope of the operation. Only a log export
// token has auth.ReadAuditLogs, and it has no other scope.
func CallerOf(t *testing.T, op api.Operation, s *stacktest.Stack) *stacktest.Stack {
	t.Helper()
	if !slices.Contains(op.Scopes, auth.ReadAuditLogs) {
		return s
	}
	return s.As(s.TokenWith(t, map[string]any{"kind": "log_export"}))
}

// bodyOf returns a body that the operation accepts. The body of a step of an upload names the record.
func bodyOf(op api.Operation, record string) any {
	switch path := op.Path; {
	case takesNoBody(op):
		return nil
	case bodies[CollectionOf(op)] != nil:
		return bodies[CollectionOf(op)](op, record)
	case strings.HasSuffix(path, "/complete"):
		return nil
	case strings.Contains(path, "{draftId}/"):
		return bodyBelowDraft(op, record)
	case strings.HasSuffix(path, "/bulk"):
		return BulkOf(map[string]any{"action": "create", "data": SampleDraft(CollectionOf(op))})
	case strings.HasSuffix(path, "/"+transcriptions), strings.HasSuffix(path, "/"+recordings), strings.HasSuffix(path, "/"+files):
		return SampleDraft(path[strings.LastIndex(path, "/")+1:])
	case strings.HasSuffix(path, "/"+files+"/upload"):
		return SampleForm()
	case strings.HasSuffix(path, "/{sessionId}/fields"):
		return map[string]any{"values": map[string]any{}}
	case strings.HasSuffix(path, "/replay"):
		return map[string]any{"since": "2027-05-11T00:00:00Z", "until": "2027-05-12T00:00:00Z"}
	case strings.HasSuffix(path, "/create"), strings.HasSuffix(path, "/replace"), op.Method == http.MethodPut, CollectionOf(op) == gdpr:
		return SampleDraft(CollectionOf(op))
	}
	return map[string]any{} // A search.
}

// SampleDraft returns a body for a create or an update of a record of the collection.
func SampleDraft(collection string) map[string]any {
	id := uuid.NewString()
	name := "Sample " + id
	switch collection {
	case "sessions":
		return map[string]any{"title": name}
	case "contacts":
		return map[string]any{"email": id + "@example.org", "first_name": name}
	case "fields":
		return map[string]any{"name": name, "type": "text", "module_id": "session"}
	case "rules":
		return map[string]any{"name": name, "type": "room_capacity"}
	case recordings:
		return map[string]any{"filename": name + ".wav", "size_bytes": len(Speech)}
	case media:
		return map[string]any{"filename": name + ".mp4", "size_bytes": len(mediaBytes)}
	case transcriptions:
		return map[string]any{"type": "fragment", "transcription": name}
	case files:
		return map[string]any{"filename": name + ".txt", "size_bytes": len(sampleText), "title": name}
	case gdpr:
		return map[string]any{"requestType": "access", "identityType": "email", "identityValue": id + "@example.org"}
	case webhooks:
		return map[string]any{"url": "https://hooks.invalid/lectern", "events": []any{"session.updated"}, "description": name}
	}
	return map[string]any{"name": name}
}

// NewRecord creates a record for the operation and returns the id or address for the path;
// empty if the path names no record.
func NewRecord(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	collection := CollectionOf(op)
	if created, ok := makers[collection]; ok {
		return created(t, op, s)
	}
	switch {
	case isDocument(op), OnRecord(op) && slices.Contains([]string{transcriptions, content}, collection):
		return newTranscription(t, op, s)
	case strings.Contains(op.Path, "{version}"):
		return ""
	case collection == gdpr && OnRecord(op):
		return Entity(s.Call(t, http.StatusCreated, http.MethodPost, "/v1/gdpr/requests", SampleDraft(gdpr)).JSON(t)).ID()
	case byAddress(op):
		_, address := speaker(t, s)
		return address
	case !OnRecord(op):
		return ""
	case collection == "speakers":
		id, _ := speaker(t, s)
		return id
	default:
		id := MustCreate(t, s, "/"+collection+"/create", SampleDraft(collection))
		if strings.HasSuffix(op.Path, "/restore") {
			s.Call(t, http.StatusOK, http.MethodDelete, s.EventPath("/"+collection+"/"+id), nil)
		}
		return id
	}
}
