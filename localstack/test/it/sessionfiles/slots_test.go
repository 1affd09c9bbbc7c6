package sessionfiles_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/apierr"
)

const (
	// feature is the feature of events with slots.
	feature = "content_slots"
	// shape is the properties of a slot (spec.md 2.7), with name and times.
	shape = "allowed_file_types content_type created_at due_date due_date_extended id is_active max_files min_files name order required updated_at"
)

// TestSlotsOfAnEvent: the operator writes them, and the API shows them in the order of speakers.
func TestSlotsOfAnEvent(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t, feature)
	require.Equal(t, `{"data":[]}`, string(d.Call(t, 200, http.MethodGet, d.EventPath("/content-slots"), nil).Body))
	plain := d.newSlot("Slides")
	whole := object{
		"name": "Poster", "content_type": "poster", "due_date": "2027-05-01T12:00:00Z", "due_date_extended": "2027-05-03T12:00:00+02:00",
		"allowed_file_types": []any{"application/pdf", "image/*"}, "min_files": 1, "max_files": 3, "required": true, "order": 2, "is_active": true,
	}
	poster := d.Command("content-slot-create", whole)
	require.Equal(t, []any{}, poster["format_ids"])
	first := d.newSlot("Before", object{"order": 1})

	all := d.slots()
	want := []entity{plain, first, poster}
	require.Equal(t, it.Texts(want, "id"), it.Texts(all, "id"))
	require.Equal(t, shape, it.KeysOf(all[2]), "formats and tracks are the operator's")
	require.Equal(t, it.Merged(whole, object{
		"due_date": "2027-05-01T12:00:00.000Z", "due_date_extended": "2027-05-03T10:00:00.000Z", "min_files": 1.0, "max_files": 3.0, "order": 2.0,
	}), it.Pick(all[2], "name", "content_type", "due_date", "due_date_extended", "allowed_file_types", "min_files", "max_files", "required", "order", "is_active"))
	require.Equal(t, object{
		"due_date": nil, "due_date_extended": nil, "allowed_file_types": []any{}, "min_files": 0.0, "max_files": 1.0, "required": false, "order": 0.0, "is_active": true,
	}, it.Pick(all[0], "due_date", "due_date_extended", "allowed_file_types", "min_files", "max_files", "required", "order", "is_active"))

	changed := d.Command("content-slot-update", object{"slot_id": first.ID(), "order": 3, "max_files": 5})
	require.Equal(t, object{"name": "Before", "order": 3.0, "max_files": 5.0}, it.Pick(changed, "name", "order", "max_files"))
	require.Greater(t, changed.Text("updated_at"), first.Text("updated_at"))
	require.Equal(t, []string{"Slides", "Poster", "Before"}, d.names())
	require.Equal(t, []string{"Slides", "Poster", "Before"}, it.Texts(d.Command("content-slot-list", object{}).List("results"), "name"))

	d.archive(poster.ID())
	require.Equal(t, []string{"Slides", "Before"}, d.names())
	require.Equal(t, d.names(), d.names("include_archived=false"))
	require.Equal(t, []string{"Slides", "Poster", "Before"}, d.names("include_archived=true"))
	require.Equal(t, false, d.slots("include_archived=true")[1]["is_active"])
	d.Command("content-slot-update", object{"slot_id": poster.ID(), "is_active": true})
	require.Len(t, d.slots(), 3)
}

// TestSlotsOfOneOrder go by id.
func TestSlotsOfOneOrder(t *testing.T) {
	d := newDesk(t, feature)
	for i := range 6 {
		d.newSlot(fmt.Sprint("Slot ", i), object{"order": 7})
	}
	ids := it.Texts(d.slots(), "id")
	require.True(t, slices.IsSorted(ids))
	require.Equal(t, ids, it.Texts(d.slots("session_id="+d.NewSessions("A talk")[0]), "id"))
}

// TestSlotsOfASession: a slot names formats and tracks, and the session must be in both.
func TestSlotsOfASession(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t, feature)
	talk, panel := d.NewEntry("formats", "Talk").ID(), d.NewEntry("formats", "Panel").ID()
	web, data := d.NewEntry("tracks", "Web").ID(), d.NewEntry("tracks", "Data").ID()
	d.newSlot("all", object{"order": 1})
	d.newSlot("talks", object{"order": 2, "format_ids": []any{talk}})
	d.newSlot("web", object{"order": 3, "track_ids": []any{web}})
	d.newSlot("web panels", object{"order": 4, "format_ids": []any{panel}, "track_ids": []any{web}})
	both := d.newSlot("both formats", object{"order": 5, "format_ids": []any{panel, talk}})
	d.archive(d.newSlot("archived").ID())
	for _, c := range []struct {
		format, track any
		want          []string
	}{
		{nil, nil, []string{"all"}},
		{talk, nil, []string{"all", "talks", "both formats"}},
		{talk, web, []string{"all", "talks", "web", "both formats"}},
		{panel, web, []string{"all", "web", "web panels", "both formats"}},
		{panel, data, []string{"all", "both formats"}},
		{nil, web, []string{"all", "web"}},
	} {
		id := d.Create(200, object{"title": "A talk", "format_id": c.format, "track_id": c.track}).ID()
		require.Equal(t, c.want, d.ofSession(id))
		require.Equal(t, c.want, d.names("session_id="+id, "include_archived=true"), "archived slots apply to no session")
	}
	id := d.NewSessions("Changes")[0]
	sub := d.NewSubsession(id, "A part", object{"format_id": panel}).ID()
	require.Equal(t, []string{"all", "both formats"}, d.ofSession(sub))
	d.Put(200, id, object{"format_id": talk})
	require.Equal(t, []string{"all", "talks", "both formats"}, d.ofSession(id))
	d.Command("content-slot-update", object{"slot_id": both.ID(), "format_ids": []any{}, "track_ids": []any{data}})
	require.Equal(t, []string{"all", "talks"}, d.ofSession(id))

	require.Equal(t, "Session not found", d.Do(404, http.MethodGet, "/content-slots?session_id="+it.UnknownID, nil)["message"])
	other := &desk{d.InNewEvent(feature), ""}
	d.Do(404, http.MethodGet, "/content-slots?session_id="+other.NewSessions("Elsewhere")[0], nil)
	require.Empty(t, other.slots())
	d.Delete(200, sub)
	d.Do(404, http.MethodGet, "/content-slots?session_id="+sub, nil)
	d.Restore(200, sub)
	require.Equal(t, []string{"all"}, d.ofSession(sub), "the track of the last slot is another")
}

// TestAnEventWithoutSlots has an empty list, also when slots were made before.
func TestAnEventWithoutSlots(t *testing.T) {
	d := newDesk(t)
	id := d.NewSessions("A talk")[0]
	require.Empty(t, d.slots())
	require.Empty(t, d.ofSession(id))
	d.Do(404, http.MethodGet, "/content-slots?session_id="+it.UnknownID, nil)
	_, refused := d.TryCommand("content-slot-create", object{"name": "Slides", "content_type": "presentation"})
	require.Equal(t, 403, refused.Status)

	d.SetFeature(feature, true)
	d.newSlot("Slides")
	require.Equal(t, []string{"Slides"}, d.ofSession(id))
	d.SetFeature(feature, false)
	require.Empty(t, d.slots())
	require.Empty(t, d.ofSession(id))
}

// TestWrongSlots: each refusal names the field, and writes nothing.
func TestWrongSlots(t *testing.T) {
	d := newDesk(t, feature)
	format, track := d.NewEntry("formats", "Talk").ID(), d.NewEntry("tracks", "Web").ID()
	gone := d.NewEntry("tracks", "Gone").ID()
	d.DeleteRecord("tracks", gone)
	slot := d.newSlot("Slides", object{"due_date": "2027-05-01T12:00:00Z", "max_files": 3, "format_ids": []any{format}, "track_ids": []any{track}})
	for _, c := range []struct {
		field string
		body  object
	}{
		{"name", object{"name": nil}}, {"name", object{"name": " "}}, {"name", object{"name": strings.Repeat("x", 256)}},
		{"content_type", object{"content_type": nil}}, {"content_type", object{"content_type": "Slides"}}, {"content_type", object{"content_type": ""}},
		{"due_date", object{"due_date": "2027-05-01"}},
		{"due_date_extended", object{"due_date_extended": "2027-04-30T12:00:00Z", "due_date": "2027-05-01T12:00:00Z"}},
		{"due_date_extended", object{"due_date_extended": "2027-05-30T12:00:00Z", "due_date": nil}},
		{"allowed_file_types", object{"allowed_file_types": nil}}, {"allowed_file_types[0]", object{"allowed_file_types": []any{"pdf"}}},
		{"allowed_file_types[1]", object{"allowed_file_types": []any{"image/*", "*/*"}}},
		{"allowed_file_types[1]", object{"allowed_file_types": []any{"image/png", "image/png"}}},
		{"min_files", object{"min_files": -1}}, {"min_files", object{"min_files": 4, "max_files": 3}},
		{"max_files", object{"max_files": 0}}, {"max_files", object{"max_files": 101}}, {"max_files", object{"max_files": nil}},
		{"required", object{"required": "yes"}}, {"order", object{"order": -1}}, {"is_active", object{"is_active": nil}},
		{"format_ids[0]", object{"format_ids": []any{"x"}}}, {"format_ids[1]", object{"format_ids": []any{format, track}}},
		{"track_ids[0]", object{"track_ids": []any{it.UnknownID}}}, {"track_ids[0]", object{"track_ids": []any{gone}}},
	} {
		for command, input := range map[string]object{
			"content-slot-create": it.Merged(object{"name": "More", "content_type": "poster"}, c.body),
			"content-slot-update": it.Merged(object{"slot_id": slot.ID()}, c.body),
		} {
			_, refused := d.TryCommand(command, input)
			require.Equal(t, 400, refused.Status, "%s %v", command, c.body)
			require.Equal(t, c.field, refused.Details["field"], "%s %v", command, c.body)
		}
	}
	for _, field := range []string{"name", "content_type"} {
		body := object{"name": "More", "content_type": "poster"}
		delete(body, field)
		_, refused := d.TryCommand("content-slot-create", body)
		require.Equal(t, field, refused.Details["field"])
	}
	require.Equal(t, []entity{slot}, d.Command("content-slot-list", object{}).List("results"))

	_, refused := d.TryCommand("content-slot-update", object{"slot_id": it.UnknownID, "name": "x"})
	require.Equal(t, "Content slot not found", refused.Message)
	_, refused = (&desk{d.InNewEvent(feature), ""}).TryCommand("content-slot-update", object{"slot_id": slot.ID(), "name": "x"})
	require.Equal(t, 404, refused.Status)

	for _, query := range []string{"session_id=x", "include_archived=maybe", "include_archived="} {
		name, _, _ := strings.Cut(query, "=")
		it.RequireInvalid(t, d.Do(400, http.MethodGet, "/content-slots?"+query, nil), name)
	}
}

// TestTooManySlots: an event may have so many, archived slots too.
func TestTooManySlots(t *testing.T) {
	d := newDesk(t, feature)
	for i := range 3 {
		d.archive(d.newSlot(fmt.Sprint("Slot ", i)).ID())
	}
	env := d.Env(t)
	env.Memory, env.MostRecords = new(api.Memory), 3
	in := it.Encode(t, object{"org_id": d.Org, "event_id": d.Event, "name": "More", "content_type": "poster"})
	_, err := operator.New(env).Do(t.Context(), "content-slot-create", in)
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "LIMIT_REACHED", refused.Code)
	require.Equal(t, map[string]any{"limit": "content slots", "maximum": int64(3)}, refused.Details)
	require.Len(t, d.slots("include_archived=true"), 3)
}
