package resource_test

import (
	"cmp"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"lectern/functions/agendaplanning"
	"lectern/functions/awards"
	"lectern/functions/dashboards"
	"lectern/functions/reports"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/agenda"
	"lectern/shared/agenda/draft"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/ratelimit"
	"lectern/shared/record"
	"lectern/shared/report"
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
		Name: "reply", Title: "Reply", Many: "replies", Max: 400, Parent: resource.ParentNames{Name: "topic", Title: "Topic"}, Unique: (*reply).unique, UniqueField: "text",
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
	// paged reports whether the list answers in pages, by a parameter size; pageSize if empty.
	paged bool
	size  string
	// unread reports whether no route answers a single record as a write does.
	unread bool

	// beside is how many records of other requests an owner begins with, made with the parent. A list of the
	// kind shows them with is_default, if they are of the kind.
	beside int

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
	s.size = cmp.Or(s.size, "pageSize")
	s.child, s.forced, s.large = k.Parent.Name != "", k.MayDelete != nil, k.Max >= 300
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
	queriesAt(report.Prefixes[0]), queriesAt(report.Prefixes[1]), queriesAt(report.Prefixes[2]),
	dashboardsAt(report.Prefixes[0]), dashboardsAt(report.Prefixes[1]), dashboardsAt(report.Prefixes[2]),
	of(award.Programs, subject{
		group: awards.Group, path: programPath, required: []string{"name"}, paged: true, beside: 1,
		body: object{
			"name": "Best of the year", "type": "grants", "status": "open", "description": "All of it.", "blind_review": true,
			"labels":   object{"submitter": "Applicant", "entry": "Project", "action": "Apply"},
			"opens_at": "2027-05-10T09:00:00.000Z", "closes_at": "2027-05-10T10:00:00.000Z",
			"payment": object{"collect": "on_submission", "base_fee_cents": 9500.0, "currency": "EUR"},
		},
		change: object{"description": nil}, wrong: wrongPrograms(),
	}),
	of(award.Categories, subject{
		group: awards.Group, path: programPath + "/{programId}/categories", required: []string{"name"}, paged: true, beside: 1,
		body:   object{"name": "Software", "description": "What runs.", "order": 3.0, "parent_category_id": nil},
		change: object{"description": nil},
		wrong: append(wrongNamesAlone(), []wrong{
			{"description", object{"description": 1}}, {"order", object{"order": 0}}, {"order", object{"order": nil}},
			{"parent_category_id", object{"parent_category_id": "x"}}, {"parent_category_id", object{"parent_category_id": uuid.NewString()}},
		}...),
	}),
	of(award.Rounds, subject{
		group: awards.Group, path: programPath + "/{programId}/rounds", required: []string{"name", "type"}, paged: true, beside: 1,
		body: object{
			"name": "Finals", "type": "review_only", "instructions": "Read all.", "order": 2.0,
			"opens_at": "2027-05-10T09:00:00.000Z", "closes_at": nil, "is_default": false,
		},
		change: object{"instructions": nil}, wrong: wrongRounds(),
	}),
	of(award.PromoCodes, subject{
		group: awards.Group, path: programPath + "/{programId}/promo-codes", required: []string{"code", "discount_type", "amount"}, paged: true, beside: 1,
		body: object{
			"code": "EARLY", "discount_type": "percentage", "amount": 100.0, "max_uses": 5.0, "is_active": false,
			"starts_at": "2027-05-10T09:00:00.000Z", "expires_at": "2027-05-10T10:00:00.000Z",
		},
		change: object{"max_uses": nil}, wrong: wrongPromoCodes(),
	}),
}

const programPath = "/v1/organization/{orgId}/awards/programs"

// wrongNamesAlone are mistakes in a name, without those of a config.
func wrongNamesAlone() []wrong {
	return slices.DeleteFunc(wrongNames(), func(w wrong) bool { return w.field != "name" })
}

func wrongPrograms() []wrong {
	payment := func(name string, value any) wrong {
		return wrong{"payment." + name, object{"payment": object{name: value}}}
	}
	return append(wrongNamesAlone(), []wrong{
		{"type", object{"type": "prizes"}}, {"status", object{"status": nil}}, {"description", object{"description": strings.Repeat("x", 5001)}},
		{"labels", object{"labels": nil}}, {"labels.submitter", object{"labels": object{"submitter": strings.Repeat("x", 21)}}},
		{"labels.entry", object{"labels": object{"entry": ""}}}, {"labels.action", object{"labels": object{"action": strings.Repeat("x", 16)}}},
		{"opens_at", object{"opens_at": "soon"}}, {"blind_review", object{"blind_review": 1}},
		{"closes_at", object{"opens_at": "2027-05-10T09:00:00Z", "closes_at": "2027-05-10T09:00:00Z"}},
		payment("collect", "later"), payment("base_fee_cents", -1), payment("base_fee_cents", 1.5), payment("currency", "euro"),
	}...)
}

func wrongRounds() []wrong {
	question := func(name string, of object) wrong {
		return wrong{"scorecard[0]" + name, object{"scorecard": []any{it.Merged(object{"question": "How new?", "type": "scale_5"}, of)}}}
	}
	option := object{"label": "A", "points": 1}
	return append(wrongNamesAlone(), []wrong{
		{"type", object{"type": "vote"}}, {"type", object{"type": nil}}, {"scorecard", object{"scorecard": nil}},
		{"closes_at", object{"closes_at": "2027-05-10T09:00:00Z"}}, {"order", object{"order": 0}},
		question(".question", object{"question": " "}), question(".type", object{"type": "stars"}), question(".weight", object{"weight": -1}),
		question(".weight", object{"weight": 101}), question(".id", object{"id": "x"}),
		question(".min", object{"type": "numeric", "max": 5}), question(".max", object{"type": "numeric", "min": 5, "max": 5}),
		question(".options", object{"type": "dropdown"}), question(".options[0].label", object{"type": "dropdown", "options": []any{object{"points": 1}}}),
		question(".options[1].label", object{"type": "dropdown", "options": []any{option, option}}),
		question(".options[0].points", object{"type": "dropdown", "options": []any{object{"label": "A", "points": -1}}}),
		{"scorecard[1].id", object{"scorecard": []any{
			object{"question": "A", "type": "text", "id": it.UnknownID}, object{"question": "B", "type": "text", "id": it.UnknownID},
		}}},
	}...)
}

func wrongPromoCodes() []wrong {
	return []wrong{
		{"code", object{"code": ""}}, {"code", object{"code": "A "}}, {"code", object{"code": nil}}, {"code", object{"code": strings.Repeat("x", 65)}},
		{"discount_type", object{"discount_type": "half"}}, {"amount", object{"amount": 101}}, {"amount", object{"amount": 0}},
		{"amount", object{"amount": 1.5}}, {"amount", object{"amount": nil}}, {"max_uses", object{"max_uses": 0}},
		{"expires_at", object{"expires_at": "2027-05-10T09:00:00Z"}},
		{"is_active", object{"is_active": nil}},
	}
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

// queriesAt returns the subject of saved queries with one of their prefixes.
func queriesAt(p report.Prefix) subject {
	return of(report.Queries, subject{
		group: reports.Group, path: p.Path + "/queries", required: []string{"name", "query"}, paged: true, size: "limit", unread: true,
		body:   object{"name": "Accepted", "query": "SELECT session.title FROM sessions WHERE session.status = 'accepted'", "category": "Sessions"},
		change: object{"category": nil},
		wrong: append(wrongNamesAlone(), []wrong{
			{"query", object{"query": nil}}, {"query", object{"query": ""}}, {"query", object{"query": 1}}, {"query", object{"query": "SELECT"}},
			{"query", object{"query": strings.Repeat("x", 10_001)}}, {"category", object{"category": ""}}, {"category", object{"category": 1}},
		}...),
	})
}

// dashboardsAt returns the subject of dashboards with one of their prefixes.
func dashboardsAt(p report.Prefix) subject {
	return of(report.Dashboards, subject{
		group: dashboards.Group, path: p.Path + "/dashboards", required: []string{"name"}, unread: true,
		body: object{"name": "Overview", "description": "All of it."}, change: object{"description": nil},
		wrong: append(wrongNamesAlone(), []wrong{
			{"description", object{"description": 1}}, {"description", object{"description": strings.Repeat("x", 2001)}},
			{"widgets", object{"widgets": nil}}, {"widgets[0].type", object{"widgets": []any{object{}}}},
			{"widgets[0].query", object{"widgets": []any{object{"type": "table", "query": 1}}}},
		}...),
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
