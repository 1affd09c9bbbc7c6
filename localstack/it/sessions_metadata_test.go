package it_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestDeletedMetadataReadsAsUnassigned(t *testing.T) {
	d := newDesk(t)
	s := d.shelf()
	made := d.create(200, s.everything())
	for _, c := range []struct{ kind, id, shown, sent string }{
		{"rooms", s.room.id(), "room", "room_id"}, {"tracks", s.track.id(), "track", "track_id"},
		{"levels", s.level.id(), "level", "level_id"}, {"formats", s.format.id(), "format", "format_id"},
		{"languages", s.language.id(), "language", "language_id"},
	} {
		d.drop(c.kind, c.id)
		got := d.get(200, made.id())
		require.Contains(t, got, c.shown)
		require.Nil(t, got[c.shown], c.shown)
		require.Nil(t, d.list().Results[0][c.shown])
		require.Equal(t, object{}, d.search(object{}).Results[0][c.shown])
		isInvalid(t, d.put(400, made.id(), object{c.sent: c.id}), c.sent)
		require.Equal(t, made["updated_at"], got["updated_at"], "sessions are not rewritten")
	}
	d.drop("tags", s.tag.id())
	require.Equal(t, []string{"Web"}, texts(d.get(200, made.id()).list("tags"), "name"))
	isInvalid(t, d.put(400, made.id(), object{"tag_ids": []string{s.tag2.id(), s.tag.id()}}), "tag_ids[1]")
	require.Equal(t, "New", d.put(200, made.id(), object{"title": "New"})["title"], "the session is not broken")
	require.Nil(t, d.get(200, made.id())["track"])
}

func TestRenamedMetadataShowsOnItsSessions(t *testing.T) {
	d := newDesk(t)
	track := d.entry("tracks", "Old")
	made := d.create(200, object{"title": "A", "track_id": track.id()})
	etag := d.Call(t, 200, "GET", d.EventPath("/sessions/"+made.id()), nil).Header.Get("ETag")
	d.send(200, "PUT", "/tracks/"+track.id(), object{"name": "New", "color": "#112233"})
	require.Equal(t, "New", d.get(200, made.id()).at("track.name"))
	require.Equal(t, "#112233", d.search(object{}).Results[0].at("track.color"))
	d.Call(t, 200, "GET", d.EventPath("/sessions/"+made.id()), nil, "If-None-Match", etag)
	d.send(200, "PUT", "/sessions/"+made.id(), object{"capacity": 1}, "If-Match", etag)
}

func TestMetadataOfOthersIsUnknown(t *testing.T) {
	d := newDesk(t)
	there := d.elsewhere()
	tracks := []string{uuid.NewString(), there.entry("tracks", "There").id(), d.entry("levels", "Level").id()}
	for _, id := range tracks {
		isInvalid(t, d.create(400, object{"title": "A", "track_id": id}), "track_id")
		isInvalid(t, d.create(400, object{"title": "A", "tag_ids": []string{id}}), "tag_ids[0]")
	}
	tag := d.entry("tags", "Tag").id()
	isInvalid(t, d.create(400, object{"title": "A", "tag_ids": []string{tag, tag}}), "tag_ids[1]")
}

func TestStatusRules(t *testing.T) {
	d := newDesk(t, "sessions_2_0")
	id := d.titled("A")[0]
	abstract := d.create(200, object{"title": "B", "is_abstract": true})
	require.Equal(t, "pending", abstract["status"])
	require.Equal(t, "pending", d.get(200, id)["status"])
	for _, from := range gridStatuses {
		for _, to := range gridStatuses {
			d.put(200, id, object{"status": from})
			require.Equal(t, to, d.put(200, id, object{"status": to})["status"], "any to any")
		}
	}
	isInvalid(t, d.put(400, id, object{"status": nil}), "status")
	isInvalid(t, d.create(400, object{"title": "C", "status": nil}), "status")
	sub := d.sub(id, "Part", object{"status": "accepted"})
	require.Equal(t, "accepted", sub["status"], "a subsession's status is its own")
	require.Equal(t, "declined", d.get(200, id)["status"])
	require.Nil(t, d.put(200, sub.id(), object{"status": nil})["status"])
	require.Nil(t, d.sub(id, "Part", object{"status": nil})["status"])
}

func TestCustomStatusBringsItsCategory(t *testing.T) {
	d := newDesk(t)
	maybe := d.entry("statuses", "Maybe", object{"status": "accept_queue"})
	plain := d.entry("statuses", "Plain")
	require.Equal(t, "pending", plain["status"])
	shown := object{"id": maybe.id(), "name": "Maybe"}
	made := d.create(200, object{"title": "A", "custom_status_id": maybe.id()})
	require.Equal(t, "accept_queue", made["status"])
	require.Equal(t, maybe.id(), made["custom_status_id"])
	require.Equal(t, shown, made["custom_status"])
	id := made.id()
	require.Equal(t, []string{id}, texts(d.filtered(object{"status": "accept_queue"}).Results, "id"))

	changed := d.put(200, id, object{"status": "accept_queue"})
	require.Nil(t, changed["custom_status"], "a status sent alone clears it, also the same one")
	changed = d.put(200, id, object{"custom_status_id": maybe.id(), "status": "accept_queue"})
	require.Equal(t, shown, changed["custom_status"], "both, agreeing")
	isInvalid(t, d.put(400, id, object{"custom_status_id": maybe.id(), "status": "accepted"}), "status")
	isInvalid(t, d.create(400, object{"title": "x", "custom_status_id": maybe.id(), "status": "pending"}), "status")
	changed = d.put(200, id, object{"custom_status_id": plain.id()})
	require.Equal(t, "pending", changed["status"])
	changed = d.put(200, id, object{"custom_status_id": nil})
	require.Nil(t, changed["custom_status_id"])
	require.Equal(t, "pending", changed["status"])
	require.Equal(t, "pending", d.put(200, id, object{"title": "B"})["status"])
	for _, unknown := range []string{uuid.NewString(), d.elsewhere().entry("statuses", "There").id(), d.builtIn("accepted")} {
		isInvalid(t, d.put(400, id, object{"custom_status_id": unknown}), "custom_status_id")
	}
}

// builtIn is the id of a built-in status.
func (d *desk) builtIn(value string) string {
	d.t.Helper()
	var all []entity
	d.Call(d.t, 200, "GET", d.EventPath("/statuses"), nil).Into(d.t, &all)
	for _, status := range all {
		if status["status"] == value && status["is_custom"] == false {
			return status.id()
		}
	}
	require.Fail(d.t, "there is no built-in status", value)
	return ""
}

func TestSessionsHaveARestoredStatusAgain(t *testing.T) {
	d := newDesk(t)
	maybe := d.entry("statuses", "Maybe", object{"status": "accept_queue"}).id()
	made := d.create(200, object{"title": "A", "custom_status_id": maybe})
	d.drop("statuses", maybe)
	for _, r := range []entity{d.get(200, made.id()), d.search(object{}).Results[0], d.list().Results[0], d.statuses(object{}).Results[0]} {
		require.Nil(t, r["custom_status"])
		require.Nil(t, r["custom_status_id"])
		require.Equal(t, "accept_queue", r["status"], "the category stays")
		require.Equal(t, made["updated_at"], r["updated_at"])
	}
	isInvalid(t, d.put(400, made.id(), object{"custom_status_id": maybe}), "custom_status_id")
	d.put(200, made.id(), object{"title": "B"})
	d.send(200, "POST", "/statuses/"+maybe+"/restore", nil)
	for _, r := range []entity{d.get(200, made.id()), d.search(object{}).Results[0], d.statuses(object{}).Results[0]} {
		require.Equal(t, maybe, r["custom_status_id"])
		require.Equal(t, "Maybe", r.at("custom_status.name"))
	}
}
