package it_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestSubsessionShapes(t *testing.T) {
	d := newDesk(t)
	s := d.shelf()
	parent := d.titled("Parent")[0]
	body := s.everything()
	body["parent_session_id"] = parent
	sub := d.create(200, body)
	require.ElementsMatch(t, slices.Concat(fullKeys, parentKeys), sub.keys())
	require.Equal(t, parent, sub["parent_session_id"])
	require.Equal(t, "SESS-1", sub["parent_session_friendly_id"])
	require.Equal(t, 1.0, sub["parent_session_friendly_id_raw"])
	require.Equal(t, "SESS-1-1", sub["friendly_id"])
	require.Equal(t, 1.0, sub["friendly_id_raw"])
	require.Equal(t, sub, d.get(200, sub.id()), "a subsession's id gives the full shape")
	require.Equal(t, sub, d.get(200, sub.id(), "expand=subsession_details"), "which has no effect there")

	minimal := pick(sub, slices.Concat(coreKeys, parentKeys)...)
	full := pick(sub, slices.Concat(coreKeys, detailKeys, parentKeys)...)
	whole := d.get(200, parent)
	require.Equal(t, []any{minimal}, whole["subsessions"])
	require.NotContains(t, whole, "parent_session_friendly_id")
	require.Equal(t, []any{minimal}, d.list().Results[0]["subsessions"])
	require.Equal(t, []any{minimal}, d.search(object{}).Results[0]["subsessions"])
	for _, r := range []entity{
		d.get(200, parent, "expand=subsession_details"), d.list("expand=subsession_details").Results[0],
		d.search(object{"expand": []string{"subsession_details"}}).Results[0],
		d.put(200, parent, object{"capacity": 1}, "expand=subsession_details"),
	} {
		require.Equal(t, []any{full}, r["subsessions"])
	}
	require.Equal(t, []any{minimal}, d.put(200, parent, object{"capacity": 2})["subsessions"])
}

func TestSubsessionsAreNotFoundBySearches(t *testing.T) {
	d := newDesk(t)
	track := d.entry("tracks", "T").id()
	parent := d.titled("Parent")[0]
	d.sub(parent, "Part", object{"track_id": track, "status": "accepted"})
	require.Equal(t, []string{parent}, texts(d.search(object{}).Results, "id"))
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults, "totals count top-level sessions")
	require.Equal(t, 1, d.list().Pagination.TotalResults)
	require.Empty(t, d.filtered(object{"trackIds": []string{track}}).Results, "filters match top-level sessions")
	require.Empty(t, d.filtered(object{"status": "accepted"}).Results)
	require.Empty(t, d.list("search=part").Results)
	require.Empty(t, d.list("search=SESS-1-1").Results)
	require.Equal(t, 2, d.statuses(object{}).Pagination.TotalResults)
}

func TestSubsessionsStandInTheOrderOfTheirNumbers(t *testing.T) {
	d := newDesk(t)
	parent := d.titled("Parent")[0]
	var ids []string
	for _, title := range []string{"a", "b", "c"} {
		ids = append(ids, d.sub(parent, title).id())
	}
	shown := func() []string { return texts(d.get(200, parent).list("subsessions"), "id") }
	require.Equal(t, ids, shown())
	d.remove(200, ids[0])
	require.Equal(t, ids[1:], shown())
	next := d.sub(parent, "d")
	require.Equal(t, "SESS-1-4", next["friendly_id"], "a number is never reused")
	d.remove(200, next.id())
	require.Equal(t, "SESS-1-5", d.sub(parent, "e")["friendly_id"])
	restored := d.restore(200, ids[0])
	require.Equal(t, "SESS-1-1", restored["friendly_id"])
	require.Equal(t, ids, shown()[:3], "a restored one is back in its place")
	require.Equal(t, "SESS-2", d.create(200, object{"title": "Next"})["friendly_id"], "subsessions take none of the event's numbers")
}

func TestSubsessionsMoveTheirParent(t *testing.T) {
	d := newDesk(t)
	parent := d.create(200, object{"title": "Parent"})
	moved := func(why string) {
		t.Helper()
		now := d.get(200, parent.id())
		require.Greater(t, now["updated_at"], parent["updated_at"], why)
		stale := d.put(409, parent.id(), object{"updated_at": parent["updated_at"]})
		require.Equal(t, now["updated_at"], stale.at("details.updated_at"))
		parent = now
	}
	sub := d.sub(parent.id(), "Part")
	moved("created")
	d.remove(200, sub.id())
	moved("deleted")
	d.restore(200, sub.id())
	moved("restored")
	d.put(200, sub.id(), object{"title": "Changed"})
	now := d.get(200, parent.id())
	require.Equal(t, parent["updated_at"], now["updated_at"], "an update changes the subsession alone")
	require.Equal(t, "Changed", now.list("subsessions")[0]["title"])
	require.Equal(t, "Changed", d.search(object{}).Results[0].list("subsessions")[0]["title"])
}

func TestSubsessionInheritsIsAbstract(t *testing.T) {
	d := newDesk(t, "sessions_2_0")
	abstract := d.create(200, object{"title": "Abstract", "is_abstract": true}).id()
	sub := d.sub(abstract, "Part")
	require.Equal(t, true, sub["is_abstract"])
	require.Equal(t, true, d.sub(abstract, "Part", object{"is_abstract": true})["is_abstract"])
	isInvalid(t, d.create(400, object{"title": "x", "parent_session_id": abstract, "is_abstract": false}), "is_abstract")
	plain := d.titled("Session")[0]
	require.Equal(t, false, d.sub(plain, "Part", object{"is_abstract": false})["is_abstract"])
	isInvalid(t, d.create(400, object{"title": "x", "parent_session_id": plain, "is_abstract": true}), "is_abstract")
	require.Equal(t, true, d.get(200, abstract).list("subsessions")[0]["is_abstract"])
	require.Equal(t, true, d.put(200, sub.id(), object{"is_abstract": true})["is_abstract"])
	isInvalid(t, d.put(400, sub.id(), object{"is_abstract": false}), "is_abstract")
}

func TestSubsessionRules(t *testing.T) {
	d := newDesk(t)
	parent, other := d.titled("Parent")[0], d.titled("Other")[0]
	sub := d.sub(parent, "Part")
	require.Nil(t, sub["status"], "a subsession's status may be null, and is by default")
	under := func(id string) object { return object{"title": "x", "parent_session_id": id} }
	isInvalid(t, d.create(400, under(sub.id())), "parent_session_id")
	isInvalid(t, d.create(400, under(uuid.NewString())), "parent_session_id")
	isInvalid(t, d.elsewhere().create(400, under(parent)), "parent_session_id")
	for _, another := range []any{other, nil} {
		isInvalid(t, d.put(400, sub.id(), object{"parent_session_id": another}), "parent_session_id")
	}
	isInvalid(t, d.put(400, other, object{"parent_session_id": parent}), "parent_session_id")
	require.Equal(t, sub["parent_session_id"], d.put(200, sub.id(), object{"parent_session_id": parent})["parent_session_id"],
		"what is equal to the stored value changes nothing")
	d.put(200, other, object{"parent_session_id": nil})

	isRefused(t, d.remove(409, parent), "HAS_SUBSESSIONS", "")
	d.remove(200, sub.id())
	d.get(404, sub.id())
	d.remove(200, parent)
	isRefused(t, d.restore(409, sub.id()), "PARENT_DELETED", "")
	isRefused(t, d.create(409, under(parent)), "PARENT_DELETED", "")
	d.restore(200, parent)
	require.Empty(t, d.get(200, parent).list("subsessions"), "its subsessions stay deleted")
	d.restore(200, sub.id())
	require.Len(t, d.get(200, parent).list("subsessions"), 1)
}

func TestAtMostFiftySubsessions(t *testing.T) {
	d := newDesk(t)
	parent := d.titled("Parent")[0]
	first := d.sub(parent, "first").id()
	operations := make([]object, 51)
	for i := range operations {
		operations[i] = object{"action": "create", "data": object{"title": "x", "parent_session_id": parent}}
	}
	made := d.bulk(operations...)
	require.Equal(t, 49, made.Stats.Succeeded, "each sees the earlier ones")
	for i := 49; i < 51; i++ {
		made.failed(t, i, "VALIDATION_ERROR", "parent_session_id")
	}
	isInvalid(t, d.create(400, object{"title": "x", "parent_session_id": parent}), "parent_session_id")
	subs := d.get(200, parent).list("subsessions")
	require.Len(t, subs, 50)
	for i, sub := range subs {
		require.Equal(t, float64(i+1), sub["friendly_id_raw"])
	}
	d.remove(200, first)
	d.sub(parent, "one more")
	isInvalid(t, d.restore(400, first), "parent_session_id")
	require.Len(t, d.get(200, parent).list("subsessions"), 50)
	require.Len(t, d.search(object{}).Results[0].list("subsessions"), 50)
}
