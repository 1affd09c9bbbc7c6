package people_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// anywhere are the sessions of a contact on all events.
func anywhere(c *it.Programme, status int, id string) entity {
	c.T.Helper()
	path := fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, id)
	return c.Call(c.T, status, http.MethodGet, path, nil).JSON(c.T)
}

func TestSessionsOfAContact(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann", "Bob", "Eve")
	c.NewRole("Panelist", "speaker")
	maybe := c.NewEntry("statuses", "Maybe", object{"status": "accept_queue"}).ID()
	main := c.AddSession("Main", object{"status": "pending"}, "Ann panelist", "Ann moderator", "Bob speaker")
	c.AddSession("Part", object{"parent_session_id": main}, "Ann speaker")
	source := c.AddSession("Source", object{"custom_status_id": maybe}, "Ann chairperson")
	c.AddSession("Abstract", object{"is_abstract": true, "status": "declined"}, "Ann speaker")
	c.AddSession("Gone", object{"status": "accepted"}, "Ann speaker")
	c.Delete(200, c.Held["Gone"].ID())
	c.AddSession("Other", nil, "Bob speaker")
	target := c.AddSession("Target", nil, "Ann moderator")
	c.Command("session-link", it.Link(target, source, "merged_session"))
	c.Command("session-link", it.Link(target, main, "merged_session"))

	answer := c.SessionsOf(200, c.ContactID("Ann"))
	require.Equal(t, "accept_queue", answer["status"])
	require.Len(t, answer, 2)
	sessions := answer.List("sessions")
	require.Equal(t, c.SessionIDs("Main", "Part", "Source", "Abstract", "Target"), it.Column(sessions, "id"))
	for _, shown := range sessions {
		require.Equal(t, "composition_status custom_status id is_abstract status title", it.KeysOf(shown))
		whole := c.Get(200, shown.ID())
		for _, name := range []string{"title", "status", "is_abstract", "composition_status"} {
			require.Equal(t, whole[name], shown[name], "%s of %s", name, shown["title"])
		}
		require.Equal(t, whole.At("custom_status.name"), shown["custom_status"])
	}
	require.Equal(t, "Maybe", it.ByID(t, sessions, source)["custom_status"])
	require.Equal(t, target, it.ByID(t, sessions, c.Held["Part"].ID()).At("composition_status.target.id"), "as its parent is")

	require.JSONEq(t, `{"sessions":[],"status":null}`, string(c.Call(t, 200, http.MethodGet, c.EventPath("/contacts/"+c.ContactID("Eve")+"/sessions"), nil).Body))
	c.DeleteRecord("statuses", maybe)
	require.Nil(t, it.ByID(t, c.SessionsOf(200, c.ContactID("Ann")).List("sessions"), source)["custom_status"])
}

func TestStatusOfAContact(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	main := c.AddSession("Main", object{"status": "declined"})
	c.AddSession("Part", object{"parent_session_id": main}, "Ann speaker")
	require.Nil(t, c.SessionsOf(200, c.ContactID("Ann"))["status"], "a subsession may have none")
	for _, status := range []string{"declined", "decline_queue", "pending", "accept_queue", "accepted"} {
		c.AddSession(status, object{"status": status}, "Ann speaker")
		require.Equal(t, status, c.SessionsOf(200, c.ContactID("Ann"))["status"])
		require.Equal(t, status, anywhere(c, 200, c.ContactID("Ann"))["status"])
	}
	c.Delete(200, c.Held["accepted"].ID())
	require.Equal(t, "accept_queue", c.SessionsOf(200, c.ContactID("Ann"))["status"])
	c.SetPeople("accept_queue")
	require.Equal(t, "pending", c.SessionsOf(200, c.ContactID("Ann"))["status"])
}

func TestSessionsOfNobody(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	there := c.InNewProgramme()
	there.AddPeople("Dan")
	for _, id := range []string{uuid.NewString(), there.ContactID("Dan")} {
		answer := c.SessionsOf(404, id)
		it.RequireError(t, answer, "NOT_FOUND", "")
		require.Equal(t, "Contact not found", answer["message"])
	}
	require.Equal(t, "Contact not found", anywhere(c, 404, uuid.NewString())["message"])
	it.RequireInvalid(t, c.SessionsOf(400, "x"), "contactId")
	it.RequireInvalid(t, anywhere(c, 400, "x"), "contactId")
	other := c.NewOrganization(t)
	foreign := it.ProgrammeOf(&it.Client{Stack: other, T: t})
	require.Equal(t, "Contact not found", anywhere(foreign, 404, c.ContactID("Ann"))["message"])
	other.Call(t, 404, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, c.ContactID("Ann")), nil)
}

// TestSessionsOnAllEvents: a contact's events in the order of their ids, each with
// its sessions and its own settings.
func TestSessionsOnAllEvents(t *testing.T) {
	c := it.NewProgramme(t)
	events := []*it.Programme{c}
	for range 10 {
		events = append(events, c.InNewProgramme())
	}
	var wanted []any
	for i, event := range events {
		event.AddPeople("Ann")
		if i == 3 {
			continue // On the event and on none of its sessions.
		}
		status := event.NewEntry("statuses", fmt.Sprint("Status ", i)).ID()
		event.AddSession("First", object{"custom_status_id": status}, "Ann speaker")
		event.AddSession("Second", nil, "Ann moderator")
		wanted = append(wanted, event.SessionIDs("First", "Second")...)
	}
	answer := anywhere(c, 200, c.ContactID("Ann"))
	sessions := answer.List("sessions")
	require.Equal(t, wanted, it.Column(sessions, "id"))
	require.Equal(t, "pending", answer["status"])
	require.True(t, slices.IsSortedFunc(sessions, func(a, b entity) int {
		return cmp.Compare(a["event_id"].(float64), b["event_id"].(float64))
	}))
	for _, shown := range sessions {
		require.Equal(t, "composition_status custom_status event_id id is_abstract status title", it.KeysOf(shown))
		i := slices.IndexFunc(events, func(e *it.Programme) bool { return float64(e.Event) == shown["event_id"] })
		require.Equal(t, events[i].Held[shown.Text("title")].At("custom_status.name"), shown["custom_status"])
	}

	last := events[10]
	last.DeletePerson("contacts", "Ann")
	require.Equal(t, wanted[:18], it.Column(anywhere(c, 200, c.ContactID("Ann")).List("sessions"), "id"))
	last.RestorePerson("contacts", "Ann")
	require.Equal(t, wanted, it.Column(anywhere(c, 200, c.ContactID("Ann")).List("sessions"), "id"))
}

// TestSessionsAsFarAsTheCallerSees: a token that is limited to events knows of the
// others neither the sessions nor the people.
func TestSessionsAsFarAsTheCallerSees(t *testing.T) {
	c := it.NewProgramme(t)
	there, third := c.InNewProgramme(), c.InNewProgramme()
	c.AddPeople("Ann", "Bob")
	there.AddPeople("Ann", "Cid")
	c.AddSession("Here", nil, "Ann speaker", "Bob speaker")
	there.AddSession("There", nil, "Ann speaker", "Cid speaker")
	limited := func(events ...int64) *it.Programme {
		token := c.TokenWith(t, map[string]any{"scopes": []string{"read:sessions"}, "event_ids": events})
		return c.SeenBy(c.WithToken(token))
	}
	titles := func(c *it.Programme, id string) []string {
		return it.Texts(anywhere(c, 200, id).List("sessions"), "title")
	}
	require.Equal(t, []string{"Here", "There"}, titles(c, c.ContactID("Ann")))
	require.Equal(t, []string{"Here", "There"}, titles(limited(there.Event, c.Event), c.ContactID("Ann")))
	require.Equal(t, []string{"There"}, titles(limited(there.Event), c.ContactID("Ann")))
	require.Equal(t, []string{"There"}, titles(limited(there.Event, third.Event), there.ContactID("Cid")))
	for _, hidden := range []struct {
		event int64
		id    string
	}{{there.Event, c.ContactID("Bob")}, {c.Event, there.ContactID("Cid")}, {third.Event, c.ContactID("Ann")}} {
		require.Equal(t, "Contact not found", anywhere(limited(hidden.event), 404, hidden.id)["message"])
	}
	there.DeleteRecord("contacts", c.ContactID("Ann"))
	anywhere(limited(there.Event), 404, c.ContactID("Ann"))
	require.Equal(t, []string{"Here"}, titles(c, c.ContactID("Ann")))
	c.WithToken(c.NewToken(t, "read:events")).Call(t, 403, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, c.ContactID("Ann")), nil)
}
