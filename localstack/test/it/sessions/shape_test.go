package sessions_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// coreKeys are the properties of a minimal subsession but for its parent's, and
// detailKeys those that a full session has beside them (spec.md section 2.4).
var (
	coreKeys = []string{
		"id", "friendly_id", "friendly_id_raw", "title", "description", "starts_at", "ends_at", "is_abstract",
		"composition_status", "speakers", "participants", "format", "content", "created_at", "updated_at",
	}
	parentKeys = []string{"parent_session_id", "parent_session_friendly_id", "parent_session_friendly_id_raw"}
	detailKeys = []string{
		"status", "custom_status_id", "custom_status", "custom_fields", "chairpersons", "moderators", "sponsors",
		"exhibitors", "tags", "language", "track", "level", "location", "room", "is_public", "external_url",
		"client_session_id", "ceu_credits", "capacity", "source", "admin_url",
	}
	fullKeys = slices.Concat(coreKeys, detailKeys, []string{"subsessions"})
)

// shelf has an entry of every kind of metadata, and a custom field.
type shelf struct {
	room, track, level, format, language, tag, tag2 entity
	note                                            string
}

func newShelf(d *it.Client) shelf {
	d.T.Helper()
	return shelf{
		room: d.NewEntry("rooms", "Hall 1", object{"capacity": 400}), track: d.NewEntry("tracks", "Design", object{"color": "#aa00ff"}),
		level: d.NewEntry("levels", "Beginner"), format: d.NewEntry("formats", "Workshop"), language: d.NewEntry("languages", "Spanish"),
		tag: d.NewEntry("tags", "Mobile"), tag2: d.NewEntry("tags", "Web"), note: d.NewField("Note", "text"),
	}
}

// everything is a body with every property a session can be given here.
func (s shelf) everything() object {
	return object{
		"title": "Keynote", "description": "<p>Hello & <b>welcome</b></p>",
		"starts_at": "2027-05-11T09:30:00.123-05:00", "ends_at": "2027-05-11T15:30:00Z",
		"capacity": 120, "room_id": s.room.ID(), "track_id": s.track.ID(), "level_id": s.level.ID(),
		"format_id": s.format.ID(), "language_id": s.language.ID(), "tag_ids": []string{s.tag.ID(), s.tag2.ID()},
		"status": "accepted", "is_public": true, "external_url": "https://example.org/k?a=1&b=2",
		"client_session_id": "K-1", "ceu_credits": 1.5, "custom_fields": object{s.note: "Bring a hat"},
	}
}

func TestSessionShowsEveryField(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	made := d.Create(200, s.everything())
	id := made.ID()
	require.NoError(t, uuid.Validate(id))
	require.Equal(t, made["created_at"], made["updated_at"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, made["created_at"])
	fields := made.List("custom_fields")
	require.Len(t, fields, 1)
	require.NoError(t, uuid.Validate(fields[0].ID()))
	require.Equal(t, entity{
		"id": id, "friendly_id": "SESS-1", "friendly_id_raw": 1.0, "title": "Keynote",
		"description": "<p>Hello & <b>welcome</b></p>", "starts_at": "2027-05-11T14:30:00.123Z",
		"ends_at": "2027-05-11T15:30:00.000Z", "is_abstract": false,
		"composition_status": object{
			"role": "standalone", "is_linked": false, "is_read_only": false, "source_count": 0.0, "target": nil,
		},
		"subsessions": []any{}, "speakers": []any{}, "chairpersons": []any{}, "moderators": []any{}, "participants": []any{},
		"status": "accepted", "custom_status_id": nil, "custom_status": nil,
		"custom_fields": []any{object{
			"id": fields[0].ID(), "name": "Note", "type": "text", "internal_name": s.note, "value": "Bring a hat",
			"created_at": made["created_at"],
		}},
		"sponsors": []any{}, "exhibitors": []any{}, "content": []any{},
		"tags":     []any{it.Pick(s.tag, "id", "name", "created_at", "updated_at"), it.Pick(s.tag2, "id", "name", "created_at", "updated_at")},
		"language": nested(d, s.language, "id", "name", "order", "created_at", "updated_at"),
		"track":    nested(d, s.track, "id", "name", "color", "order", "created_at", "updated_at"),
		"level":    it.Pick(s.level, "id", "name", "order", "created_at", "updated_at"),
		"format":   it.Pick(s.format, "id", "name"),
		"room":     it.Pick(s.room, "id", "name", "order", "capacity", "created_at", "updated_at"),
		"location": "room", "is_public": true, "external_url": "https://example.org/k?a=1&b=2",
		"client_session_id": "K-1", "ceu_credits": 1.5, "capacity": 120.0, "source": "public_api", "admin_url": nil,
		"created_at": made["created_at"], "updated_at": made["updated_at"],
	}, made)
	require.Equal(t, made, d.Get(200, id), "a single GET shows what the create answered")
	require.Equal(t, []entity{made}, d.Search(object{}).Results)
	require.Equal(t, []entity{made}, d.List().Results)
}

// nested is a part of an entry with the id of the event.
func nested(d *it.Client, r entity, names ...string) object {
	part := it.Pick(r, names...)
	part["event_id"] = float64(d.Event)
	return part
}

func TestSessionOfATitleAlone(t *testing.T) {
	d := it.NewClient(t)
	made := d.Create(200, object{"title": "Bare"})
	require.ElementsMatch(t, fullKeys, made.Keys())
	for _, name := range []string{
		"description", "starts_at", "ends_at", "custom_status_id", "custom_status", "language", "track", "level", "format",
		"room", "location", "external_url", "client_session_id", "ceu_credits", "capacity", "admin_url",
	} {
		require.Nil(t, made[name], name)
	}
	for _, name := range []string{
		"speakers", "participants", "chairpersons", "moderators", "sponsors", "exhibitors", "tags", "custom_fields",
		"content", "subsessions",
	} {
		require.Equal(t, []any{}, made[name], name)
	}
	require.Equal(t, "pending", made["status"])
	require.Equal(t, false, made["is_public"])
	require.Equal(t, false, made["is_abstract"])
}

func TestUnassignedMetadataIsAnObjectOnSearchAlone(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("Bare")[0]
	d.NewSubsession(id, "Part")
	nested := []string{"language", "track", "level", "format", "room"}
	shown := map[string]entity{
		"get": d.Get(200, id), "list": d.List().Results[0], "update": d.Put(200, id, object{"capacity": 1}),
		"fields": d.PutFields(200, id, object{}),
	}
	other := d.NewSessions("Other")[0]
	shown["delete"] = d.Delete(200, other)
	shown["restore"] = d.Restore(200, other)
	shown["bulk"] = d.Bulk(object{"action": "update", "id": id, "data": object{"capacity": 2}}).Data(t, 0)
	for operation, r := range shown {
		for _, name := range nested {
			require.Contains(t, r, name, operation)
			require.Nil(t, r[name], "%s of %s", name, operation)
		}
	}
	require.Nil(t, shown["get"].List("subsessions")[0]["format"])
	found := it.ByID(t, d.Search(object{"expand": []string{"subsession_details"}}).Results, id)
	for _, r := range []entity{found, found.List("subsessions")[0]} {
		for _, name := range nested {
			require.Equal(t, object{}, r[name], name)
		}
	}
}

func TestUpdateChangesWhatIsSentAlone(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	want := d.Create(200, s.everything())
	track := d.NewEntry("tracks", "Code")
	for _, change := range []struct {
		sent  object
		shown object
	}{
		{object{"title": "Closing"}, nil},
		{object{"description": "Bye"}, nil},
		{object{"ends_at": "2027-05-13T18:00:00+01:00"}, object{"ends_at": "2027-05-13T17:00:00.000Z"}},
		{object{"starts_at": "2027-05-13T10:00:00Z"}, object{"starts_at": "2027-05-13T10:00:00.000Z"}},
		{object{"capacity": 7}, object{"capacity": 7.0}},
		{object{"location": "virtual"}, object{"location": "virtual", "room": nil}},
		{object{"location": "room"}, object{"location": "room", "room": want["room"]}},
		{object{"status": "declined"}, nil},
		{object{"is_public": false}, nil},
		{object{"external_url": "http://example.org"}, nil},
		{object{"client_session_id": "C-2"}, nil},
		{object{"ceu_credits": 0.25}, nil},
		{object{"tag_ids": []string{s.tag2.ID()}}, object{"tags": []any{want["tags"].([]any)[1]}}},
		{object{"track_id": track.ID()}, object{"track": nested(d, track, "id", "name", "color", "order", "created_at", "updated_at")}},
		{object{"unknown_property": 1, "friendly_id": "SESS-9", "source": "public_api", "created_at": "x"}, object{}},
	} {
		shown := change.shown
		if shown == nil {
			shown = change.sent
		}
		changed := d.Put(200, want.ID(), change.sent)
		require.Greater(t, changed["updated_at"], want["updated_at"], "%v", change.sent)
		maps.Copy(want, shown)
		want["updated_at"] = changed["updated_at"]
		require.Equal(t, want, changed, "%v", change.sent)
		require.Equal(t, want, d.Get(200, want.ID()))
		require.Equal(t, []entity{want}, d.List().Results, "the list sees the write at once")
	}
}

func TestNullClears(t *testing.T) {
	d := it.NewClient(t)
	s := newShelf(d)
	want := d.Create(200, s.everything())
	for sent, shown := range map[string]string{
		"description": "description", "starts_at": "starts_at", "ends_at": "ends_at", "capacity": "capacity",
		"room_id": "room", "track_id": "track", "level_id": "level", "format_id": "format", "language_id": "language",
		"external_url": "external_url", "client_session_id": "client_session_id", "ceu_credits": "ceu_credits",
		"location": "location",
	} {
		changed := d.Put(200, want.ID(), object{sent: nil})
		require.Nil(t, changed[shown], sent)
	}
	changed := d.Put(200, want.ID(), object{"tag_ids": []string{}, "custom_fields": object{s.note: nil}})
	require.Equal(t, []any{}, changed["tags"])
	require.Equal(t, []any{}, changed["custom_fields"])
	for _, name := range []string{"id", "friendly_id", "title", "status", "is_public", "created_at"} {
		require.Equal(t, want[name], changed[name], name)
	}
}

func TestRoomIsShownWhileTheLocationIsARoom(t *testing.T) {
	d := it.NewClient(t)
	room := d.NewEntry("rooms", "Hall")
	shown := it.Pick(room, "id", "name", "order", "capacity", "created_at", "updated_at")
	made := d.Create(200, object{"title": "A", "room_id": room.ID()})
	require.Equal(t, "room", made["location"], "room is the default when room_id is set")
	require.Equal(t, shown, made["room"])
	require.Nil(t, shown["capacity"])
	made = d.Create(200, object{"title": "B", "room_id": room.ID(), "location": "other"})
	require.Equal(t, "other", made["location"])
	require.Nil(t, made["room"])
	require.Equal(t, object{}, d.Filter(object{"createdAt": object{"after": d.List().Results[0]["created_at"]}}).Results[0]["room"])
	made = d.Put(200, made.ID(), object{"location": "room"})
	require.Equal(t, shown, made["room"], "the room was kept")
	made = d.Create(200, object{"title": "C", "location": "room"})
	require.Equal(t, "room", made["location"])
	require.Nil(t, made["room"])
}
