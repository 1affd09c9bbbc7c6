package it_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// sessionsOf are the sessions of a contact on the event.
func (c *crowd) sessionsOf(status int, id string) entity {
	c.t.Helper()
	return c.send(status, http.MethodGet, "/contacts/"+id+"/sessions", nil)
}

// anywhere are the sessions of a contact on all events.
func (c *crowd) anywhere(status int, id string) entity {
	c.t.Helper()
	path := fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, id)
	return c.Call(c.t, status, http.MethodGet, path, nil).JSON(c.t)
}

func TestSessionsOfAContact(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	c.meet("Ann", "Bob", "Eve")
	c.custom("Panelist", "speaker")
	maybe := c.entry("statuses", "Maybe", object{"status": "accept_queue"}).id()
	main := c.hold("Main", object{"status": "pending"}, "Ann panelist", "Ann moderator", "Bob speaker")
	c.hold("Part", object{"parent_session_id": main}, "Ann speaker")
	source := c.hold("Source", object{"custom_status_id": maybe}, "Ann chairperson")
	c.hold("Abstract", object{"is_abstract": true, "status": "declined"}, "Ann speaker")
	c.hold("Gone", object{"status": "accepted"}, "Ann speaker")
	c.remove(200, c.held["Gone"].id())
	c.hold("Other", nil, "Bob speaker")
	target := c.hold("Target", nil, "Ann moderator")
	c.done("session-link", link(target, source, "merged_session"))
	c.done("session-link", link(target, main, "merged_session"))

	answer := c.sessionsOf(200, c.id("Ann"))
	require.Equal(t, "accept_queue", answer["status"])
	require.Len(t, answer, 2)
	sessions := answer.list("sessions")
	require.Equal(t, c.sessions("Main", "Part", "Source", "Abstract", "Target"), column(sessions, "id"))
	for _, shown := range sessions {
		require.Equal(t, "composition_status custom_status id is_abstract status title", shapeOf(shown))
		whole := c.get(200, shown.id())
		for _, name := range []string{"title", "status", "is_abstract", "composition_status"} {
			require.Equal(t, whole[name], shown[name], "%s of %s", name, shown["title"])
		}
		require.Equal(t, whole.at("custom_status.name"), shown["custom_status"])
	}
	require.Equal(t, "Maybe", byID(t, sessions, source)["custom_status"])
	require.Equal(t, target, byID(t, sessions, c.held["Part"].id()).at("composition_status.target.id"), "as its parent is")

	require.JSONEq(t, `{"sessions":[],"status":null}`, string(c.Call(t, 200, http.MethodGet, c.EventPath("/contacts/"+c.id("Eve")+"/sessions"), nil).Body))
	c.drop("statuses", maybe)
	require.Nil(t, byID(t, c.sessionsOf(200, c.id("Ann")).list("sessions"), source)["custom_status"])
}

func TestStatusOfAContact(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann")
	main := c.hold("Main", object{"status": "declined"})
	c.hold("Part", object{"parent_session_id": main}, "Ann speaker")
	require.Nil(t, c.sessionsOf(200, c.id("Ann"))["status"], "a subsession may have none")
	for _, status := range []string{"declined", "decline_queue", "pending", "accept_queue", "accepted"} {
		c.hold(status, object{"status": status}, "Ann speaker")
		require.Equal(t, status, c.sessionsOf(200, c.id("Ann"))["status"])
		require.Equal(t, status, c.anywhere(200, c.id("Ann"))["status"])
	}
	c.remove(200, c.held["accepted"].id())
	require.Equal(t, "accept_queue", c.sessionsOf(200, c.id("Ann"))["status"])
	c.recast("accept_queue")
	require.Equal(t, "pending", c.sessionsOf(200, c.id("Ann"))["status"])
}

func TestSessionsOfNobody(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann")
	there := c.there()
	there.meet("Dan")
	for _, id := range []string{uuid.NewString(), there.id("Dan")} {
		answer := c.sessionsOf(404, id)
		isRefused(t, answer, "NOT_FOUND", "")
		require.Equal(t, "Contact not found", answer["message"])
	}
	require.Equal(t, "Contact not found", c.anywhere(404, uuid.NewString())["message"])
	isInvalid(t, c.sessionsOf(400, "x"), "contactId")
	isInvalid(t, c.anywhere(400, "x"), "contactId")
	other := c.NewOrganization(t)
	foreign := crowdOf(&desk{other, t})
	require.Equal(t, "Contact not found", foreign.anywhere(404, c.id("Ann"))["message"])
	other.Call(t, 404, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, c.id("Ann")), nil)
}

// TestSessionsOnAllEvents: a contact's events in the order of their ids, each with
// its sessions and its own settings.
func TestSessionsOnAllEvents(t *testing.T) {
	c := newCrowd(t)
	events := []*crowd{c}
	for range 10 {
		events = append(events, c.there())
	}
	var wanted []any
	for i, event := range events {
		event.meet("Ann")
		if i == 3 {
			continue // On the event and on none of its sessions.
		}
		status := event.entry("statuses", fmt.Sprint("Status ", i)).id()
		event.hold("First", object{"custom_status_id": status}, "Ann speaker")
		event.hold("Second", nil, "Ann moderator")
		wanted = append(wanted, event.sessions("First", "Second")...)
	}
	answer := c.anywhere(200, c.id("Ann"))
	sessions := answer.list("sessions")
	require.Equal(t, wanted, column(sessions, "id"))
	require.Equal(t, "pending", answer["status"])
	require.True(t, slices.IsSortedFunc(sessions, func(a, b entity) int {
		return cmp.Compare(a["event_id"].(float64), b["event_id"].(float64))
	}))
	for _, shown := range sessions {
		require.Equal(t, "composition_status custom_status event_id id is_abstract status title", shapeOf(shown))
		i := slices.IndexFunc(events, func(e *crowd) bool { return float64(e.Event) == shown["event_id"] })
		require.Equal(t, events[i].held[shown.text("title")].at("custom_status.name"), shown["custom_status"])
	}

	last := events[10]
	last.fire("contacts", "Ann")
	require.Equal(t, wanted[:18], column(c.anywhere(200, c.id("Ann")).list("sessions"), "id"))
	last.rehire("contacts", "Ann")
	require.Equal(t, wanted, column(c.anywhere(200, c.id("Ann")).list("sessions"), "id"))
}

// TestSessionsAsFarAsTheCallerSees: a token that is limited to events knows of the
// others neither the sessions nor the people.
func TestSessionsAsFarAsTheCallerSees(t *testing.T) {
	c := newCrowd(t)
	there, third := c.there(), c.there()
	c.meet("Ann", "Bob")
	there.meet("Ann", "Cid")
	c.hold("Here", nil, "Ann speaker", "Bob speaker")
	there.hold("There", nil, "Ann speaker", "Cid speaker")
	limited := func(events ...int64) *crowd {
		token := c.TokenWith(t, map[string]any{"scopes": []string{"read:sessions"}, "event_ids": events})
		return c.seenBy(c.as(token))
	}
	titles := func(c *crowd, id string) []string { return texts(c.anywhere(200, id).list("sessions"), "title") }
	require.Equal(t, []string{"Here", "There"}, titles(c, c.id("Ann")))
	require.Equal(t, []string{"Here", "There"}, titles(limited(there.Event, c.Event), c.id("Ann")))
	require.Equal(t, []string{"There"}, titles(limited(there.Event), c.id("Ann")))
	require.Equal(t, []string{"There"}, titles(limited(there.Event, third.Event), there.id("Cid")))
	for _, hidden := range []struct {
		event int64
		id    string
	}{{there.Event, c.id("Bob")}, {c.Event, there.id("Cid")}, {third.Event, c.id("Ann")}} {
		require.Equal(t, "Contact not found", limited(hidden.event).anywhere(404, hidden.id)["message"])
	}
	there.drop("contacts", c.id("Ann"))
	limited(there.Event).anywhere(404, c.id("Ann"))
	require.Equal(t, []string{"Here"}, titles(c, c.id("Ann")))
	c.as(c.NewToken(t, "read:events")).Call(t, 403, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, c.id("Ann")), nil)
}
