package sessions_test

import (
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// forbidden is command for one that must be refused.
func forbidden(d *it.Client, status int, code, name string, input object) {
	d.T.Helper()
	_, refusal := d.TryCommand(name, input)
	require.NotNil(d.T, refusal, name)
	require.Equal(d.T, status, refusal.Status, refusal.Message)
	require.Equal(d.T, code, refusal.Code)
}

// composed is an event with a target of two sources: an abstract and, with a
// subsession each, both programme sessions.
type composed struct {
	*it.Client
	target, source, abstract string
}

func newComposed(t *testing.T) *composed {
	t.Helper()
	d := it.NewClient(t, "sessions_2_0")
	ids := d.NewSessions("Target", "Source")
	c := &composed{d, ids[0], ids[1], d.Create(200, object{"title": "Abstract", "is_abstract": true}).ID()}
	d.NewSubsession(c.target, "Part of target")
	d.NewSubsession(c.source, "Part of source")
	d.Command("session-link", it.Link(c.target, c.source, "merged_session"))
	d.Command("session-link", it.Link(c.target, c.abstract, "composed_into_session"))
	return c
}

func TestCompositionShapes(t *testing.T) {
	c := newComposed(t)
	status := func(role string, count float64, target any) object {
		return object{"role": role, "is_linked": role != "standalone", "is_read_only": false, "source_count": count, "target": target}
	}
	partner := func(id string) object { return it.Pick(c.Get(200, id), "id", "friendly_id", "title", "is_abstract") }
	target := c.Get(200, c.target, "expand=composition")
	require.Equal(t, status("target", 2, nil), target["composition_status"])
	sources := target.At("composition.sources").([]any)
	require.Len(t, sources, 2)
	require.Nil(t, target.At("composition.target"))
	for i, want := range []struct{ id, relationship string }{{c.source, "merged_session"}, {c.abstract, "composed_into_session"}} {
		entry := sources[i].(object)
		require.NoError(t, uuid.Validate(entry["composition_id"].(string)))
		require.NotEmpty(t, entry["created_at"])
		shown := it.Merged(partner(want.id), object{"relationship_type": want.relationship,
			"composition_id": entry["composition_id"], "created_at": entry["created_at"]})
		require.Equal(t, shown, entry)
		source := c.Get(200, want.id, "expand=composition")
		require.Equal(t, status("source", 0, partner(c.target)), source["composition_status"])
		require.Equal(t, it.Merged(shown, partner(c.target)), source.At("composition.target"), "the same link from the other side")
		require.Equal(t, []any{}, source.At("composition.sources"))
	}
	require.NotContains(t, c.Get(200, c.target), "composition", "only with expand=composition")
	alone := c.Create(200, object{"title": "Alone"}, "expand=composition")
	require.Equal(t, status("standalone", 0, nil), alone["composition_status"])
	require.Equal(t, object{"target": nil, "sources": []any{}}, alone["composition"])
}

func TestCompositionIsExpandedEverywhere(t *testing.T) {
	c := newComposed(t)
	want := c.Get(200, c.target, "expand=composition")["composition"]
	bulk := c.Do(200, "POST", "/sessions/bulk?expand=composition", object{"operations": []object{
		{"action": "update", "id": c.target, "data": object{"capacity": 3}},
	}})
	for name, r := range map[string]entity{
		"list": c.List("expand=composition").Results[0], "update": c.Put(200, c.target, object{"capacity": 1}, "expand=composition"),
		"search": c.Search(object{"expand": []string{"composition"}}).Results[0],
		"fields": c.Do(200, "PUT", "/sessions/"+c.target+"/fields?expand=composition", object{"values": object{}}),
		"bulk":   bulk.List("results")[0]["data"].(object),
		"both":   c.Get(200, c.target, "expand=subsession_details,composition"),
		"twice":  c.Get(200, c.target, "expand=subsession_details", "expand=composition"),
	} {
		require.Equal(t, want, r["composition"], name)
		sub := r.List("subsessions")[0]
		require.Equal(t, want, sub["composition"], "%s: a subsession inherits its parent's", name)
		require.Equal(t, r["composition_status"], sub["composition_status"], name)
	}
	source := c.Get(200, c.source, "expand=composition")
	sub := c.Get(200, source.List("subsessions")[0].ID(), "expand=composition")
	require.Equal(t, source["composition"], sub["composition"])
	require.Equal(t, source["composition_status"], sub["composition_status"])
	require.Equal(t, "source", sub.At("composition_status.role"))
	require.NotContains(t, c.Get(200, sub.ID()), "composition")
}

func TestSourcesAreFoundWithLinkedSourcesAlone(t *testing.T) {
	c := newComposed(t)
	require.Equal(t, []string{c.target}, it.Texts(c.Search(object{}).Results, "id"))
	require.Equal(t, 1, c.Search(object{}).Pagination.TotalResults)
	require.Equal(t, []string{c.target}, it.Texts(c.List().Results, "id"))
	require.Empty(t, c.Filter(object{"isAbstract": true}).Results)
	all := []string{c.target, c.source, c.abstract}
	require.Equal(t, all, it.Texts(c.Search(object{"expand": []string{"linked_sources"}}).Results, "id"))
	require.Equal(t, all, it.Texts(c.List("expand=linked_sources").Results, "id"))
	require.Equal(t, 3, c.List("expand=linked_sources", "page_size=1").Pagination.TotalResults)
	rows := c.SearchStatuses(object{"expand": []string{"linked_sources"}}).Results
	require.Equal(t, "source", it.ByID(t, rows, c.source).At("composition_status.role"))
	part := c.Get(200, c.source).List("subsessions")[0]
	require.Equal(t, c.Get(200, part.ID())["composition_status"], it.ByID(t, rows, part.ID())["composition_status"])
	for _, row := range c.SearchStatuses(object{}).Results {
		require.NotContains(t, []string{c.source, c.abstract, part.ID()}, row.ID(), "nor the subsessions of a source")
	}
	require.Equal(t, 2, c.SearchStatuses(object{}).Pagination.TotalResults)
	c.Command("session-unlink", object{"source_id": c.source})
	require.Equal(t, []string{c.target, c.source}, it.Texts(c.Search(object{}).Results, "id"))
}

func TestAtMostFiftySources(t *testing.T) {
	d := it.NewClient(t)
	target := d.NewSessions("Target")[0]
	operations := make([]object, 51)
	for i := range operations {
		operations[i] = it.Creating(object{"title": "x"})
	}
	made := d.Bulk(operations...)
	for i := range 50 {
		d.Command("session-link", it.Link(target, made.Data(t, i).ID(), "merged_session"))
	}
	forbidden(d, 400, "VALIDATION_ERROR", "session-link", it.Link(target, made.Data(t, 50).ID(), "merged_session"))
	full := d.Get(200, target, "expand=composition")
	require.Equal(t, 50.0, full.At("composition_status.source_count"))
	require.Len(t, full.At("composition.sources"), 50)
	require.Equal(t, 2, d.Search(object{}).Pagination.TotalResults)
}

func TestWhatACompositionRefuses(t *testing.T) {
	c := newComposed(t)
	other := c.NewSessions("Other")[0]
	for _, id := range []string{c.source, c.abstract} {
		it.RequireError(t, c.Delete(409, id), "COMPOSITION_LINKED", "")
		forbidden(c.Client, 409, "COMPOSITION_LINKED", "session-withdraw", object{"session_id": id, "who": "Ann", "why": "ill"})
		forbidden(c.Client, 409, "COMPOSITION_LINKED", "session-duplicate", object{"session_id": id})
		for _, target := range []string{other, c.target} {
			relationship := map[bool]string{true: "merged_session", false: "composed_into_session"}[id == c.source]
			forbidden(c.Client, 409, "COMPOSITION_LINKED", "session-link", it.Link(target, id, relationship))
		}
	}
	forbidden(c.Client, 409, "COMPOSITION_LINKED", "session-link", it.Link(c.source, other, "merged_session"))
	forbidden(c.Client, 409, "COMPOSITION_LINKED", "session-link", it.Link(other, c.target, "merged_session"))
	it.RequireError(t, c.Delete(409, c.target), "COMPOSITION_LINKED", "")
	c.Command("session-withdraw", object{"session_id": c.target, "who": "Ann", "why": "ill"})
	copied := c.Command("session-duplicate", object{"session_id": c.target})
	require.Equal(t, "standalone", copied.At("composition_status.role"), "a target may be copied, without its sources")
	c.Delete(200, c.Get(200, c.target).List("subsessions")[0].ID())
	it.RequireError(t, c.Delete(409, c.target), "COMPOSITION_LINKED", "")
	bulk := c.Bulk(object{"action": "delete", "id": c.abstract}, object{"action": "delete", "id": c.target})
	bulk.Failed(t, 0, "COMPOSITION_LINKED", "")
	bulk.Failed(t, 1, "COMPOSITION_LINKED", "")
}

func TestASourceAcceptsUpdates(t *testing.T) {
	c := newComposed(t)
	note := c.NewField("Note", "text")
	c.Put(200, c.source, object{"title": "Renamed", "status": "declined", "participants": []object{}})
	c.PutFields(200, c.source, object{note: "x"})
	c.Bulk(object{"action": "update", "id": c.source, "data": object{"capacity": 5}}).Data(t, 0)
	source := c.Get(200, c.source)
	require.Equal(t, "Renamed", source["title"])
	require.Equal(t, "declined", source["status"])
	require.Equal(t, 5.0, source["capacity"])
	require.Equal(t, "x", source.List("custom_fields")[0]["value"])
	sources := c.Get(200, c.target, "expand=composition").At("composition.sources").([]any)
	require.Equal(t, "Renamed", sources[0].(object)["title"], "titles are read, not copied")
	found := c.Search(object{"expand": []string{"composition"}}).Results[0]
	require.Equal(t, sources, found.At("composition.sources"))
	c.Put(200, c.target, object{"title": "Whole"})
	require.Equal(t, "Whole", c.Get(200, c.source).At("composition_status.target.title"))
}

func TestUnlinkMakesBothStandalone(t *testing.T) {
	c := newComposed(t)
	before := c.Get(200, c.target)
	unlinked := c.Command("session-unlink", object{"source_id": c.abstract})
	require.Equal(t, "standalone", unlinked.At("composition_status.role"))
	after := c.Get(200, c.target)
	require.Greater(t, after["updated_at"], before["updated_at"], "both sides change")
	require.Equal(t, 1.0, after.At("composition_status.source_count"))
	c.Delete(200, c.abstract)
	forbidden(c.Client, 409, "NOT_LINKED", "session-unlink", object{"source_id": c.target})
	c.Command("session-unlink", object{"source_id": c.source})
	for _, id := range []string{c.source, c.target} {
		require.Equal(t, "standalone", c.Get(200, id).At("composition_status.role"))
		c.Delete(200, c.Get(200, id).List("subsessions")[0].ID())
		c.Delete(200, id)
	}
}

func TestWhatCanBeLinked(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	ids := d.NewSessions("A", "B")
	var abstracts []string
	for range 2 {
		abstracts = append(abstracts, d.Create(200, object{"title": "x", "is_abstract": true}).ID())
	}
	sub, gone := d.NewSubsession(ids[0], "Part").ID(), d.NewSessions("Gone")[0]
	d.Delete(200, gone)
	refuse := func(status int, code string, input object) {
		t.Helper()
		forbidden(d, status, code, "session-link", input)
	}
	const bad = "VALIDATION_ERROR"
	refuse(400, bad, it.Link(sub, ids[1], "merged_session"))
	refuse(400, bad, it.Link(ids[1], sub, "merged_session"))
	refuse(400, bad, it.Link(ids[1], ids[1], "merged_session"))
	refuse(400, bad, it.Link(ids[1], ids[0], "merged_abstract"))
	refuse(400, bad, it.Link(ids[1], ids[0], "composed_into_session"))
	refuse(400, bad, it.Link(ids[1], abstracts[0], "merged_session"))
	refuse(400, bad, it.Link(abstracts[0], abstracts[1], "composed_into_session"))
	refuse(400, bad, it.Link(abstracts[0], ids[0], "composed_into_session"))
	refuse(400, bad, it.Link(ids[1], ids[0], "friends"))
	refuse(404, "NOT_FOUND", it.Link(ids[1], uuid.NewString(), "merged_session"))
	refuse(404, "NOT_FOUND", it.Link(uuid.NewString(), ids[1], "merged_session"))
	refuse(404, "NOT_FOUND", it.Link(ids[1], gone, "merged_session"))
	refuse(404, "NOT_FOUND", it.Link(ids[1], d.InNewEvent().NewSessions("There")[0], "merged_session"))
	forbidden(d, 404, "NOT_FOUND", "session-unlink", object{"source_id": uuid.NewString()})
	source := d.Command("session-link", it.Link(abstracts[0], abstracts[1], "merged_abstract"))
	require.Equal(t, "source", source.At("composition_status.role"))
	require.Equal(t, abstracts[0], source.At("composition_status.target.id"))
}

func TestWithdrawAndDuplicate(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	made := d.Create(200, s.everything())
	d.NewSubsession(made.ID(), "Part")
	d.Command("session-withdraw", object{"session_id": made.ID(), "who": "Ann", "why": "ill"})
	withdrawn := d.Get(200, made.ID())
	require.Equal(t, made["status"], withdrawn["status"], "withdrawal is separate from status")
	require.Greater(t, withdrawn["updated_at"], made["updated_at"])

	noted := d.Command("session-show", object{"session_id": made.ID()})
	require.Equal(t, "Ann", noted.At("withdrawal.who"))
	require.Equal(t, "ill", noted.At("withdrawal.why"))
	require.Equal(t, withdrawn["updated_at"], noted.At("withdrawal.at"))
	d.Command("session-unwithdraw", object{"session_id": made.ID()})
	require.Nil(t, d.Command("session-show", object{"session_id": made.ID()})["withdrawal"])

	copied := d.Command("session-duplicate", object{"session_id": made.ID()})
	want := maps.Clone(made)
	maps.Copy(want, entity{
		"id": copied.ID(), "friendly_id": "SESS-2", "friendly_id_raw": 2.0, "status": "pending", "source": "admin",
		"created_at": copied["created_at"], "updated_at": copied["updated_at"],
	})
	got := d.Get(200, copied.ID())
	require.Equal(t, want, got)
	require.NotEqual(t, made.ID(), got.ID())
	require.Len(t, d.Search(object{}).Results, 2)
	forbidden(d, 400, "VALIDATION_ERROR", "session-duplicate",
		object{"session_id": d.Get(200, made.ID()).List("subsessions")[0].ID()})
	forbidden(d, 404, "NOT_FOUND", "session-duplicate", object{"session_id": uuid.NewString()})
	forbidden(d, 404, "NOT_FOUND", "session-withdraw", object{"session_id": uuid.NewString(), "who": "a", "why": "b"})
}

// TestAnAbstractIsCopiedUnderItsFeatureOnly: a copy is one more abstract.
func TestAnAbstractIsCopiedUnderItsFeatureOnly(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	abstract := d.Create(200, object{"title": "x", "is_abstract": true}).ID()
	d.Command("session-duplicate", object{"session_id": abstract})
	d.SetFeature("sessions_2_0", false)
	forbidden(d, 403, "FEATURE_NOT_ENABLED", "session-duplicate", object{"session_id": abstract})
}
