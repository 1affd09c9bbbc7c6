package sessions_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestSubsessionShapes(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	parent := d.NewSessions("Parent")[0]
	body := s.everything()
	body["parent_session_id"] = parent
	sub := d.Create(200, body)
	require.ElementsMatch(t, slices.Concat(fullKeys, parentKeys), sub.Keys())
	require.Equal(t, parent, sub["parent_session_id"])
	require.Equal(t, "SESS-1", sub["parent_session_friendly_id"])
	require.Equal(t, 1.0, sub["parent_session_friendly_id_raw"])
	require.Equal(t, "SESS-1-1", sub["friendly_id"])
	require.Equal(t, 1.0, sub["friendly_id_raw"])
	require.Equal(t, sub, d.Get(200, sub.ID()), "a subsession's id gives the full shape")
	require.Equal(t, sub, d.Get(200, sub.ID(), "expand=subsession_details"), "which has no effect there")

	minimal := it.Pick(sub, slices.Concat(coreKeys, parentKeys)...)
	full := it.Pick(sub, slices.Concat(coreKeys, detailKeys, parentKeys)...)
	whole := d.Get(200, parent)
	require.Equal(t, []any{minimal}, whole["subsessions"])
	require.NotContains(t, whole, "parent_session_friendly_id")
	require.Equal(t, []any{minimal}, d.List().Results[0]["subsessions"])
	require.Equal(t, []any{minimal}, d.Search(object{}).Results[0]["subsessions"])
	for _, r := range []entity{
		d.Get(200, parent, "expand=subsession_details"), d.List("expand=subsession_details").Results[0],
		d.Search(object{"expand": []string{"subsession_details"}}).Results[0],
		d.Put(200, parent, object{"capacity": 1}, "expand=subsession_details"),
	} {
		require.Equal(t, []any{full}, r["subsessions"])
	}
	require.Equal(t, []any{minimal}, d.Put(200, parent, object{"capacity": 2})["subsessions"])
}

func TestSubsessionsAreNotFoundBySearches(t *testing.T) {
	d := it.NewClient(t)
	track := d.NewEntry("tracks", "T").ID()
	parent := d.NewSessions("Parent")[0]
	d.NewSubsession(parent, "Part", object{"track_id": track, "status": "accepted"})
	require.Equal(t, []string{parent}, it.Texts(d.Search(object{}).Results, "id"))
	require.Equal(t, 1, d.Search(object{}).Pagination.TotalResults, "totals count top-level sessions")
	require.Equal(t, 1, d.List().Pagination.TotalResults)
	require.Empty(t, d.Filter(object{"trackIds": []string{track}}).Results, "filters match top-level sessions")
	require.Empty(t, d.Filter(object{"status": "accepted"}).Results)
	require.Empty(t, d.List("search=part").Results)
	require.Empty(t, d.List("search=SESS-1-1").Results)
	require.Equal(t, 2, d.SearchStatuses(object{}).Pagination.TotalResults)
}

func TestSubsessionsStandInTheOrderOfTheirNumbers(t *testing.T) {
	d := it.NewClient(t)
	parent := d.NewSessions("Parent")[0]
	var ids []string
	for _, title := range []string{"a", "b", "c"} {
		ids = append(ids, d.NewSubsession(parent, title).ID())
	}
	shown := func() []string { return it.Texts(d.Get(200, parent).List("subsessions"), "id") }
	require.Equal(t, ids, shown())
	d.Delete(200, ids[0])
	require.Equal(t, ids[1:], shown())
	next := d.NewSubsession(parent, "d")
	require.Equal(t, "SESS-1-4", next["friendly_id"], "a number is never reused")
	d.Delete(200, next.ID())
	require.Equal(t, "SESS-1-5", d.NewSubsession(parent, "e")["friendly_id"])
	restored := d.Restore(200, ids[0])
	require.Equal(t, "SESS-1-1", restored["friendly_id"])
	require.Equal(t, ids, shown()[:3], "a restored one is back in its place")
	require.Equal(t, "SESS-2", d.Create(200, object{"title": "Next"})["friendly_id"], "subsessions take none of the event's numbers")
}

func TestSubsessionsMoveTheirParent(t *testing.T) {
	d := it.NewClient(t)
	parent := d.Create(200, object{"title": "Parent"})
	moved := func(why string) {
		t.Helper()
		now := d.Get(200, parent.ID())
		require.Greater(t, now["updated_at"], parent["updated_at"], why)
		stale := d.Put(409, parent.ID(), object{"updated_at": parent["updated_at"]})
		require.Equal(t, now["updated_at"], stale.At("details.updated_at"))
		parent = now
	}
	sub := d.NewSubsession(parent.ID(), "Part")
	moved("created")
	d.Delete(200, sub.ID())
	moved("deleted")
	d.Restore(200, sub.ID())
	moved("restored")
	d.Put(200, sub.ID(), object{"title": "Changed"})
	now := d.Get(200, parent.ID())
	require.Equal(t, parent["updated_at"], now["updated_at"], "an update changes the subsession alone")
	require.Equal(t, "Changed", now.List("subsessions")[0]["title"])
	require.Equal(t, "Changed", d.Search(object{}).Results[0].List("subsessions")[0]["title"])
}

func TestSubsessionInheritsIsAbstract(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	abstract := d.Create(200, object{"title": "Abstract", "is_abstract": true}).ID()
	sub := d.NewSubsession(abstract, "Part")
	require.Equal(t, true, sub["is_abstract"])
	require.Equal(t, true, d.NewSubsession(abstract, "Part", object{"is_abstract": true})["is_abstract"])
	it.RequireInvalid(t, d.Create(400, object{"title": "x", "parent_session_id": abstract, "is_abstract": false}), "is_abstract")
	plain := d.NewSessions("Session")[0]
	require.Equal(t, false, d.NewSubsession(plain, "Part", object{"is_abstract": false})["is_abstract"])
	it.RequireInvalid(t, d.Create(400, object{"title": "x", "parent_session_id": plain, "is_abstract": true}), "is_abstract")
	require.Equal(t, true, d.Get(200, abstract).List("subsessions")[0]["is_abstract"])
	require.Equal(t, true, d.Put(200, sub.ID(), object{"is_abstract": true})["is_abstract"])
	it.RequireInvalid(t, d.Put(400, sub.ID(), object{"is_abstract": false}), "is_abstract")
}

func TestSubsessionRules(t *testing.T) {
	d := it.NewClient(t)
	parent, other := d.NewSessions("Parent")[0], d.NewSessions("Other")[0]
	sub := d.NewSubsession(parent, "Part")
	require.Nil(t, sub["status"], "a subsession's status may be null, and is by default")
	under := func(id string) object { return object{"title": "x", "parent_session_id": id} }
	it.RequireInvalid(t, d.Create(400, under(sub.ID())), "parent_session_id")
	it.RequireInvalid(t, d.Create(400, under(uuid.NewString())), "parent_session_id")
	it.RequireInvalid(t, d.InNewEvent().Create(400, under(parent)), "parent_session_id")
	for _, another := range []any{other, nil} {
		it.RequireInvalid(t, d.Put(400, sub.ID(), object{"parent_session_id": another}), "parent_session_id")
	}
	it.RequireInvalid(t, d.Put(400, other, object{"parent_session_id": parent}), "parent_session_id")
	require.Equal(t, sub["parent_session_id"], d.Put(200, sub.ID(), object{"parent_session_id": parent})["parent_session_id"],
		"what is equal to the stored value changes nothing")
	d.Put(200, other, object{"parent_session_id": nil})

	it.RequireError(t, d.Delete(409, parent), "HAS_SUBSESSIONS", "")
	d.Delete(200, sub.ID())
	d.Get(404, sub.ID())
	d.Delete(200, parent)
	it.RequireError(t, d.Restore(409, sub.ID()), "PARENT_DELETED", "")
	it.RequireError(t, d.Create(409, under(parent)), "PARENT_DELETED", "")
	d.Restore(200, parent)
	require.Empty(t, d.Get(200, parent).List("subsessions"), "its subsessions stay deleted")
	d.Restore(200, sub.ID())
	require.Len(t, d.Get(200, parent).List("subsessions"), 1)
}

func TestAtMostFiftySubsessions(t *testing.T) {
	d := it.NewClient(t)
	parent := d.NewSessions("Parent")[0]
	first := d.NewSubsession(parent, "first").ID()
	operations := make([]object, 51)
	for i := range operations {
		operations[i] = object{"action": "create", "data": object{"title": "x", "parent_session_id": parent}}
	}
	made := d.Bulk(operations...)
	require.Equal(t, 49, made.Stats.Succeeded, "each sees the earlier ones")
	for i := 49; i < 51; i++ {
		made.Failed(t, i, "VALIDATION_ERROR", "parent_session_id")
	}
	it.RequireInvalid(t, d.Create(400, object{"title": "x", "parent_session_id": parent}), "parent_session_id")
	subs := d.Get(200, parent).List("subsessions")
	require.Len(t, subs, 50)
	for i, sub := range subs {
		require.Equal(t, float64(i+1), sub["friendly_id_raw"])
	}
	d.Delete(200, first)
	d.NewSubsession(parent, "one more")
	it.RequireInvalid(t, d.Restore(400, first), "parent_session_id")
	require.Len(t, d.Get(200, parent).List("subsessions"), 50)
	require.Len(t, d.Search(object{}).Results[0].List("subsessions"), 50)
}
