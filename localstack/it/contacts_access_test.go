package it_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/contacts"
	"lectern/functions/contactwrites"
	"lectern/shared/api"
)

// TestContactsOfLimitedCallers: a token that is limited to events knows the people of
// these on the organization's level, and no others.
func TestContactsOfLimitedCallers(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	limited := p.limited()
	here, both, hidden := p.addressed("here@x.org")[0], p.addressed("both@x.org")[0], there.addressed("there@x.org", "both@x.org")[0]
	emails := func(want ...string) {
		t.Helper()
		got := limited.searchAll(object{})
		require.Equal(t, want, texts(got.Results, "email"))
		require.Equal(t, len(want), got.Pagination.TotalResults)
	}
	emails("here@x.org", "both@x.org")
	require.Equal(t, p.whole(200, here), limited.whole(200, here))
	require.Equal(t, p.whole(200, both), limited.whole(200, both))
	require.Equal(t, noContact, limited.whole(404, hidden))
	require.Empty(t, limited.searchAll(object{"filters": object{"search": "there"}}).Results)
	there.Call(t, 404, "GET", p.organization("/"+hidden), nil, "X-Access-Token", limited.Token)
	p.remove(200, both)
	emails("here@x.org")
	require.Equal(t, noContact, limited.whole(404, both))
	require.Equal(t, both, p.whole(200, both).id(), "the organization keeps who is deleted from an event")
	require.Len(t, p.searchAll(object{}).Results, 3)
	p.restore(200, both)
	emails("here@x.org", "both@x.org")
	p.addressed("there@x.org")
	require.Len(t, limited.searchAll(object{}).Results, 3)
	limited.Call(t, 404, "POST", there.EventPath("/contacts"), object{})
	limited.Call(t, 404, "GET", there.EventPath("/contacts/"+hidden), nil)
	none := p.as(p.TokenWith(t, object{"scopes": []string{"read:contacts"}, "event_ids": []int64{p.NewEvent(t)}}))
	require.Empty(t, none.searchAll(object{}).Results)
}

func TestRefusedCallersOfContacts(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@x.org")[0]
	reads := [][2]string{{"POST", p.EventPath("/contacts")}, {"GET", p.EventPath("/contacts/" + id)}, {"POST", p.organization("")}, {"GET", p.organization("/" + id)}}
	writes := [][2]string{
		{"POST", p.EventPath("/contacts/create")}, {"PUT", p.EventPath("/contacts/" + id)}, {"DELETE", p.EventPath("/contacts/" + id)},
		{"POST", p.EventPath("/contacts/" + id + "/restore")}, {"POST", p.EventPath("/contacts/bulk")},
	}
	reader, writer, legacy := p.NewToken(t, "read:contacts"), p.NewToken(t, "write:contacts"), p.TokenWith(t, object{"kind": "legacy"})
	check := func(status int, token string, calls [][2]string) {
		t.Helper()
		for _, call := range calls {
			p.As(token).Call(t, status, call[0], call[1], map[string]any{"POST": object{}, "PUT": object{}}[call[0]])
		}
	}
	check(401, "", append(reads, writes...))
	check(403, p.NewToken(t, "read:sessions", "read:events", "write:sessions"), append(reads, writes...))
	check(403, reader, writes)
	check(403, legacy, writes)
	check(403, writer, reads)
	check(200, reader, reads)
	check(200, legacy, reads)
	require.Equal(t, id, p.as(writer).put(200, id, object{}).id())
	for _, call := range writes {
		if call[0] == "DELETE" || strings.HasSuffix(call[1], "restore") {
			continue
		}
		p.Call(t, 415, call[0], call[1], "x", "Content-Type", "text/plain")
		p.Call(t, 400, call[0], call[1], "{")
		limit := 1 << 20
		if strings.HasSuffix(call[1], "bulk") {
			limit = 5 << 20
		}
		p.Call(t, 413, call[0], call[1], `{"x":"`+strings.Repeat("x", limit)+`"}`)
	}
	missing := p.In(999_999)
	for _, path := range []string{"/contacts", "/contacts/create", "/contacts/bulk", "/contacts/" + id + "/restore"} {
		require.Equal(t, "Event not found", missing.Call(t, 404, "POST", missing.EventPath(path), object{}).JSON(t)["message"])
	}
}

// TestLimitsOfContacts: a single read and writes are limited, each kind for itself;
// a bulk is one request. Searches and the organization's level are not.
func TestLimitsOfContacts(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@x.org")[0]
	few := p.as(p.TokenWith(t, object{"scopes": []string{"read:contacts", "write:contacts"}, "limit": 2}))
	first := few.write(200, "GET", "/"+id, nil)
	require.Equal(t, []string{"2", "1"}, []string{first.Header.Get("RateLimit-Limit"), first.Header.Get("RateLimit-Remaining")})
	few.get(200, id)
	require.Equal(t, "TooManyRequestsError", few.get(429, id)["error"])
	few.bulk(creating(object{"email": "a@x.org"}), creating(object{"email": "b@x.org"}), creating(object{"email": "c@x.org"}))
	few.put(200, id, object{})
	few.put(429, id, object{})
	few.create(429, object{"email": "d@x.org"})
	few.remove(429, id)
	few.restore(429, id)
	require.NotEmpty(t, few.write(429, "POST", "/bulk", object{"operations": []object{deleting(id)}}).Header.Get("Retry-After"))
	for range 3 {
		require.Len(t, few.search(object{}).Results, 4)
		require.Len(t, few.searchAll(object{}).Results, 4)
		few.whole(200, id)
	}
}

func TestContactsLinkToTheAdminApplication(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@x.org")[0]
	reader := &people{p.door(contacts.Group, func(env *api.Env) { env.AdminURL = "https://admin.example.org" })}
	for l, place := range map[string]string{"event": fmt.Sprintf("event/%d", p.Event), "organization": fmt.Sprintf("organization/%d", p.Org)} {
		want := "https://admin.example.org/" + place + "/contacts/" + id
		require.Equal(t, []string{want}, texts(reader.levels()[l].found(object{}).Results, "admin_url"))
		require.Equal(t, want, reader.Call(t, 200, http.MethodGet, reader.levels()[l].path+"/"+id, nil).JSON(t)["admin_url"])
	}
	writer := &people{p.door(contactwrites.Group, func(env *api.Env) { env.AdminURL = "https://admin.example.org" })}
	require.Equal(t, fmt.Sprintf("https://admin.example.org/event/%d/contacts/%s", p.Event, id), writer.put(200, id, object{})["admin_url"])
}
