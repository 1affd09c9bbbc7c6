package people_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The version of an account rises with what its other role, and the record on
// another event, show of it too.
func TestAccountGuardsSeeWhatOthersWrote(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id, there := s.named("A")[0], s.elsewhere()
		for _, write := range []func(){
			func() { s.other().takes(200, id) },
			func() { s.other().put(200, id, object{"name": "B"}) },
			func() { there.takes(200, id, object{"phone": "123456"}) },
			func() { there.put(200, id, object{"description": "x"}) },
			func() { s.other().remove(200, id) },
		} {
			seen := s.call(200, http.MethodGet, "/"+id, nil)
			write()
			current := s.get(200, id)
			require.Greater(t, current["updated_at"], entity(seen.JSON(t))["updated_at"])
			for _, header := range []string{"", seen.Header.Get("ETag")} {
				body := object{"name": "X"}
				if header == "" {
					body["updated_at"] = seen.JSON(t)["updated_at"]
				}
				refusal := entity(s.call(409, http.MethodPut, "/"+id, body, "If-Match", header).JSON(t))
				require.Equal(t, current["updated_at"], refusal.At("details.updated_at"))
			}
		}
		seen := s.get(200, id)
		there.remove(200, id)
		require.Equal(t, seen, s.get(200, id))
		s.put(200, id, object{"name": "Y", "updated_at": seen["updated_at"]})
	})
}

func TestAccountGetIsKeptByTheClientWithAnETag(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann := s.NewContact("ann@example.org").ID()
		made := s.call(200, http.MethodPost, "/create", object{"name": "A", "contacts": []object{{"contact_id": ann}}})
		id, etag := entity(made.JSON(t)).ID(), made.Header.Get("ETag")
		require.Regexp(t, `^"\d+\.[^"]+"$`, etag)
		for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			answer := s.call(304, http.MethodGet, "/"+id, nil, "If-None-Match", known)
			require.Empty(t, answer.Body)
			require.Equal(t, etag, answer.Header.Get("ETag"))
		}
		s.call(200, http.MethodGet, "/"+id, nil, "If-None-Match", `"1"`)
		s.Do(200, "PUT", "/contacts/"+ann, object{"title": "CEO"})
		renamed := s.call(200, http.MethodGet, "/"+id, nil, "If-None-Match", etag)
		require.NotEqual(t, etag, renamed.Header.Get("ETag"), "a contact is part of the answer")
		s.call(200, http.MethodPut, "/"+id, object{"name": "B"}, "If-Match", etag)
		blind := s.with("read:events").call(200, http.MethodGet, "/"+id, nil)
		require.NotEqual(t, s.call(200, http.MethodGet, "/"+id, nil).Header.Get("ETag"), blind.Header.Get("ETag"), "without contacts it is another answer")
		require.Equal(t, "no-store", s.call(200, http.MethodPost, "", object{}).Header.Get("Cache-Control"))
	})
}

// An account that is not there is unknown, whatever account_id says.
func TestAnUnknownAccountIsNotFound(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := uuid.NewString()
		for _, body := range []object{{"description": "x"}, {"account_id": id, "description": "x"}} {
			require.Equal(t, "NOT_FOUND", s.put(404, id, body)["code"])
		}
	})
}
