package it_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

var noContact = entity{"code": "NOT_FOUND", "name": "NotFoundError", "error": "NotFoundError", "message": "Contact not found"}

func TestUnknownContactsAreNotFound(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere().addressed("there@x.org")[0]
	gone := p.addressed("gone@x.org")[0]
	p.remove(200, gone)
	foreign := p.stranger()
	theirs := foreign.addressed("foreign@x.org")[0]
	session := p.titled("A session")[0]
	for _, id := range []string{uuid.NewString(), there, gone, theirs, session} {
		require.Equal(t, noContact, p.get(404, id))
		require.Equal(t, noContact, p.put(404, id, object{"title": "x"}))
		require.Equal(t, noContact, p.remove(404, id))
		require.Equal(t, "Contact not found", p.bulk(updating(id, object{"title": "x"})).plain(t, 0))
		require.Equal(t, "Contact not found", p.bulk(deleting(id)).plain(t, 0))
		if id != gone {
			require.Equal(t, noContact, p.restore(404, id))
		}
	}
	require.Equal(t, noContact, p.restore(404, p.addressed("living@x.org")[0]), "restore of who is not deleted")
	for _, id := range []string{uuid.NewString(), theirs, session} {
		require.Equal(t, noContact, p.whole(404, id))
	}
	require.Equal(t, there, p.whole(200, there).id())
	require.Nil(t, foreign.get(200, theirs)["title"])
}

func TestPathsOfContacts(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@x.org")[0]
	require.Equal(t, p.get(200, id), p.get(200, strings.ToUpper(id)))
	require.Equal(t, "x", p.put(200, strings.ToUpper(id), object{"title": "x"})["title"])
	require.Equal(t, "y", p.bulk(updating(strings.ToUpper(id), object{"title": "y"})).data(t, 0)["title"])
	require.Equal(t, p.whole(200, id), p.whole(200, strings.ToUpper(id)))
	for _, wrong := range []string{"7", "CONT-1", "ada@x.org", id + "0"} {
		isInvalid(t, p.get(400, wrong), "contactId")
		isInvalid(t, p.put(400, wrong, object{}), "contactId")
		isInvalid(t, p.remove(400, wrong), "contactId")
		isInvalid(t, p.restore(400, wrong), "contactId")
		isInvalid(t, p.whole(400, wrong), "contactId")
	}
	isInvalid(t, p.get(400, id, "expand=composition"), "expand")
	isInvalid(t, p.put(400, id, object{}, "expand=composition"), "expand")
	isInvalid(t, p.whole(400, id, "expand=x"), "expand")
	foreign := p.stranger()
	for _, call := range [][2]string{{"POST", ""}, {"GET", "/" + id}} {
		body := map[string]any{"POST": object{}}[call[0]]
		require.Equal(t, "Organization not found", p.Call(t, 404, call[0], foreign.organization(call[1]), body).JSON(t)["message"])
		isInvalid(t, p.Call(t, 400, call[0], "/v1/organization/x/contacts"+call[1], body).JSON(t), "orgId")
		foreign.Call(t, 404, call[0], p.organization(call[1]), body)
	}
	require.Equal(t, noContact, foreign.whole(404, id))
}

func TestAContactIsKeptByTheClientWithAnETag(t *testing.T) {
	p := newPeople(t, "translated_fields")
	made := p.write(200, "POST", "/create", object{"email": "ada@x.org"})
	one := "/" + entity(made.JSON(t)).id()
	for name, path := range map[string]string{"event": p.EventPath("/contacts" + one), "organization": p.organization(one)} {
		read := func(status int, header ...string) http.Header {
			t.Helper()
			return p.Call(t, status, http.MethodGet, path, nil, header...).Header
		}
		etag := read(200).Get("ETag")
		require.NotEmpty(t, etag, name)
		for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			require.Equal(t, etag, read(304, "If-None-Match", known).Get("ETag"))
			require.Empty(t, p.Call(t, 304, http.MethodGet, path, nil, "If-None-Match", known).Body)
		}
		for _, other := range []string{`"1"`, `"x"`, strings.Trim(etag, `"`)} {
			read(200, "If-None-Match", other)
		}
		expanded := p.Call(t, 200, http.MethodGet, path+"?expand=translated_fields", nil, "If-None-Match", etag)
		require.NotEqual(t, etag, expanded.Header.Get("ETag"))
		p.put(200, one[1:], object{"title": name})
		require.NotEqual(t, etag, read(200, "If-None-Match", etag).Get("ETag"))
		head := p.Call(t, 200, http.MethodHead, path, nil)
		require.Empty(t, head.Body)
		require.Equal(t, read(200).Get("ETag"), head.Header.Get("ETag"))
	}
	changed := p.write(200, "PUT", one, object{"title": "y"})
	require.Equal(t, changed.Header.Get("ETag"), p.write(200, "GET", one, nil).Header.Get("ETag"), "a write answers the new tag")
	require.NotEqual(t, made.Header.Get("ETag"), changed.Header.Get("ETag"))
}

// TestWhatOfAnotherEventChangesHere: the record, which is one, and nothing else. The
// organization's level tells by its time that something was written.
func TestWhatOfAnotherEventChangesHere(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	badge, seat := p.field("Badge", "text", organizationWide), there.field("Seat", "text")
	id := p.addressed("ada@x.org")[0]
	path := "/" + id
	etag := p.write(200, "GET", path, nil).Header.Get("ETag")
	want, whole := p.get(200, id), p.whole(200, id)
	there.addressed("ada@x.org")
	there.put(200, id, object{"custom_fields": object{seat: "1"}})
	there.remove(200, id)
	there.restore(200, id)
	p.write(304, "GET", path, nil, "If-None-Match", etag)
	require.Equal(t, want, p.get(200, id))
	later := p.whole(200, id)
	require.Greater(t, later["updated_at"], whole["updated_at"])
	later["updated_at"] = whole["updated_at"]
	require.Equal(t, whole, later)
	require.Equal(t, []entity{want}, p.search(object{}).Results)
	require.Equal(t, "Boss", p.put(200, id, object{"title": "Boss", "updated_at": want["updated_at"]})["title"], "it is not stale")
	for _, body := range []object{{"title": "Chief"}, {"custom_fields": object{badge: "A"}}, {"email": "ada@y.org"}} {
		before := p.write(200, "GET", path, nil)
		changed := there.put(200, id, body)
		stale := p.put(409, id, object{"title": "x", "updated_at": before.JSON(t)["updated_at"]})
		isRefused(t, stale, "STALE_UPDATE", "")
		require.Equal(t, changed["updated_at"], stale.at("details.updated_at"))
		p.write(409, "PUT", path, object{"title": "x"}, "If-Match", before.Header.Get("ETag"))
		p.write(200, "GET", path, nil, "If-None-Match", before.Header.Get("ETag"))
		require.Equal(t, changed["updated_at"], p.get(200, id)["updated_at"])
	}
}
