package people_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/contacts"
	"lectern/functions/contactwrites"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// TestContactsOfLimitedCallers: a token that is limited to events knows the people of
// these on the organization's level, and no others.
func TestContactsOfLimitedCallers(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	limited := p.LimitedToEvent()
	here, both, hidden := p.WithAddresses("here@x.org")[0], p.WithAddresses("both@x.org")[0], there.WithAddresses("there@x.org", "both@x.org")[0]
	emails := func(want ...string) {
		t.Helper()
		got := limited.SearchOrganization(object{})
		require.Equal(t, want, it.Texts(got.Results, "email"))
		require.Equal(t, len(want), got.Pagination.TotalResults)
	}
	emails("here@x.org", "both@x.org")
	require.Equal(t, p.GetFromOrganization(200, here), limited.GetFromOrganization(200, here))
	require.Equal(t, p.GetFromOrganization(200, both), limited.GetFromOrganization(200, both))
	require.Equal(t, noContact, limited.GetFromOrganization(404, hidden))
	require.Empty(t, limited.SearchOrganization(object{"filters": object{"search": "there"}}).Results)
	there.Call(t, 404, "GET", p.OrganizationPath("/"+hidden), stacktest.WithHeaders(nil, "X-Access-Token", limited.Token))
	p.Delete(200, both)
	emails("here@x.org")
	require.Equal(t, noContact, limited.GetFromOrganization(404, both))
	require.Equal(t, both, p.GetFromOrganization(200, both).ID(), "the organization keeps who is deleted from an event")
	require.Len(t, p.SearchOrganization(object{}).Results, 3)
	p.Restore(200, both)
	emails("here@x.org", "both@x.org")
	p.WithAddresses("there@x.org")
	require.Len(t, limited.SearchOrganization(object{}).Results, 3)
	limited.Call(t, 404, "POST", there.EventPath("/contacts"), object{})
	limited.Call(t, 404, "GET", there.EventPath("/contacts/"+hidden), nil)
	none := p.WithToken(p.TokenWith(t, object{"scopes": []string{"read:contacts"}, "event_ids": []int64{p.NewEvent(t)}}))
	require.Empty(t, none.SearchOrganization(object{}).Results)
}

func TestRefusedCallersOfContacts(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@x.org")[0]
	reads := [][2]string{{"POST", p.EventPath("/contacts")}, {"GET", p.EventPath("/contacts/" + id)}, {"POST", p.OrganizationPath("")}, {"GET", p.OrganizationPath("/" + id)}}
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
	require.Equal(t, id, p.WithToken(writer).Put(200, id, object{}).ID())
	for _, call := range writes {
		if call[0] == "DELETE" || strings.HasSuffix(call[1], "restore") {
			continue
		}
		p.Call(t, 415, call[0], call[1], stacktest.WithHeaders("x", "Content-Type", "text/plain"))
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
	p := NewContacts(t)
	id := p.WithAddresses("ada@x.org")[0]
	few := p.WithToken(p.TokenWith(t, object{"scopes": []string{"read:contacts", "write:contacts"}, "limit": 2}))
	first := few.CallContacts(200, "GET", "/"+id, nil)
	require.Equal(t, []string{"2", "1"}, []string{first.Header.Get("RateLimit-Limit"), first.Header.Get("RateLimit-Remaining")})
	few.Get(200, id)
	require.Equal(t, "TooManyRequestsError", few.Get(429, id)["error"])
	few.Bulk(it.Creating(object{"email": "a@x.org"}), it.Creating(object{"email": "b@x.org"}), it.Creating(object{"email": "c@x.org"}))
	few.Put(200, id, object{})
	few.Put(429, id, object{})
	few.Create(429, object{"email": "d@x.org"})
	few.Delete(429, id)
	few.Restore(429, id)
	require.NotEmpty(t, few.CallContacts(429, "POST", "/bulk", object{"operations": []object{it.Deleting(id)}}).Header.Get("Retry-After"))
	for range 3 {
		require.Len(t, few.Search(object{}).Results, 4)
		require.Len(t, few.SearchOrganization(object{}).Results, 4)
		few.GetFromOrganization(200, id)
	}
}

func TestContactsLinkToTheAdminApplication(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@x.org")[0]
	reader := &it.Contacts{Client: p.ServeGroup(contacts.Group, func(env *api.Env) { env.AdminURL = "https://admin.example.org" })}
	for l, place := range map[string]string{"event": fmt.Sprintf("event/%d", p.Event), "organization": fmt.Sprintf("organization/%d", p.Org)} {
		want := "https://admin.example.org/" + place + "/contacts/" + id
		require.Equal(t, []string{want}, it.Texts(levels(reader)[l].found(object{}).Results, "admin_url"))
		require.Equal(t, want, reader.Call(t, 200, http.MethodGet, levels(reader)[l].path+"/"+id, nil).JSON(t)["admin_url"])
	}
	writer := &it.Contacts{Client: p.ServeGroup(contactwrites.Group, func(env *api.Env) { env.AdminURL = "https://admin.example.org" })}
	require.Equal(t, fmt.Sprintf("https://admin.example.org/event/%d/contacts/%s", p.Event, id), writer.Put(200, id, object{})["admin_url"])
}
