package it_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
)

// command does an operator command on a session of the event; a refused one
// gives its error.
func (d *desk) command(name string, input object) (entity, *apierr.Error) {
	d.t.Helper()
	answer, err := d.TryOperator(d.t, name, merged(object{"org_id": d.Org, "event_id": d.Event}, input))
	if err == nil {
		return answer, nil
	}
	var refusal *apierr.Error
	require.True(d.t, errors.As(err, &refusal), "%v", err)
	return nil, refusal
}

// done is command for one that must succeed.
func (d *desk) done(name string, input object) entity {
	d.t.Helper()
	answer, refusal := d.command(name, input)
	require.Nil(d.t, refusal)
	return answer
}

// forbidden is command for one that must be refused.
func (d *desk) forbidden(status int, code, name string, input object) {
	d.t.Helper()
	_, refusal := d.command(name, input)
	require.NotNil(d.t, refusal, name)
	require.Equal(d.t, status, refusal.Status, refusal.Message)
	require.Equal(d.t, code, refusal.Code)
}

func link(target, source, relationship string) object {
	return object{"target_id": target, "source_id": source, "relationship_type": relationship}
}

// composed is an event with a target of two sources: an abstract and, with a
// subsession each, both programme sessions.
type composed struct {
	*desk
	target, source, abstract string
}

func newComposed(t *testing.T) *composed {
	t.Helper()
	d := newDesk(t, "sessions_2_0")
	ids := d.titled("Target", "Source")
	c := &composed{d, ids[0], ids[1], d.create(200, object{"title": "Abstract", "is_abstract": true}).id()}
	d.sub(c.target, "Part of target")
	d.sub(c.source, "Part of source")
	d.done("session-link", link(c.target, c.source, "merged_session"))
	d.done("session-link", link(c.target, c.abstract, "composed_into_session"))
	return c
}

func TestCompositionShapes(t *testing.T) {
	c := newComposed(t)
	status := func(role string, count float64, target any) object {
		return object{"role": role, "is_linked": role != "standalone", "is_read_only": false, "source_count": count, "target": target}
	}
	partner := func(id string) object { return pick(c.get(200, id), "id", "friendly_id", "title", "is_abstract") }
	target := c.get(200, c.target, "expand=composition")
	require.Equal(t, status("target", 2, nil), target["composition_status"])
	sources := target.at("composition.sources").([]any)
	require.Len(t, sources, 2)
	require.Nil(t, target.at("composition.target"))
	for i, want := range []struct{ id, relationship string }{{c.source, "merged_session"}, {c.abstract, "composed_into_session"}} {
		entry := sources[i].(object)
		require.NoError(t, uuid.Validate(entry["composition_id"].(string)))
		require.NotEmpty(t, entry["created_at"])
		shown := merged(partner(want.id), object{"relationship_type": want.relationship,
			"composition_id": entry["composition_id"], "created_at": entry["created_at"]})
		require.Equal(t, shown, entry)
		source := c.get(200, want.id, "expand=composition")
		require.Equal(t, status("source", 0, partner(c.target)), source["composition_status"])
		require.Equal(t, merged(shown, partner(c.target)), source.at("composition.target"), "the same link from the other side")
		require.Equal(t, []any{}, source.at("composition.sources"))
	}
	require.NotContains(t, c.get(200, c.target), "composition", "only with expand=composition")
	alone := c.create(200, object{"title": "Alone"}, "expand=composition")
	require.Equal(t, status("standalone", 0, nil), alone["composition_status"])
	require.Equal(t, object{"target": nil, "sources": []any{}}, alone["composition"])
}

func TestCompositionIsExpandedEverywhere(t *testing.T) {
	c := newComposed(t)
	want := c.get(200, c.target, "expand=composition")["composition"]
	bulk := c.send(200, "POST", "/sessions/bulk?expand=composition", object{"operations": []object{
		{"action": "update", "id": c.target, "data": object{"capacity": 3}},
	}})
	for name, r := range map[string]entity{
		"list": c.list("expand=composition").Results[0], "update": c.put(200, c.target, object{"capacity": 1}, "expand=composition"),
		"search": c.search(object{"expand": []string{"composition"}}).Results[0],
		"fields": c.send(200, "PUT", "/sessions/"+c.target+"/fields?expand=composition", object{"values": object{}}),
		"bulk":   bulk.list("results")[0]["data"].(object),
		"both":   c.get(200, c.target, "expand=subsession_details,composition"),
		"twice":  c.get(200, c.target, "expand=subsession_details", "expand=composition"),
	} {
		require.Equal(t, want, r["composition"], name)
		sub := r.list("subsessions")[0]
		require.Equal(t, want, sub["composition"], "%s: a subsession inherits its parent's", name)
		require.Equal(t, r["composition_status"], sub["composition_status"], name)
	}
	source := c.get(200, c.source, "expand=composition")
	sub := c.get(200, source.list("subsessions")[0].id(), "expand=composition")
	require.Equal(t, source["composition"], sub["composition"])
	require.Equal(t, source["composition_status"], sub["composition_status"])
	require.Equal(t, "source", sub.at("composition_status.role"))
	require.NotContains(t, c.get(200, sub.id()), "composition")
}

func TestSourcesAreFoundWithLinkedSourcesAlone(t *testing.T) {
	c := newComposed(t)
	require.Equal(t, []string{c.target}, texts(c.search(object{}).Results, "id"))
	require.Equal(t, 1, c.search(object{}).Pagination.TotalResults)
	require.Equal(t, []string{c.target}, texts(c.list().Results, "id"))
	require.Empty(t, c.filtered(object{"isAbstract": true}).Results)
	all := []string{c.target, c.source, c.abstract}
	require.Equal(t, all, texts(c.search(object{"expand": []string{"linked_sources"}}).Results, "id"))
	require.Equal(t, all, texts(c.list("expand=linked_sources").Results, "id"))
	require.Equal(t, 3, c.list("expand=linked_sources", "page_size=1").Pagination.TotalResults)
	rows := c.statuses(object{"expand": []string{"linked_sources"}}).Results
	require.Equal(t, "source", byID(t, rows, c.source).at("composition_status.role"))
	part := c.get(200, c.source).list("subsessions")[0]
	require.Equal(t, c.get(200, part.id())["composition_status"], byID(t, rows, part.id())["composition_status"])
	for _, row := range c.statuses(object{}).Results {
		require.NotContains(t, []string{c.source, c.abstract, part.id()}, row.id(), "nor the subsessions of a source")
	}
	require.Equal(t, 2, c.statuses(object{}).Pagination.TotalResults)
	c.done("session-unlink", object{"source_id": c.source})
	require.Equal(t, []string{c.target, c.source}, texts(c.search(object{}).Results, "id"))
}

func TestAtMostFiftySources(t *testing.T) {
	d := newDesk(t)
	target := d.titled("Target")[0]
	operations := make([]object, 51)
	for i := range operations {
		operations[i] = creating(object{"title": "x"})
	}
	made := d.bulk(operations...)
	for i := range 50 {
		d.done("session-link", link(target, made.data(t, i).id(), "merged_session"))
	}
	d.forbidden(400, "VALIDATION_ERROR", "session-link", link(target, made.data(t, 50).id(), "merged_session"))
	full := d.get(200, target, "expand=composition")
	require.Equal(t, 50.0, full.at("composition_status.source_count"))
	require.Len(t, full.at("composition.sources"), 50)
	require.Equal(t, 2, d.search(object{}).Pagination.TotalResults)
}

func TestWhatACompositionRefuses(t *testing.T) {
	c := newComposed(t)
	other := c.titled("Other")[0]
	for _, id := range []string{c.source, c.abstract} {
		isRefused(t, c.remove(409, id), "COMPOSITION_LINKED", "")
		c.forbidden(409, "COMPOSITION_LINKED", "session-withdraw", object{"session_id": id, "who": "Ann", "why": "ill"})
		c.forbidden(409, "COMPOSITION_LINKED", "session-duplicate", object{"session_id": id})
		for _, target := range []string{other, c.target} {
			relationship := map[bool]string{true: "merged_session", false: "composed_into_session"}[id == c.source]
			c.forbidden(409, "COMPOSITION_LINKED", "session-link", link(target, id, relationship))
		}
	}
	c.forbidden(409, "COMPOSITION_LINKED", "session-link", link(c.source, other, "merged_session"))
	c.forbidden(409, "COMPOSITION_LINKED", "session-link", link(other, c.target, "merged_session"))
	isRefused(t, c.remove(409, c.target), "COMPOSITION_LINKED", "")
	c.done("session-withdraw", object{"session_id": c.target, "who": "Ann", "why": "ill"})
	copied := c.done("session-duplicate", object{"session_id": c.target})
	require.Equal(t, "standalone", copied.at("composition_status.role"), "a target may be copied, without its sources")
	c.remove(200, c.get(200, c.target).list("subsessions")[0].id())
	isRefused(t, c.remove(409, c.target), "COMPOSITION_LINKED", "")
	bulk := c.bulk(object{"action": "delete", "id": c.abstract}, object{"action": "delete", "id": c.target})
	bulk.failed(t, 0, "COMPOSITION_LINKED", "")
	bulk.failed(t, 1, "COMPOSITION_LINKED", "")
}

func TestASourceAcceptsUpdates(t *testing.T) {
	c := newComposed(t)
	note := c.field("Note", "text")
	c.put(200, c.source, object{"title": "Renamed", "status": "declined", "participants": []object{}})
	c.fields(200, c.source, object{note: "x"})
	c.bulk(object{"action": "update", "id": c.source, "data": object{"capacity": 5}}).data(t, 0)
	source := c.get(200, c.source)
	require.Equal(t, "Renamed", source["title"])
	require.Equal(t, "declined", source["status"])
	require.Equal(t, 5.0, source["capacity"])
	require.Equal(t, "x", source.list("custom_fields")[0]["value"])
	sources := c.get(200, c.target, "expand=composition").at("composition.sources").([]any)
	require.Equal(t, "Renamed", sources[0].(object)["title"], "titles are read, not copied")
	found := c.search(object{"expand": []string{"composition"}}).Results[0]
	require.Equal(t, sources, found.at("composition.sources"))
	c.put(200, c.target, object{"title": "Whole"})
	require.Equal(t, "Whole", c.get(200, c.source).at("composition_status.target.title"))
}

func TestUnlinkMakesBothStandalone(t *testing.T) {
	c := newComposed(t)
	before := c.get(200, c.target)
	unlinked := c.done("session-unlink", object{"source_id": c.abstract})
	require.Equal(t, "standalone", unlinked.at("composition_status.role"))
	after := c.get(200, c.target)
	require.Greater(t, after["updated_at"], before["updated_at"], "both sides change")
	require.Equal(t, 1.0, after.at("composition_status.source_count"))
	c.remove(200, c.abstract)
	c.forbidden(409, "NOT_LINKED", "session-unlink", object{"source_id": c.target})
	c.done("session-unlink", object{"source_id": c.source})
	for _, id := range []string{c.source, c.target} {
		require.Equal(t, "standalone", c.get(200, id).at("composition_status.role"))
		c.remove(200, c.get(200, id).list("subsessions")[0].id())
		c.remove(200, id)
	}
}

func TestWhatCanBeLinked(t *testing.T) {
	d := newDesk(t, "sessions_2_0")
	ids := d.titled("A", "B")
	var abstracts []string
	for range 2 {
		abstracts = append(abstracts, d.create(200, object{"title": "x", "is_abstract": true}).id())
	}
	sub, gone := d.sub(ids[0], "Part").id(), d.titled("Gone")[0]
	d.remove(200, gone)
	refuse := func(status int, code string, input object) {
		t.Helper()
		d.forbidden(status, code, "session-link", input)
	}
	const bad = "VALIDATION_ERROR"
	refuse(400, bad, link(sub, ids[1], "merged_session"))
	refuse(400, bad, link(ids[1], sub, "merged_session"))
	refuse(400, bad, link(ids[1], ids[1], "merged_session"))
	refuse(400, bad, link(ids[1], ids[0], "merged_abstract"))
	refuse(400, bad, link(ids[1], ids[0], "composed_into_session"))
	refuse(400, bad, link(ids[1], abstracts[0], "merged_session"))
	refuse(400, bad, link(abstracts[0], abstracts[1], "composed_into_session"))
	refuse(400, bad, link(abstracts[0], ids[0], "composed_into_session"))
	refuse(400, bad, link(ids[1], ids[0], "friends"))
	refuse(404, "NOT_FOUND", link(ids[1], uuid.NewString(), "merged_session"))
	refuse(404, "NOT_FOUND", link(uuid.NewString(), ids[1], "merged_session"))
	refuse(404, "NOT_FOUND", link(ids[1], gone, "merged_session"))
	refuse(404, "NOT_FOUND", link(ids[1], d.elsewhere().titled("There")[0], "merged_session"))
	d.forbidden(404, "NOT_FOUND", "session-unlink", object{"source_id": uuid.NewString()})
	source := d.done("session-link", link(abstracts[0], abstracts[1], "merged_abstract"))
	require.Equal(t, "source", source.at("composition_status.role"))
	require.Equal(t, abstracts[0], source.at("composition_status.target.id"))
}

func TestWithdrawAndDuplicate(t *testing.T) {
	d := newDesk(t)
	s := d.shelf()
	made := d.create(200, s.everything())
	d.sub(made.id(), "Part")
	d.done("session-withdraw", object{"session_id": made.id(), "who": "Ann", "why": "ill"})
	withdrawn := d.get(200, made.id())
	require.Equal(t, made["status"], withdrawn["status"], "withdrawal is separate from status")
	require.Greater(t, withdrawn["updated_at"], made["updated_at"])

	noted := d.done("session-show", object{"session_id": made.id()})
	require.Equal(t, "Ann", noted.at("withdrawal.who"))
	require.Equal(t, "ill", noted.at("withdrawal.why"))
	require.Equal(t, withdrawn["updated_at"], noted.at("withdrawal.at"))
	d.done("session-unwithdraw", object{"session_id": made.id()})
	require.Nil(t, d.done("session-show", object{"session_id": made.id()})["withdrawal"])

	copied := d.done("session-duplicate", object{"session_id": made.id()})
	want := maps.Clone(made)
	maps.Copy(want, entity{
		"id": copied.id(), "friendly_id": "SESS-2", "friendly_id_raw": 2.0, "status": "pending", "source": "admin",
		"created_at": copied["created_at"], "updated_at": copied["updated_at"],
	})
	got := d.get(200, copied.id())
	require.Equal(t, want, got)
	require.NotEqual(t, made.id(), got.id())
	require.Len(t, d.search(object{}).Results, 2)
	d.forbidden(400, "VALIDATION_ERROR", "session-duplicate",
		object{"session_id": d.get(200, made.id()).list("subsessions")[0].id()})
	d.forbidden(404, "NOT_FOUND", "session-duplicate", object{"session_id": uuid.NewString()})
	d.forbidden(404, "NOT_FOUND", "session-withdraw", object{"session_id": uuid.NewString(), "who": "a", "why": "b"})
}

// TestAnAbstractIsCopiedUnderItsFeatureOnly: a copy is one more abstract.
func TestAnAbstractIsCopiedUnderItsFeatureOnly(t *testing.T) {
	d := newDesk(t, "sessions_2_0")
	abstract := d.create(200, object{"title": "x", "is_abstract": true}).id()
	d.done("session-duplicate", object{"session_id": abstract})
	d.feature("sessions_2_0", false)
	d.forbidden(403, "FEATURE_NOT_ENABLED", "session-duplicate", object{"session_id": abstract})
}
