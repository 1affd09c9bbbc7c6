package it_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// version is the part of an answer's ETag that counts the changes of its record.
func version(t *testing.T, answer stacktest.Answer) string {
	t.Helper()
	version, _, _ := strings.Cut(strings.TrimPrefix(answer.Header.Get("ETag"), `"`), ".")
	require.Regexp(t, `^\d+$`, version)
	return version
}

func TestAccountUpdatedAtAdmitsTheCurrentVersionAlone(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		first := s.create(200, object{"name": "A"})
		id, seen := first.id(), first.text("updated_at")
		answer := s.call(200, http.MethodPut, "/"+id, object{"name": "B", "updated_at": seen})
		second := entity(answer.JSON(t))
		stale(t, s.call(409, http.MethodPut, "/"+id, object{"name": "C", "updated_at": seen}), second, version(t, answer))
		require.Equal(t, second["updated_at"], s.bulk(updating(id, object{"name": "C", "updated_at": seen})).failed(t, 0, "STALE_UPDATE", "").at("details.updated_at"))
		at, err := time.Parse(time.RFC3339, second.text("updated_at"))
		require.NoError(t, err)
		for _, wrong := range []time.Time{at.Add(time.Millisecond), at.Add(-time.Millisecond), time.Unix(0, 0)} {
			stale(t, s.call(409, http.MethodPut, "/"+id, object{"updated_at": wrong.Format(time.RFC3339Nano)}), second, version(t, answer))
		}
		require.Equal(t, second, s.get(200, id), "nothing is written")
		s.put(200, id, object{"name": "C", "updated_at": at.In(time.FixedZone("", -5*3600)).Format("2006-01-02T15:04:05.000-07:00")})
		isInvalid(t, s.put(400, id, object{"name": "D", "updated_at": nil}), "updated_at")
		isInvalid(t, s.put(400, id, object{"name": "D", "updated_at": "now"}), "updated_at")
		s.put(200, id, object{"name": "D"})
	})
}

func TestAccountIfMatchAdmitsTheCurrentVersionAlone(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		id := s.named("A")[0]
		etag := s.call(200, http.MethodGet, "/"+id, nil).Header.Get("ETag")
		changed := s.call(200, http.MethodPut, "/"+id, object{"name": "B"}, "If-Match", etag)
		current, bare := entity(changed.JSON(t)), `"`+version(t, changed)+`"`
		for _, old := range []string{etag, `"1"`, `"x"`, `"1.x", "999"`} {
			stale(t, s.call(409, http.MethodPut, "/"+id, object{"name": "C"}, "If-Match", old), current, version(t, changed))
			stale(t, s.call(409, http.MethodDelete, "/"+id, nil, "If-Match", old), current, version(t, changed))
		}
		for _, malformed := range []string{"2", `"2`, "W/2"} {
			isInvalid(t, s.call(400, http.MethodPut, "/"+id, object{"name": "C"}, "If-Match", malformed).JSON(t), "If-Match")
			isInvalid(t, s.call(400, http.MethodDelete, "/"+id, nil, "If-Match", malformed).JSON(t), "If-Match")
		}
		require.Equal(t, current, s.get(200, id))
		gone := s.call(200, http.MethodDelete, "/"+id, nil, "If-Match", bare)
		stale(t, s.call(409, http.MethodPost, "/"+id+"/restore", nil, "If-Match", bare), gone.JSON(t), version(t, gone))
		restored := s.call(200, http.MethodPost, "/"+id+"/restore", nil, "If-Match", gone.Header.Get("ETag"))
		require.NotEqual(t, version(t, gone), version(t, restored))
		s.call(200, http.MethodPut, "/"+id, object{"name": "C"}, "If-Match", "*")
	})
}

// The version of an account rises with what its other role, and the record on
// another event, show of it too.
func TestAccountGuardsSeeWhatOthersWrote(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
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
				require.Equal(t, current["updated_at"], refusal.at("details.updated_at"))
			}
		}
		seen := s.get(200, id)
		there.remove(200, id)
		require.Equal(t, seen, s.get(200, id))
		s.put(200, id, object{"name": "Y", "updated_at": seen["updated_at"]})
	})
}

func TestAccountGetIsKeptByTheClientWithAnETag(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *stand) {
		ann := s.person("ann@example.org").id()
		made := s.call(200, http.MethodPost, "/create", object{"name": "A", "contacts": []object{{"contact_id": ann}}})
		id, etag := entity(made.JSON(t)).id(), made.Header.Get("ETag")
		require.Regexp(t, `^"\d+\.[^"]+"$`, etag)
		for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			answer := s.call(304, http.MethodGet, "/"+id, nil, "If-None-Match", known)
			require.Empty(t, answer.Body)
			require.Equal(t, etag, answer.Header.Get("ETag"))
		}
		s.call(200, http.MethodGet, "/"+id, nil, "If-None-Match", `"1"`)
		s.send(200, "PUT", "/contacts/"+ann, object{"title": "CEO"})
		renamed := s.call(200, http.MethodGet, "/"+id, nil, "If-None-Match", etag)
		require.NotEqual(t, etag, renamed.Header.Get("ETag"), "a contact is part of the answer")
		s.call(200, http.MethodPut, "/"+id, object{"name": "B"}, "If-Match", etag)
		blind := s.with("read:events").call(200, http.MethodGet, "/"+id, nil)
		require.NotEqual(t, s.call(200, http.MethodGet, "/"+id, nil).Header.Get("ETag"), blind.Header.Get("ETag"), "without contacts it is another answer")
		require.Equal(t, "no-store", s.call(200, http.MethodPost, "", object{}).Header.Get("Cache-Control"))
	})
}
