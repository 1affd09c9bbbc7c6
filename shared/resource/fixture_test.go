package resource_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/agendaplanning"
	"lectern/localstack/content/verify"
	"lectern/localstack/test/stacktest"
	"lectern/shared/agenda"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// object is a body, or a record as answered.
type object = map[string]any

// The kinds of this test have what no kind of the service uses yet: memos publish changes, and
// have a unique text, pages, PATCH and restore; topics own replies.
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
		Name: "reply", Title: "Reply", Many: "replies", Max: 50, Parent: topics, Unique: (*reply).unique, UniqueField: "text",
	}
)

type service struct{ records resource.Store }

func (s *service) store() resource.Store { return s.records }

const topicPath = "/v1/organization/{orgId}/topics"

// routes completes routes with what all test kinds have in common.
func routes(r resource.Routes) resource.Routes {
	r.Read, r.Write = auth.Scopes{auth.ReadEvents}, auth.Scopes{auth.WriteEvents}
	r.Reads, r.Writes = ratelimit.None, ratelimit.EventManagementWrites
	r.Restore = true
	return r
}

var testGroup = api.NewGroup("Tests", func(env api.Env) *service { return &service{resource.NewStore(env)} }, slices.Concat(
	resource.Of(memos, routes(resource.Routes{
		Path: "/v1/event/{eventId}/memos", ID: "memoId", One: "Memo", Many: "Memos", Paged: true, Patch: true,
	}), (*service).store),
	resource.Of(topics, routes(resource.Routes{Path: topicPath, ID: "topicId", One: "Topic", Many: "Topics"}), (*service).store),
	resource.Of(replies, routes(resource.Routes{
		Path: topicPath + "/{topicId}/replies", ID: "replyId", Parent: "topicId", One: "Reply", Many: "Replies",
	}), (*service).store),
))

// subject is a kind as this test sees it.
type subject struct {
	// kind and title name it; id is the path's name of a record's id.
	kind, title, id string
	group           api.Group
	// path is that of the collection, %s of a reply's the topic.
	path func(s *stacktest.Stack, parent string) string
	// body creates a record, change updates it; required must be there.
	body, change object
	required     []string
	// wrong are values by the field that the refusal names.
	wrong []wrong
	// What the kind has.
	paged, patch, restore, unique, parent bool
	// publishes names the published change of a verb.
	publishes map[record.Verb]string
}

// wrong is a body with a mistake, and the field that the refusal names.
type wrong struct {
	field string
	body  object
}

func ofEvent(name string) func(*stacktest.Stack, string) string {
	return func(s *stacktest.Stack, _ string) string { return s.EventPath("/" + name) }
}

func ofOrganization(name string) func(*stacktest.Stack, string) string {
	return func(s *stacktest.Stack, parent string) string {
		return fmt.Sprintf("/v1/organization/%d/topics%s", s.Org, map[bool]string{true: "/" + parent + name}[name != ""])
	}
}

// subjects are all kinds: those of the service and those of this test.
var subjects = []subject{
	{
		kind: agenda.Rules.Name, title: "Rule", id: "ruleId", group: agendaplanning.Group, path: ofEvent("rules"),
		required: []string{"name", "type"},
		body:     object{"name": "Breaks", "type": "min_gap_minutes", "config": object{"minutes": 15.0}, "enabled": false},
		change:   object{"name": "Longer breaks"}, wrong: wrongRules(),
	},
	{
		kind: agenda.Personas.Name, title: "Persona", id: "personaId", group: agendaplanning.Group, path: ofEvent("personas"),
		required: []string{"name"},
		body: object{"name": "Nadia", "description": "New.", "config": object{
			"role": "Designer", "biography": "Long.", "feedback_style": "critical",
			"likes": []any{"talks", "tea", "tables"}, "dislikes": []any{"queues"},
		}},
		change: object{"description": nil}, wrong: wrongPersonas(),
	},
	{
		kind: "memo", title: "Memo", id: "memoId", group: testGroup, path: ofEvent("memos"), required: []string{"text"},
		body: object{"text": "One", "colour": "red"}, change: object{"colour": "blue"},
		wrong: []wrong{
			{"text", object{"text": ""}}, {"text", object{"text": 1}}, {"text", object{"text": nil}}, {"colour", object{"colour": "One"}},
		},
		paged: true, patch: true, restore: true, unique: true, publishes: memos.Publishes,
	},
	{
		kind: "topic", title: "Topic", id: "topicId", group: testGroup, path: ofOrganization(""), required: []string{"title"},
		body: object{"title": "One"}, change: object{"title": "Two"}, restore: true,
		wrong: []wrong{{"title", object{"title": ""}}, {"title", object{"title": []any{}}}},
	},
	{
		kind: "reply", title: "Reply", id: "replyId", group: testGroup, path: ofOrganization("/replies"), required: []string{"text"},
		body: object{"text": "One"}, change: object{"text": "Two"}, restore: true, unique: true, parent: true,
		wrong: []wrong{{"text", object{"text": ""}}},
	},
}

// desk is a caller at work on the records of one kind.
type desk struct {
	*stacktest.Stack
	subject
	t *testing.T
	// topic is the parent of replies.
	topic string
}

// forEvery does a test on every kind, each time in an organization of its own. Afterwards
// the table must be whole.
func forEvery(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	forKinds(t, func(subject) bool { return true }, test)
}

func forKinds(t *testing.T, keep func(subject) bool, test func(t *testing.T, d *desk)) {
	t.Helper()
	region, tested := stacktest.Start(t), 0
	for _, of := range subjects {
		if !keep(of) {
			continue
		}
		tested++
		t.Run(of.kind, func(t *testing.T) {
			d := (&desk{Stack: region.NewOrganization(t), subject: of, t: t}).door(func(*api.Env) {})
			d.topic = d.newTopic("Parent")
			test(t, d)
		})
	}
	require.Positive(t, tested)
	whole(t, region)
}

// whole checks that the table holds no half of a write.
func whole(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	report, err := verify.Table(t.Context(), client, name)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}

// door is the same desk served by a process of its own, whose environment change changes.
func (d *desk) door(change func(*api.Env)) *desk {
	d.t.Helper()
	env := d.Env(d.t)
	env.Memory = new(api.Memory)
	change(&env)
	server := httptest.NewServer(d.group.Handler(env))
	d.t.Cleanup(server.Close)
	at, other := *d.Stack, *d
	at.URL, other.Stack = server.URL, &at
	return &other
}

// newTopic makes a topic for a desk of replies, and gives its id; empty for other kinds.
func (d *desk) newTopic(title string) string {
	d.t.Helper()
	if !d.parent {
		return ""
	}
	return text(d.Call(d.t, http.StatusOK, http.MethodPost, ofOrganization("")(d.Stack, "")+"/create", object{"title": title}).JSON(d.t), "id")
}

// as is the same desk with another caller.
func (d *desk) as(s *stacktest.Stack) *desk {
	other, at := *d, *s
	at.URL = d.URL
	other.Stack = &at
	return &other
}

// under is the same desk at another topic.
func (d *desk) under(topic string) *desk {
	other := *d
	other.topic = topic
	return &other
}

func (d *desk) collection() string { return d.path(d.Stack, d.topic) }

func (d *desk) at(id string) string { return d.collection() + "/" + id }

// fresh is the body of a create whose unique value no other record has.
func (d *desk) fresh(value string) object {
	body := object{}
	for name, of := range d.body {
		body[name] = of
	}
	body[d.required[0]] = value
	return body
}

func (d *desk) create(status int, body any, header ...string) object {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodPost, d.collection()+"/create", stacktest.WithHeaders(body, header...)).JSON(d.t)
}

// made creates a record and gives its id.
func (d *desk) made(value string) string {
	d.t.Helper()
	return text(d.create(http.StatusOK, d.fresh(value)), "id")
}

func (d *desk) get(status int, id string) object {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodGet, d.at(id), nil).JSON(d.t)
}

func (d *desk) put(status int, id string, body any, header ...string) object {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodPut, d.at(id), stacktest.WithHeaders(body, header...)).JSON(d.t)
}

func (d *desk) remove(status int, id string, header ...string) object {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodDelete, d.at(id), stacktest.WithHeaders(nil, header...)).JSON(d.t)
}

func (d *desk) restored(status int, id string, header ...string) object {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodPost, d.at(id)+"/restore", stacktest.WithHeaders(nil, header...)).JSON(d.t)
}

// all is the list, whether it has pages or not.
func (d *desk) all() (records []object) {
	d.t.Helper()
	answer := d.Call(d.t, http.StatusOK, http.MethodGet, d.collection(), nil)
	if !d.paged {
		require.NoError(d.t, json.Unmarshal(answer.Body, &records))
		require.NotNil(d.t, records)
		return records
	}
	var page struct{ Results []object }
	require.NoError(d.t, json.Unmarshal(answer.Body, &page))
	return page.Results
}

func text(r object, name string) string {
	value, _ := r[name].(string)
	return value
}

// ids are the ids of records, in their order.
func ids(records []object) []string {
	all := []string{}
	for _, r := range records {
		all = append(all, text(r, "id"))
	}
	return all
}
