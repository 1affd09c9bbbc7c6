package sessions_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestDeletedMetadataReadsAsUnassigned(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	made := d.Create(200, s.everything())
	for _, c := range []struct{ kind, id, shown, sent string }{
		{"rooms", s.room.ID(), "room", "room_id"}, {"tracks", s.track.ID(), "track", "track_id"},
		{"levels", s.level.ID(), "level", "level_id"}, {"formats", s.format.ID(), "format", "format_id"},
		{"languages", s.language.ID(), "language", "language_id"},
	} {
		d.DeleteRecord(c.kind, c.id)
		got := d.Get(200, made.ID())
		require.Contains(t, got, c.shown)
		require.Nil(t, got[c.shown], c.shown)
		require.Nil(t, d.List().Results[0][c.shown])
		require.Equal(t, object{}, d.Search(object{}).Results[0][c.shown])
		it.RequireInvalid(t, d.Put(400, made.ID(), object{c.sent: c.id}), c.sent)
		require.Equal(t, made["updated_at"], got["updated_at"], "sessions are not rewritten")
	}
	d.DeleteRecord("tags", s.tag.ID())
	require.Equal(t, []string{"Web"}, it.Texts(d.Get(200, made.ID()).List("tags"), "name"))
	it.RequireInvalid(t, d.Put(400, made.ID(), object{"tag_ids": []string{s.tag2.ID(), s.tag.ID()}}), "tag_ids[1]")
	require.Equal(t, "New", d.Put(200, made.ID(), object{"title": "New"})["title"], "the session is not broken")
	require.Nil(t, d.Get(200, made.ID())["track"])
}

func TestRenamedMetadataShowsOnItsSessions(t *testing.T) {
	d := it.NewClient(t)
	track := d.NewEntry("tracks", "Old")
	made := d.Create(200, object{"title": "A", "track_id": track.ID()})
	etag := d.Call(t, 200, "GET", d.EventPath("/sessions/"+made.ID()), nil).Header.Get("ETag")
	d.Do(200, "PUT", "/tracks/"+track.ID(), object{"name": "New", "color": "#112233"})
	require.Equal(t, "New", d.Get(200, made.ID()).At("track.name"))
	require.Equal(t, "#112233", d.Search(object{}).Results[0].At("track.color"))
	d.Call(t, 200, "GET", d.EventPath("/sessions/"+made.ID()), stacktest.WithHeaders(nil, "If-None-Match", etag))
	d.Do(200, "PUT", "/sessions/"+made.ID(), object{"capacity": 1}, "If-Match", etag)
}

func TestMetadataOfOthersIsUnknown(t *testing.T) {
	d := it.NewClient(t)
	there := d.InNewEvent()
	tracks := []string{uuid.NewString(), there.NewEntry("tracks", "There").ID(), d.NewEntry("levels", "Level").ID()}
	for _, id := range tracks {
		it.RequireInvalid(t, d.Create(400, object{"title": "A", "track_id": id}), "track_id")
		it.RequireInvalid(t, d.Create(400, object{"title": "A", "tag_ids": []string{id}}), "tag_ids[0]")
	}
	tag := d.NewEntry("tags", "Tag").ID()
	it.RequireInvalid(t, d.Create(400, object{"title": "A", "tag_ids": []string{tag, tag}}), "tag_ids[1]")
}

func TestStatusRules(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	id := d.NewSessions("A")[0]
	abstract := d.Create(200, object{"title": "B", "is_abstract": true})
	require.Equal(t, "pending", abstract["status"])
	require.Equal(t, "pending", d.Get(200, id)["status"])
	for _, from := range gridStatuses {
		for _, to := range gridStatuses {
			d.Put(200, id, object{"status": from})
			require.Equal(t, to, d.Put(200, id, object{"status": to})["status"], "any to any")
		}
	}
	it.RequireInvalid(t, d.Put(400, id, object{"status": nil}), "status")
	it.RequireInvalid(t, d.Create(400, object{"title": "C", "status": nil}), "status")
	sub := d.NewSubsession(id, "Part", object{"status": "accepted"})
	require.Equal(t, "accepted", sub["status"], "a subsession's status is its own")
	require.Equal(t, "declined", d.Get(200, id)["status"])
	require.Nil(t, d.Put(200, sub.ID(), object{"status": nil})["status"])
	require.Nil(t, d.NewSubsession(id, "Part", object{"status": nil})["status"])
}

func TestCustomStatusBringsItsCategory(t *testing.T) {
	d := it.NewClient(t)
	maybe := d.NewEntry("statuses", "Maybe", object{"status": "accept_queue"})
	plain := d.NewEntry("statuses", "Plain")
	require.Equal(t, "pending", plain["status"])
	shown := object{"id": maybe.ID(), "name": "Maybe"}
	made := d.Create(200, object{"title": "A", "custom_status_id": maybe.ID()})
	require.Equal(t, "accept_queue", made["status"])
	require.Equal(t, maybe.ID(), made["custom_status_id"])
	require.Equal(t, shown, made["custom_status"])
	id := made.ID()
	require.Equal(t, []string{id}, it.Texts(d.Filter(object{"status": "accept_queue"}).Results, "id"))

	changed := d.Put(200, id, object{"status": "accept_queue"})
	require.Nil(t, changed["custom_status"], "a status sent alone clears it, also the same one")
	changed = d.Put(200, id, object{"custom_status_id": maybe.ID(), "status": "accept_queue"})
	require.Equal(t, shown, changed["custom_status"], "both, agreeing")
	it.RequireInvalid(t, d.Put(400, id, object{"custom_status_id": maybe.ID(), "status": "accepted"}), "status")
	it.RequireInvalid(t, d.Create(400, object{"title": "x", "custom_status_id": maybe.ID(), "status": "pending"}), "status")
	changed = d.Put(200, id, object{"custom_status_id": plain.ID()})
	require.Equal(t, "pending", changed["status"])
	changed = d.Put(200, id, object{"custom_status_id": nil})
	require.Nil(t, changed["custom_status_id"])
	require.Equal(t, "pending", changed["status"])
	require.Equal(t, "pending", d.Put(200, id, object{"title": "B"})["status"])
	for _, unknown := range []string{uuid.NewString(), d.InNewEvent().NewEntry("statuses", "There").ID(), d.BuiltInStatus("accepted")} {
		it.RequireInvalid(t, d.Put(400, id, object{"custom_status_id": unknown}), "custom_status_id")
	}
}

func TestSessionsHaveARestoredStatusAgain(t *testing.T) {
	d := it.NewClient(t)
	maybe := d.NewEntry("statuses", "Maybe", object{"status": "accept_queue"}).ID()
	made := d.Create(200, object{"title": "A", "custom_status_id": maybe})
	d.DeleteRecord("statuses", maybe)
	for _, r := range []entity{d.Get(200, made.ID()), d.Search(object{}).Results[0], d.List().Results[0], d.SearchStatuses(object{}).Results[0]} {
		require.Nil(t, r["custom_status"])
		require.Nil(t, r["custom_status_id"])
		require.Equal(t, "accept_queue", r["status"], "the category stays")
		require.Equal(t, made["updated_at"], r["updated_at"])
	}
	it.RequireInvalid(t, d.Put(400, made.ID(), object{"custom_status_id": maybe}), "custom_status_id")
	d.Put(200, made.ID(), object{"title": "B"})
	d.Do(200, "POST", "/statuses/"+maybe+"/restore", nil)
	for _, r := range []entity{d.Get(200, made.ID()), d.Search(object{}).Results[0], d.SearchStatuses(object{}).Results[0]} {
		require.Equal(t, maybe, r["custom_status_id"])
		require.Equal(t, "Maybe", r.At("custom_status.name"))
	}
}
