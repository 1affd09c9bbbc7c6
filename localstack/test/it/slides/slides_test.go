package slides_test

import (
	"image/color"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/session"
)

// drawn is the longest wait for a slide.
const drawn = 60 * time.Second

// TestSlidesFollowTheirSessions through the bus: on, a change, and off.
func TestSlidesFollowTheirSessions(t *testing.T) {
	stacktest.Everywhere(t)
	b := &bench{Client: &it.Client{Stack: stacktest.Start(t, stacktest.Publishing()), T: t}}
	b.NeedsSlides(t)
	id := b.talk("A talk", object{"participants": speakers(b.person("Ada", "Lovelace"))})
	b.Command("holding-slides", object{"on": true})
	var first, second entity
	require.Eventually(t, func() bool { first = b.slide(id); return first != nil }, drawn, 100*time.Millisecond)
	picture(t, b.Stack, first)
	b.Put(200, id, object{"title": "Another talk"})
	require.Eventually(t, func() bool { second = b.slide(id); return second["url"] != first["url"] }, drawn, 100*time.Millisecond)
	require.Equal(t, first.ID(), second.ID())
	room := b.NewEntry("rooms", "Hall").ID()
	b.Put(200, id, object{"location": "room", "room_id": room})
	require.Eventually(t, func() bool { return b.slide(id)["url"] != second["url"] }, drawn, 100*time.Millisecond)
	b.Command("holding-slides", object{"on": false})
	require.Eventually(t, func() bool { return b.slide(id) == nil }, drawn, 100*time.Millisecond)
}

// TestAcceptedSessionsHaveASlide, subsessions too, and no others. The file is one of the session's.
func TestAcceptedSessionsHaveASlide(t *testing.T) {
	b := newBench(t)
	b.SetFeature("sessions_2_0", true)
	id := b.talk("A talk", object{"participants": speakers(b.person("Ada", "Lovelace"))})
	pending := b.NewSessions("Not yet")[0]
	abstract := b.talk("An abstract", object{"is_abstract": true})
	part := b.NewSubsession(id, "A part", object{"status": "accepted"}).ID()
	b.settle()
	require.Nil(t, b.slide(id), "the slides are off")
	b.turn(object{"on": true})
	for _, without := range []string{pending, abstract} {
		require.Empty(t, b.filesOf(without))
	}
	require.NotNil(t, b.slide(part))
	slide := b.slide(id)
	require.Equal(t, object{
		"id": session.SlideID(id), "title": "Holding slide", "mimetype": "image/png", "type": "holding_slide",
		"label": "Holding slide", "content_slot_id": nil, "assigned_participant_id": nil, "assigned_participant_email": nil,
		"assigned_participant_name": nil, "scan_status": "not_scanned", "created_at": slide["updated_at"],
	}, it.Pick(slide, "id", "title", "mimetype", "type", "label", "content_slot_id", "assigned_participant_id",
		"assigned_participant_email", "assigned_participant_name", "scan_status", "created_at"))
	require.Regexp(t, `^SESS-1-holding-slide-[0-9a-f]{8}\.png$`, slide["filename"])
	picture(t, b.Stack, slide)
	require.Equal(t, []entity{slide}, b.filesOf(id))
	require.Empty(t, b.filesOf(id, "type=presentation"))
	require.Equal(t, []entity{slide}, b.Get(200, id).List("content"))
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestASlideIsDrawnAgainForEachChangeOfIt: id and created_at stay, and the former bytes are gone at once.
func TestASlideIsDrawnAgainForEachChangeOfIt(t *testing.T) {
	b := newBench(t)
	contacts := &it.Contacts{Client: b.Client}
	ada, bob := b.person("Ada", "Lovelace"), b.person("Bob", "Babbage")
	room, other := b.NewEntry("rooms", "Hall 1").ID(), b.NewEntry("rooms", "Hall 2").ID()
	id := b.talk("A talk", object{
		"participants": speakers(ada, bob), "starts_at": "2027-05-11T09:00:00Z", "ends_at": "2027-05-11T09:45:00Z",
		"location": "room", "room_id": room,
	})
	b.turn(object{"on": true})
	put := func(change object) func() { return func() { b.Put(200, id, change) } }
	rename := func(kind, id, name string) func() {
		return func() { b.Do(200, http.MethodPut, "/"+kind+"/"+id, object{"name": name}) }
	}
	blue := painted(t, 40, 30, color.RGBA{B: 0xff, A: 0xff})
	was := b.slide(id)
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"title", put(object{"title": "نص عربي"})},
		{"start", put(object{"starts_at": "2027-05-11T08:00:00Z"})},
		{"end", put(object{"ends_at": "2027-05-12T10:45:00Z"})},
		{"room", put(object{"room_id": other})},
		{"rename of the room", rename("rooms", other, "Ελληνικά")},
		{"location", put(object{"location": "virtual"})},
		{"location in the room", put(object{"location": "room"})},
		{"deletion of the room", func() { b.DeleteRecord("rooms", other) }},
		{"order of speakers", put(object{"participants": speakers(bob, ada)})},
		{"role", put(object{"participants": append(speakers(bob), object{"contact_id": ada, "core_role": "moderator"})})},
		{"name of a speaker", func() { contacts.Put(200, bob, object{"last_name": "日本語"}) }},
		{"speaker who leaves the event", func() { contacts.Delete(200, bob) }},
		{"speaker who comes back", func() { b.Do(200, http.MethodPost, "/contacts/"+bob+"/restore", nil) }},
		{"zone", func() { b.Command("event-update", object{"timezone": "Asia/Tokyo"}) }},
		{"background", func() { b.Command("holding-slides", object{"background": blue}) }},
		{"logo", func() { b.Command("holding-slides", object{"logo": blue}) }},
		{"no background", func() { b.Command("holding-slides", object{"background": nil}) }},
	} {
		step.change()
		b.settle()
		is := b.slide(id)
		for _, name := range []string{"url", "filename", "updated_at"} {
			require.NotEqual(t, was[name], is[name], "%s: %s", step.name, name)
		}
		require.Equal(t, it.Pick(was, "id", "created_at", "title"), it.Pick(is, "id", "created_at", "title"), step.name)
		b.As("").Call(t, 404, http.MethodGet, link(t, was), nil)
		require.Len(t, b.stored(), 1, step.name)
		picture(t, b.Stack, is)
		was = is
	}
	it.EngineOf(t, b.Stack).RequireWhole(t)
	require.Positive(t, b.Maintain(2).Uploads)
	it.EngineOf(t, b.Stack).RequireWhole(t)
	require.Equal(t, was, b.slide(id))
}

// TestOtherChangesLeaveASlide: of the description, of another session, of a person who does not speak, of a
// room that is not the session's, and a message that comes again.
func TestOtherChangesLeaveASlide(t *testing.T) {
	b := newBench(t)
	ada, eve := b.person("Ada", "Lovelace"), b.person("Eve", "Other")
	id := b.talk("A talk", object{"participants": append(speakers(ada), object{"contact_id": eve, "core_role": "moderator"})})
	b.turn(object{"on": true})
	was := b.slide(id)
	sessions := b.WatchChanges("session")
	sessions.Since()
	b.Put(200, id, object{"description": "A longer text", "capacity": 12})
	(&it.Contacts{Client: b.Client}).Put(200, eve, object{"last_name": "Changed"})
	(&it.Contacts{Client: b.Client}).Put(200, ada, object{"about": "A longer text"})
	b.Do(200, http.MethodPut, "/rooms/"+b.NewEntry("rooms", "Hall").ID(), object{"name": "Another hall"})
	b.Command("event-update", object{"name": "Another name"})
	b.Command("holding-slides", object{"on": true})
	require.Greater(t, b.settle(), 5)
	require.Equal(t, was, b.slide(id))
	require.Len(t, sessions.Since(), 1)
	require.Len(t, b.stored(), 1)
}

// TestANewRoomIsInNoSession and has no message; that of a rename looks at the sessions in the room.
func TestANewRoomIsInNoSession(t *testing.T) {
	b := newBench(t)
	b.talk("A talk")
	b.turn(object{"on": true})
	room := b.NewEntry("rooms", "Hall").ID()
	require.Empty(t, b.published())
	b.talk("Another talk", object{"location": "room", "room_id": room})
	b.settle()
	b.Do(200, http.MethodPut, "/rooms/"+room, object{"name": "First hall"})
	renamed := b.published()
	require.Len(t, renamed, 1)
	require.Zero(t, b.failures(b.worker(never), 1, renamed...))
	require.Len(t, b.taken(), 1)
}

// TestAChangeOfASlideIsPublished as that of any file, by the service.
func TestAChangeOfASlideIsPublished(t *testing.T) {
	b := newBench(t)
	id := b.talk("A talk")
	sessions := b.WatchChanges("session")
	sessions.Since()
	b.turn(object{"on": true})
	all := sessions.Since()
	require.Len(t, all, 1)
	require.Equal(t, "session.updated", all[0].Kinds[0].Name)
	require.Equal(t, []string{"content"}, all[0].Kinds[0].Fields)
	require.Equal(t, "service", all[0].Source)
	require.NotNil(t, b.slide(id))
}

// TestASlideGoesWithTheStatus and with the session, and comes back under the same id.
func TestASlideGoesWithTheStatus(t *testing.T) {
	b := newBench(t)
	id := b.talk("A talk")
	b.turn(object{"on": true})
	was := b.slide(id)
	for _, step := range []struct{ lose, regain func() }{
		{func() { b.Put(200, id, object{"status": "pending"}) }, func() { b.Put(200, id, object{"status": "accepted"}) }},
		{func() { b.Delete(200, id) }, func() { b.Restore(200, id) }},
		{func() { b.Command("holding-slides", object{"on": false}) }, func() { b.Command("holding-slides", object{"on": true}) }},
	} {
		step.lose()
		b.settle()
		require.Empty(t, b.stored())
		b.As("").Call(t, 404, http.MethodGet, link(t, was), nil)
		it.EngineOf(t, b.Stack).RequireWhole(t)
		step.regain()
		b.settle()
		is := b.slide(id)
		require.Equal(t, was.ID(), is.ID())
		require.NotEqual(t, was["url"], is["url"])
		require.NotEqual(t, was["filename"], is["filename"])
		was = is
	}
	b.Delete(200, id)
	b.settle()
	b.Maintain(40)
	require.Empty(t, b.stored())
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestLostBytesAreDrawnAgain when the slides are turned on once more: a restored table may name bytes that were removed
// since.
func TestLostBytesAreDrawnAgain(t *testing.T) {
	b := newBench(t)
	id, other := b.talk("A talk"), b.talk("Another talk")
	b.turn(object{"on": true})
	was, stays := b.slide(id), b.slide(other)
	for _, key := range b.stored() {
		if strings.Contains(key, id) {
			require.NoError(t, b.Bucket(t).Delete(t.Context(), key))
		}
	}
	b.Put(200, id, object{"description": "No slide shows it."})
	b.settle()
	require.Equal(t, was["url"], b.slide(id)["url"], "a change looks at no bytes")
	b.turn(object{"on": true})
	require.NotEqual(t, was["url"], b.slide(id)["url"])
	require.Equal(t, stays, b.slide(other))
	picture(t, b.Stack, b.slide(id))
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestAnEventWithoutSlidesSendsNoVisits, once its slides were turned off.
func TestAnEventWithoutSlidesSendsNoVisits(t *testing.T) {
	b := newBench(t)
	b.talk("A talk")
	b.turn(object{"on": true})
	b.turn(object{"on": false})
	b.Command("event-update", object{"timezone": "Europe/Paris"})
	changes := b.published()
	require.NotEmpty(t, changes)
	require.Zero(t, b.failures(b.worker(never), 1, changes...))
	require.Empty(t, b.taken())
}

// TestALongEventIsScannedInParts, and each of its accepted sessions has a slide.
func TestALongEventIsScannedInParts(t *testing.T) {
	b := newBench(t)
	var all []string
	for i := range 120 {
		if i%20 == 0 {
			all = append(all, b.talk("A talk"))
		} else {
			b.NewSessions("Not yet")
		}
	}
	b.settle()
	b.turn(object{"on": true})
	for _, id := range all {
		require.NotNil(t, b.slide(id))
	}
	require.Len(t, b.stored(), len(all))
}
