package resource_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// on returns the same desk at the path of another subject.
func (d *desk) on(path string) *desk {
	other := *d
	for _, s := range subjects {
		if s.path == path {
			other.subject = s
		}
	}
	return &other
}

// isOfOrganization reports whether the records belong to an organization.
func isOfOrganization(s subject) bool { return !strings.Contains(s.path, "{eventId}") }

// TestAPrefixNamesTheOwner: the path with the organization and the path without have the same
// records, and an event has records of its own.
func TestAPrefixNamesTheOwner(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.path == ownNotices }, func(t *testing.T, own *desk) {
		org, event := own.on(orgNotices), own.on(eventNotices)
		made := own.create(200, own.body)
		require.Equal(t, []entity{made}, org.all())
		require.Empty(t, event.all())
		event.get(404, made.ID())
		it.RequireError(t, org.create(409, org.body), "DUPLICATE_TEXT", "text")
		ofEvent := event.create(200, event.body)
		require.Equal(t, []entity{ofEvent}, event.all())
		own.get(404, ofEvent.ID())

		changed := org.put(200, made.ID(), org.change)
		require.Equal(t, changed, own.get(200, made.ID()))
		own.remove(200, made.ID())
		require.Empty(t, org.all())
		require.Equal(t, changed["text"], org.restored(200, made.ID())["text"])
		own.Call(t, 404, http.MethodGet, strings.Replace(orgNotices, "{orgId}", "1", 1), nil)
	})
}

// TestACallerLimitedToEventsDoesNotSeeTheOrganization: the records of an organization are a 403
// for the caller, those of the event are not.
func TestACallerLimitedToEventsDoesNotSeeTheOrganization(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		limited := d.as(d.As(d.TokenWith(t, object{"scopes": stacktest.Scopes, "event_ids": []int64{d.Event}})))
		id := d.made("One")
		want := map[bool]int{true: 403, false: 200}[isOfOrganization(d.subject)]
		limited.Call(t, want, http.MethodGet, limited.collection(), nil)
		limited.get(want, id)
		limited.put(want, id, d.change)
		limited.create(want, d.fresh("Other"))
		limited.remove(want, id)
	})
}
