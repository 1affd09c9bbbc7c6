package resource_test

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"lectern/functions/agendaplanning"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/agenda"
	"lectern/shared/agenda/draft"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

type (
	object = it.Object
	entity = it.Entity
)

// The kinds of this test have what no kind of the service uses yet: memos publish changes, and
// have a unique text, pages, PATCH and restore; topics own replies and are created by POST on the
// collection too; notices have the three prefixes of a path.
type (
	memo struct {
		resource.Header
		Text   string `json:"text"`
		Colour string `json:"colour"`
	}
	memoDraft struct {
		Text   wire.Opt[string] `json:"text,omitzero" create:"required" minLength:"1" maxLength:"30000" nullable:"false"`
		Colour wire.Opt[string] `json:"colour,omitzero" maxLength:"20" nullable:"false"`
	}
	topic struct {
		resource.Header
		Title string `json:"title"`
	}
	topicDraft struct {
		Title wire.Opt[string] `json:"title,omitzero" create:"required" minLength:"1" nullable:"false"`
	}
	reply struct {
		resource.Header
		Text string `json:"text"`
	}
	replyDraft struct {
		Text wire.Opt[string] `json:"text,omitzero" create:"required" minLength:"1" nullable:"false"`
	}
	notice struct {
		resource.Header
		Text string `json:"text"`
	}
	noticeDraft struct {
		Text wire.Opt[string] `json:"text,omitzero" create:"required" minLength:"1" nullable:"false"`
	}
)

func (d memoDraft) Apply(e resource.Edit[*memo]) error {
	d.Text.Into(&e.Record.Text)
	d.Colour.Into(&e.Record.Colour)
	if e.Record.Text == e.Record.Colour {
		return apierr.Invalid("colour", "colour must not be the text.")
	}
	return nil
}

func (m *memo) unique() string { return m.Text[:min(len(m.Text), 100)] }

func (d topicDraft) Apply(e resource.Edit[*topic]) error {
	d.Title.Into(&e.Record.Title)
	return nil
}

func (d replyDraft) Apply(e resource.Edit[*reply]) error {
	d.Text.Into(&e.Record.Text)
	return nil
}

func (r *reply) unique() string { return r.Text }

func (d noticeDraft) Apply(e resource.Edit[*notice]) error {
	d.Text.Into(&e.Record.Text)
	return nil
}

func (n *notice) unique() string { return n.Text }

// refuseReplies refuses to delete a topic that has replies.
func refuseReplies(d resource.Deletion[*topic]) error {
	if n := d.Children["reply"]; n > 0 {
		return resource.Confirm("has_replies", n, "The topic has replies.")
	}
	return nil
}

var (
	memos = &resource.Kind[memo, *memo, memoDraft]{
		Name: "memo", Title: "Memo", Many: "memos", Max: 50, Unique: (*memo).unique, UniqueField: "text",
		Publishes: map[record.Verb]string{
			record.Created: "memo.created", record.Updated: "memo.updated", record.Restored: "memo.updated",
		},
	}
	topics = &resource.Kind[topic, *topic, topicDraft]{
		Name: "topic", Title: "Topic", Many: "topics", Max: 50, Children: []string{"reply"}, MayDelete: refuseReplies,
	}
	replies = &resource.Kind[reply, *reply, replyDraft]{
		Name: "reply", Title: "Reply", Many: "replies", Max: 400, Parent: topics, Unique: (*reply).unique, UniqueField: "text",
	}
	notices = &resource.Kind[notice, *notice, noticeDraft]{
		Name: "notice", Title: "Notice", Many: "notices", Max: 50, Unique: (*notice).unique, UniqueField: "text",
	}
)

type service struct{ records resource.Store }

func (s *service) store() resource.Store { return s.records }

const (
	memoPath  = "/v1/event/{eventId}/memos"
	topicPath = "/v1/organization/{orgId}/topics"
	replyPath = topicPath + "/{topicId}/replies"
	// Notices of an event, of an organization, and of the token's organization.
	eventNotices = "/v1/event/{eventId}/notices"
	orgNotices   = "/v1/organization/{orgId}/notices"
	ownNotices   = "/v1/notices"
)

// routes completes routes with what all test kinds have in common.
func routes(r resource.Routes) resource.Routes {
	r.Read, r.Write = auth.Scopes{auth.ReadEvents}, auth.Scopes{auth.WriteEvents}
	r.Reads, r.Writes = ratelimit.None, ratelimit.EventManagementWrites
	r.Restore = true
	return r
}

var testGroup = api.NewGroup("Tests", func(env api.Env) *service { return &service{resource.NewStore(env)} }, slices.Concat(
	resource.Of(memos, routes(resource.Routes{
		Path: memoPath, ID: "memoId", One: "Memo", Many: "Memos", Paged: true, Patch: true, Bulk: true,
	}), (*service).store),
	resource.Of(topics, routes(resource.Routes{Path: topicPath, ID: "topicId", One: "Topic", Many: "Topics", Post: true}), (*service).store),
	resource.Of(replies, routes(resource.Routes{
		Path: replyPath, ID: "replyId", Parent: "topicId", One: "Reply", Many: "Replies", Bulk: true,
	}), (*service).store),
	resource.Of(notices, routes(resource.Routes{Path: eventNotices, ID: "noticeId", One: "EventNotice", Many: "EventNotices"}), (*service).store),
	resource.Of(notices, routes(resource.Routes{Path: orgNotices, ID: "noticeId", One: "OrgNotice", Many: "OrgNotices"}), (*service).store),
	resource.Of(notices, routes(resource.Routes{Path: ownNotices, ID: "noticeId", One: "Notice", Many: "Notices"}), (*service).store),
))

// subject is a kind with its routes and bodies.
type subject struct {
	group api.Group
	// path is the path of the collection, as in Routes.
	path string
	// body creates a record, change updates the record. A create needs the properties in
	// required; the first of them takes any text.
	body, change object
	required     []string
	// wrong lists bodies with a mistake.
	wrong []wrong
	// stands makes the value that stands for a text in the first required property, which cannot change
	// afterwards; nil for a property that takes any text.
	stands func(t *testing.T, s *stacktest.Stack, text string) string
	// paged reports whether the list answers in pages.
	paged bool

	// The rest follows from the kind and the operations of the group, see of.
	kind, title string
	// id is the path's name of a record's id.
	id string
	// unique is the property with a unique value; empty without one.
	unique string
	// child reports whether a record has a parent record, forced whether a deletion may need
	// ?force=true.
	child, forced bool
	// large reports whether there may be 300 records.
	post, patch, restore, bulk, large bool
	// publishes names the published change of a verb.
	publishes map[record.Verb]string
}

// of completes a subject by the kind and the operations of the group.
func of[R any, P resource.Record[R], D resource.Draft[P]](k *resource.Kind[R, P, D], s subject) subject {
	s.kind, s.title, s.unique, s.publishes = k.Name, k.Title, k.UniqueField, k.Publishes
	s.child, s.forced, s.large = k.Parent != nil, k.MayDelete != nil, k.Max >= 300
	for _, op := range s.group.Operations {
		if id, ok := strings.CutPrefix(op.Path, s.path+"/{"); ok && op.Method == http.MethodDelete && !strings.Contains(id, "{") {
			s.id = strings.TrimSuffix(id, "}")
		}
	}
	one := s.path + "/{" + s.id + "}"
	for _, op := range s.group.Operations {
		s.post = s.post || op.Method == http.MethodPost && op.Path == s.path
		s.patch = s.patch || op.Method == http.MethodPatch && op.Path == one
		s.bulk = s.bulk || op.Method == http.MethodPost && op.Path == s.path+"/bulk"
		s.restore = s.restore || op.Method == http.MethodPost && op.Path == one+"/restore"
	}
	return s
}

// parent returns the subject to whose records the records of s belong; nil without a parent.
func (s *subject) parent() *subject {
	for i, other := range subjects {
		if s.child && path.Dir(path.Dir(s.path)) == other.path {
			return &subjects[i]
		}
	}
	return nil
}

// wrong is a body with a mistake, and the field that the refusal names.
type wrong struct {
	field string
	body  object
}

// subjects lists all kinds: the kinds of the service and of this test.
var subjects = []subject{
	of(agenda.Rules, subject{
		group: agendaplanning.Group, path: "/v1/event/{eventId}/rules", required: []string{"name", "type"},
		body:   object{"name": "Breaks", "type": "min_gap_minutes", "config": object{"minutes": 15.0}, "enabled": false},
		change: object{"name": "Longer breaks"}, wrong: wrongRules(),
	}),
	of(agenda.Personas, subject{
		group: agendaplanning.Group, path: "/v1/event/{eventId}/personas", required: []string{"name"},
		body: object{"name": "Nadia", "description": "New.", "config": object{
			"role": "Designer", "biography": "Long.", "feedback_style": "critical",
			"likes": []any{"talks", "tea", "tables"}, "dislikes": []any{"queues"},
		}},
		change: object{"description": nil}, wrong: wrongPersonas(),
	}),
	of(draft.Drafts, subject{
		group: agendaplanning.Group, path: "/v1/event/{eventId}/agenda-drafts", required: []string{"name"},
		body:   object{"name": "Plan B", "description": "Without parallel keynotes.", "status": "draft", "admin_url": nil},
		change: object{"description": nil},
		wrong: []wrong{
			{"name", object{"name": nil}}, {"name", object{"name": ""}}, {"name", object{"name": "  "}}, {"name", object{"name": 1}},
			{"name", object{"name": strings.Repeat("x", 256)}},
			{"description", object{"description": 1}}, {"description", object{"description": strings.Repeat("x", 2001)}},
		},
	}),
	of(draft.Sessions, subject{
		group: agendaplanning.Group, path: "/v1/event/{eventId}/agenda-drafts/{draftId}/sessions", required: []string{"session_id"},
		body:   object{"starts_at": "2027-05-10T09:00:00.000Z", "ends_at": "2027-05-10T10:00:00.000Z", "room_id": nil},
		change: object{"ends_at": "2027-05-10T11:00:00.000Z"}, stands: newSession,
		wrong: []wrong{
			{"session_id", object{"session_id": nil}}, {"session_id", object{"session_id": "x"}}, {"session_id", object{"session_id": 1}},
			{"session_id", object{"session_id": uuid.NewString()}},
			{"room_id", object{"room_id": "x"}}, {"room_id", object{"room_id": uuid.NewString()}},
			{"starts_at", object{"starts_at": "noon"}}, {"ends_at", object{"ends_at": 1}},
			{"ends_at", object{"ends_at": "2027-05-10T09:00:00Z"}},
			{"ends_at", object{"starts_at": "2027-05-10T12:00:00Z", "ends_at": "2027-05-10T11:00:00Z"}},
		},
	}),
	of(memos, subject{
		group: testGroup, path: memoPath, required: []string{"text"}, paged: true,
		body: object{"text": "One", "colour": "red"}, change: object{"colour": "blue"},
		wrong: []wrong{
			{"text", object{"text": ""}}, {"text", object{"text": 1}}, {"text", object{"text": nil}}, {"colour", object{"colour": "One"}},
		},
	}),
	of(topics, subject{
		group: testGroup, path: topicPath, required: []string{"title"},
		body: object{"title": "One"}, change: object{"title": "Two"},
		wrong: []wrong{{"title", object{"title": ""}}, {"title", object{"title": []any{}}}},
	}),
	of(replies, subject{
		group: testGroup, path: replyPath, required: []string{"text"},
		body: object{"text": "One"}, change: object{"text": "Two"},
		wrong: []wrong{{"text", object{"text": ""}}},
	}),
	noticesAt(eventNotices), noticesAt(orgNotices), noticesAt(ownNotices),
}

// newSession creates a session and returns its id.
func newSession(t *testing.T, s *stacktest.Stack, title string) string {
	t.Helper()
	return it.MustCreate(t, s, "/sessions/create", object{"title": title})
}

// noticesAt returns the subject of notices with one of their prefixes.
func noticesAt(path string) subject {
	return of(notices, subject{
		group: testGroup, path: path, required: []string{"text"},
		body: object{"text": "One"}, change: object{"text": "Two"},
		wrong: []wrong{{"text", object{"text": ""}}},
	})
}

// wrongNames are mistakes in a name.
func wrongNames() []wrong {
	return []wrong{
		{"name", object{"name": nil}}, {"name", object{"name": ""}}, {"name", object{"name": "  "}}, {"name", object{"name": 1}},
		{"name", object{"name": strings.Repeat("x", 256)}},
		{"config", object{"config": nil}}, {"config", object{"config": "x"}}, {"config", object{"config": []any{}}},
	}
}

// wrongRules are mistakes in a rule of the type min_gap_minutes.
func wrongRules() []wrong {
	return append(wrongNames(), []wrong{
		{"type", object{"type": nil}}, {"type", object{"type": ""}}, {"type", object{"type": 7}}, {"type", object{"type": "free_text"}},
		{"enabled", object{"enabled": nil}}, {"enabled", object{"enabled": "yes"}},
		{"config.minutes", object{"config": object{}}}, {"config.minutes", object{"config": object{"minutes": 0}}},
		{"config.minutes", object{"config": object{"minutes": "15"}}}, {"config.minutes", object{"config": object{"minutes": 1.5}}},
		{"config.minutes", object{"config": object{"minutes": 1441}}},
		{"config", object{"config": object{"minutes": 5, "more": strings.Repeat("x", 17<<10)}}},
	}...)
}

func wrongPersonas() []wrong {
	of := func(name string, value any) wrong {
		return wrong{"config." + name, object{"config": object{name: value}}}
	}
	four := []string{"a", "b", "c", "d"}
	return append(wrongNames(), []wrong{
		{"description", object{"description": 1}}, {"description", object{"description": strings.Repeat("x", 2001)}},
		of("role", 1), of("role", strings.Repeat("x", 256)), of("role", nil), of("biography", strings.Repeat("x", 2001)),
		of("feedback_style", "kind"), of("feedback_style", nil), of("likes", four), of("dislikes", four), of("likes", "tea"), of("likes", nil),
		{"config.likes[1]", object{"config": object{"likes": []any{"tea", ""}}}},
		{"config.dislikes[0]", object{"config": object{"dislikes": []any{1}}}},
		{"config.likes[0]", object{"config": object{"likes": []any{strings.Repeat("x", 256)}}}},
	}...)
}
