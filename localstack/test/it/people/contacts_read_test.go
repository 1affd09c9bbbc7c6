package people_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

var noContact = entity{"code": "NOT_FOUND", "name": "NotFoundError", "error": "NotFoundError", "message": "Contact not found"}

func TestUnknownContactsAreNotFound(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent().WithAddresses("there@x.org")[0]
	gone := p.WithAddresses("gone@x.org")[0]
	p.Delete(200, gone)
	foreign := p.InOtherOrganization()
	theirs := foreign.WithAddresses("foreign@x.org")[0]
	session := p.NewSessions("A session")[0]
	for _, id := range []string{uuid.NewString(), there, gone, theirs, session} {
		require.Equal(t, noContact, p.Get(404, id))
		require.Equal(t, noContact, p.Put(404, id, object{"title": "x"}))
		require.Equal(t, noContact, p.Delete(404, id))
		require.Equal(t, "Contact not found", p.Bulk(it.Updating(id, object{"title": "x"})).PlainError(t, 0))
		require.Equal(t, "Contact not found", p.Bulk(it.Deleting(id)).PlainError(t, 0))
		if id != gone {
			require.Equal(t, noContact, p.Restore(404, id))
		}
	}
	require.Equal(t, noContact, p.Restore(404, p.WithAddresses("living@x.org")[0]), "restore of who is not deleted")
	for _, id := range []string{uuid.NewString(), theirs, session} {
		require.Equal(t, noContact, p.GetFromOrganization(404, id))
	}
	require.Equal(t, there, p.GetFromOrganization(200, there).ID())
	require.Nil(t, foreign.Get(200, theirs)["title"])
}

func TestPathsOfContacts(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@x.org")[0]
	require.Equal(t, p.Get(200, id), p.Get(200, strings.ToUpper(id)))
	require.Equal(t, "x", p.Put(200, strings.ToUpper(id), object{"title": "x"})["title"])
	require.Equal(t, "y", p.Bulk(it.Updating(strings.ToUpper(id), object{"title": "y"})).Data(t, 0)["title"])
	require.Equal(t, p.GetFromOrganization(200, id), p.GetFromOrganization(200, strings.ToUpper(id)))
	for _, wrong := range []string{"7", "CONT-1", "ada@x.org", id + "0"} {
		it.RequireInvalid(t, p.Get(400, wrong), "contactId")
		it.RequireInvalid(t, p.Put(400, wrong, object{}), "contactId")
		it.RequireInvalid(t, p.Delete(400, wrong), "contactId")
		it.RequireInvalid(t, p.Restore(400, wrong), "contactId")
		it.RequireInvalid(t, p.GetFromOrganization(400, wrong), "contactId")
	}
	it.RequireInvalid(t, p.Get(400, id, "expand=composition"), "expand")
	it.RequireInvalid(t, p.Put(400, id, object{}, "expand=composition"), "expand")
	it.RequireInvalid(t, p.GetFromOrganization(400, id, "expand=x"), "expand")
	foreign := p.InOtherOrganization()
	for _, call := range [][2]string{{"POST", ""}, {"GET", "/" + id}} {
		body := map[string]any{"POST": object{}}[call[0]]
		require.Equal(t, "Organization not found", p.Call(t, 404, call[0], foreign.OrganizationPath(call[1]), body).JSON(t)["message"])
		it.RequireInvalid(t, p.Call(t, 400, call[0], "/v1/organization/x/contacts"+call[1], body).JSON(t), "orgId")
		foreign.Call(t, 404, call[0], p.OrganizationPath(call[1]), body)
	}
	require.Equal(t, noContact, foreign.GetFromOrganization(404, id))
}

func TestAContactIsKeptByTheClientWithAnETag(t *testing.T) {
	p := NewContacts(t, "translated_fields")
	made := p.CallContacts(200, "POST", "/create", object{"email": "ada@x.org"})
	one := "/" + entity(made.JSON(t)).ID()
	for name, path := range map[string]string{"event": p.EventPath("/contacts" + one), "organization": p.OrganizationPath(one)} {
		read := func(status int, header ...string) http.Header {
			t.Helper()
			return p.Call(t, status, http.MethodGet, path, stacktest.WithHeaders(nil, header...)).Header
		}
		etag := read(200).Get("ETag")
		require.NotEmpty(t, etag, name)
		for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			require.Equal(t, etag, read(304, "If-None-Match", known).Get("ETag"))
			require.Empty(t, p.Call(t, 304, http.MethodGet, path, stacktest.WithHeaders(nil, "If-None-Match", known)).Body)
		}
		for _, other := range []string{`"1"`, `"x"`, strings.Trim(etag, `"`)} {
			read(200, "If-None-Match", other)
		}
		expanded := p.Call(t, 200, http.MethodGet, path+"?expand=translated_fields", stacktest.WithHeaders(nil, "If-None-Match", etag))
		require.NotEqual(t, etag, expanded.Header.Get("ETag"))
		p.Put(200, one[1:], object{"title": name})
		require.NotEqual(t, etag, read(200, "If-None-Match", etag).Get("ETag"))
		head := p.Call(t, 200, http.MethodHead, path, nil)
		require.Empty(t, head.Body)
		require.Equal(t, read(200).Get("ETag"), head.Header.Get("ETag"))
	}
	changed := p.CallContacts(200, "PUT", one, object{"title": "y"})
	require.Equal(t, changed.Header.Get("ETag"), p.CallContacts(200, "GET", one, nil).Header.Get("ETag"), "a write answers the new tag")
	require.NotEqual(t, made.Header.Get("ETag"), changed.Header.Get("ETag"))
}

// TestWhatOfAnotherEventChangesHere: the record, which is one, and nothing else. The
// organization's level tells by its time that something was written.
func TestWhatOfAnotherEventChangesHere(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	badge, seat := p.NewField("Badge", "text", it.GlobalScope), there.NewField("Seat", "text")
	id := p.WithAddresses("ada@x.org")[0]
	path := "/" + id
	etag := p.CallContacts(200, "GET", path, nil).Header.Get("ETag")
	want, whole := p.Get(200, id), p.GetFromOrganization(200, id)
	there.WithAddresses("ada@x.org")
	there.Put(200, id, object{"custom_fields": object{seat: "1"}})
	there.Delete(200, id)
	there.Restore(200, id)
	p.CallContacts(304, "GET", path, nil, "If-None-Match", etag)
	require.Equal(t, want, p.Get(200, id))
	later := p.GetFromOrganization(200, id)
	require.Greater(t, later["updated_at"], whole["updated_at"])
	later["updated_at"] = whole["updated_at"]
	require.Equal(t, whole, later)
	require.Equal(t, []entity{want}, p.Search(object{}).Results)
	require.Equal(t, "Boss", p.Put(200, id, object{"title": "Boss", "updated_at": want["updated_at"]})["title"], "it is not stale")
	for _, body := range []object{{"title": "Chief"}, {"custom_fields": object{badge: "A"}}, {"email": "ada@y.org"}} {
		before := p.CallContacts(200, "GET", path, nil)
		changed := there.Put(200, id, body)
		stale := p.Put(409, id, object{"title": "x", "updated_at": before.JSON(t)["updated_at"]})
		it.RequireError(t, stale, "STALE_UPDATE", "")
		require.Equal(t, changed["updated_at"], stale.At("details.updated_at"))
		p.CallContacts(409, "PUT", path, object{"title": "x"}, "If-Match", before.Header.Get("ETag"))
		p.CallContacts(200, "GET", path, nil, "If-None-Match", before.Header.Get("ETag"))
		require.Equal(t, changed["updated_at"], p.Get(200, id)["updated_at"])
	}
}
