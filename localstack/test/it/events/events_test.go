package events_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/page"
)

// listedEvents is the answer of GET /v1/events.
type listedEvents = page.Of[map[string]any]

// eventNames are the names of a page's events, in their order.
func eventNames(p listedEvents) (names []string) {
	for _, e := range p.Results {
		names = append(names, e["name"].(string))
	}
	return names
}

// newEventWith makes an event with the properties given to the operator.
func newEventWith(t *testing.T, s *stacktest.Stack, properties map[string]any) map[string]any {
	t.Helper()
	input := map[string]any{"org_id": s.Org, "name": "Conf", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T23:00:00Z"}
	for name, value := range properties {
		input[name] = value
	}
	return s.Operator(t, "event-create", input)
}

// TestEventsHaveTheirShape: every key of spec.md section 2.3, and no other; the
// expansions only when asked for, and then a list at least.
func TestEventsHaveTheirShape(t *testing.T) {
	s := stacktest.Start(t, stacktest.Features("sessions_2_0"))
	off := map[string]any{"sessions_2_0": true, "speaker_acceptance": false, "primary_speakers": false,
		"translated_fields": false, "content_slots": false, "participant_roles": false}
	event := func(query string) map[string]any {
		t.Helper()
		got := stacktest.Call[listedEvents](s, 200, "GET", "/v1/events"+query, nil)
		require.Len(t, got.Results, 1)
		require.IsType(t, "", got.Results[0]["name"])
		delete(got.Results[0], "name")
		return got.Results[0]
	}
	plain := map[string]any{"id": float64(s.Event), "timezone": "America/Chicago",
		"starts_at": "2027-05-11T14:00:00.000Z", "ends_at": "2027-05-13T23:00:00.000Z", "features": off}
	require.Equal(t, plain, event(""))
	plain["custom_fields"] = []any{}
	require.Equal(t, plain, event("?expand=custom_fields"))
	plain["integration_mappings"] = []any{}
	require.Equal(t, plain, event("?expand=custom_fields,integration_mappings"))
	require.Equal(t, plain, event("?expand=custom_fields&expand=integration_mappings"))
	s.Call(t, 400, "GET", "/v1/events?expand=sessions", nil)
}

// TestEventsArePagedOldestFirst: made one after the other, ties by id.
func TestEventsArePagedOldestFirst(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	s.Operator(t, "event-update", map[string]any{"org_id": s.Org, "event_id": s.Event, "name": "0"})
	for i := 1; i < 7; i++ {
		newEventWith(t, s, map[string]any{"name": strconv.Itoa(i)})
	}
	get := func(query string) listedEvents {
		t.Helper()
		return stacktest.Call[listedEvents](s, 200, "GET", "/v1/events"+query, nil)
	}
	all := get("")
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6"}, eventNames(all))
	require.Equal(t, page.Pagination{CurrentPage: 1, PageSize: 25, TotalPages: 1, TotalResults: 7}, all.Pagination)
	last := get("?page=3&pageSize=3")
	require.Equal(t, []string{"6"}, eventNames(last))
	require.Equal(t, page.Pagination{CurrentPage: 3, PageSize: 3, TotalPages: 3, TotalResults: 7}, last.Pagination)
	beyond := get("?page=999&pageSize=100")
	require.Empty(t, beyond.Results)
	require.Equal(t, 7, beyond.Pagination.TotalResults)

	for query, field := range map[string]string{
		"page=0": "page", "page=1000": "page", "page=x": "page", "page=1.5": "page", "page=": "page",
		"pageSize=0": "pageSize", "pageSize=101": "pageSize", "pageSize=-1": "pageSize", "expand=nope": "expand", "expand=": "expand",
	} {
		refused := s.Call(t, 400, "GET", "/v1/events?"+query, nil).JSON(t)
		require.Equal(t, "VALIDATION_ERROR", refused["code"], query)
		require.Equal(t, map[string]any{"field": field}, refused["details"], query)
	}
	require.Empty(t, s.Call(t, 200, "GET", "/v1/events", nil).Header.Get("RateLimit-Limit"), "never limited")
}

// TestEventsOfOthersAreNotListed: an organization's list is its own.
func TestEventsOfOthersAreNotListed(t *testing.T) {
	s := stacktest.Start(t)
	other := s.NewOrganization(t)
	for _, caller := range []*stacktest.Stack{s, other} {
		got := stacktest.Call[listedEvents](caller, 200, "GET", "/v1/events", nil)
		require.Len(t, got.Results, 1)
		require.EqualValues(t, caller.Event, got.Results[0]["id"])
	}
}

// TestCustomFieldsOfEvents: values by type, a datetime in the event's zone or
// in UTC when it has none, and a date as it is.
func TestCustomFieldsOfEvents(t *testing.T) {
	s := stacktest.Start(t)
	fields := []map[string]any{
		{"name": "Doors open", "type": "datetime", "value": "2027-05-11T12:30:00Z"},
		{"name": "Press day", "type": "date", "value": "2027-05-10"},
		{"name": "Seats", "type": "number", "value": 1200},
		{"name": "Themes", "type": "dropdown", "multiple": true, "options": []string{"a", "b"}, "value": []string{"b"}},
	}
	for zone, doors := range map[string]string{
		"Europe/Berlin": "2027-05-11T14:30:00+02:00", "": "2027-05-11T12:30:00Z",
	} {
		event := newEventWith(t, s, map[string]any{"timezone": zone, "custom_fields": fields})
		got := stacktest.Call[listedEvents](s, 200, "GET", "/v1/events?expand=custom_fields", nil)
		shown := got.Results[len(got.Results)-1]
		require.Equal(t, event["id"], shown["id"])
		list := shown["custom_fields"].([]any)
		require.Len(t, list, 4)
		first := list[0].(map[string]any)
		require.Equal(t, doors, first["value"])
		require.Equal(t, "doors_open", first["internal_name"])
		require.ElementsMatch(t, []string{"id", "name", "type", "internal_name", "value", "created_at"}, keysOf(first))
		var values []any
		for _, f := range list[1:] {
			values = append(values, f.(map[string]any)["value"])
		}
		require.Equal(t, []any{"2027-05-10", 1200.0, []any{"b"}}, values)
	}
}

func keysOf(object map[string]any) (keys []string) {
	for key := range object {
		keys = append(keys, key)
	}
	return keys
}

// TestIntegrationMappingsOfEvents: the source in underscore form, and no campaign
// of a live-engagement app, neither by name nor by value.
func TestIntegrationMappingsOfEvents(t *testing.T) {
	s := stacktest.Start(t)
	newEventWith(t, s, map[string]any{"integration_mappings": []map[string]any{
		{"source": "crm-suite", "external_id": "42", "external_name": "Conf 2027"},
		{"source": "liveEngagement", "campaign_id": "secret-campaign"},
		{"source": "Ticket Shop", "external_id": "7", "campaign_id": "other-campaign"},
	}})
	answer := s.Call(t, 200, "GET", "/v1/events?expand=integration_mappings&page=2&pageSize=1", nil)
	require.NotContains(t, string(answer.Body), "campaign")
	var got listedEvents
	answer.Into(t, &got)
	var seen [][]any
	for _, entry := range got.Results[0]["integration_mappings"].([]any) {
		m := entry.(map[string]any)
		require.ElementsMatch(t, []string{"id", "source", "external_id", "external_name", "created_at"}, keysOf(m))
		seen = append(seen, []any{m["source"], m["external_id"], m["external_name"]})
	}
	require.Equal(t, [][]any{{"crm_suite", "42", "Conf 2027"}, {"live_engagement", nil, nil}, {"ticket_shop", "7", nil}}, seen)
}
