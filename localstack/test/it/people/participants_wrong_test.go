package people_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestWrongPeopleSearches(t *testing.T) {
	c := it.NewProgramme(t)
	id := uuid.NewString()
	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann speaker")
	both := map[string]any{
		"filters.track":            object{"filters": object{"track": id}},
		"filters.status":           object{"filters": object{"status": "accepted"}},
		"filters.isAbstract":       object{"filters": object{"isAbstract": true}},
		"filters.search":           object{"filters": object{"search": 1}},
		"filters.createdAt.since":  object{"filters": object{"createdAt": object{"since": "2027-01-01T00:00:00Z"}}},
		"filters.updatedAt.before": object{"filters": object{"updatedAt": object{"before": "2027"}}},
		"filters.deletedAt":        object{"filters": object{"deletedAt": object{}}},
		"sort.startsAt":            object{"sort": object{"startsAt": object{"sort": "asc"}}},
		"sort.order":               `{"sort":{"order":"createdAt","sort":"asc"}}`,
		"sort.createdAt.sort":      object{"sort": object{"createdAt": object{"sort": "up"}}},
		"expand[0]":                object{"expand": []string{"roles"}},
		"expand[1]":                object{"expand": []string{"translated_fields", "composition"}},
	}
	refuse := func(path, field string, body any) {
		t.Helper()
		it.RequireInvalid(t, c.Do(400, http.MethodPost, path, body), field)
	}
	for _, path := range []string{"/speakers", "/participants"} {
		for field, body := range both {
			refuse(path, field, body)
		}
		for _, facet := range it.MetadataFilters {
			refuse(path, "filters."+facet.Filter, object{"filters": object{facet.Filter: []string{}}})
			refuse(path, "filters."+facet.Filter+"[1]", object{"filters": object{facet.Filter: []string{id, "x"}}})
		}
		for parts, field := range map[string]string{"page=0": "page", "page=1000": "page", "pageSize=0": "pageSize", "pageSize=101": "pageSize"} {
			refuse(path+"?"+parts, field, object{})
		}
	}
	for field, value := range map[string]any{"roleIds": []string{id}, "roleSlugs": []string{"speaker"}, "email": "a@example.org"} {
		refuse("/speakers", "filters."+field, object{"filters": object{field: value}})
		require.Empty(t, c.FindNames("participants", it.Merged(object{"search": "nobody"}, object{field: value})))
	}
	for _, field := range []string{"roleIds", "roleSlugs"} {
		refuse("/participants", "filters."+field, object{"filters": object{field: []string{}}})
		refuse("/participants", "filters."+field, object{"filters": object{field: "speaker"}})
		refuse("/participants", "filters."+field+"[0]", object{"filters": object{field: []any{1}}})
	}
	refuse("/participants", "filters.roleIds[0]", object{"filters": object{"roleIds": []string{"speaker"}}})
	for _, wrong := range []any{"", " ", nil, 1, []string{"a@example.org"}} {
		refuse("/participants", "filters.email", object{"filters": object{"email": wrong}})
	}
}

func TestWhoMayReadPeople(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann speaker")
	one := "/contacts/" + c.ContactID("Ann")
	for _, route := range []struct {
		method, path string
		scopes       []string
	}{
		{http.MethodPost, "/speakers", []string{"read:contacts"}},
		{http.MethodGet, "/speakers/" + c.ContactID("Ann"), []string{"read:contacts"}},
		{http.MethodPost, "/participants", []string{"read:contacts"}},
		{http.MethodGet, "/participants?email=ann@example.org", []string{"read:contacts"}},
		{http.MethodGet, "/participant-roles", []string{"read:contacts", "read:sessions"}},
		{http.MethodGet, one + "/sessions", []string{"read:contacts", "read:sessions"}},
	} {
		path := c.EventPath(route.path)
		for _, scope := range []string{"read:contacts", "read:sessions", "read:events", "write:contacts"} {
			status := http.StatusForbidden
			for _, opens := range route.scopes {
				if opens == scope {
					status = http.StatusOK
				}
			}
			answer := c.As(c.NewToken(t, scope)).Call(t, status, route.method, path, nil)
			require.Empty(t, answer.Header.Get("RateLimit-Limit"), "it is not limited")
		}
		c.As("").Call(t, http.StatusUnauthorized, route.method, path, nil)
		elsewhere := c.TokenWith(t, map[string]any{"scopes": []string{"read:contacts"}, "event_ids": []int64{c.NewEvent(t)}})
		require.Equal(t, "Event not found", c.As(elsewhere).Call(t, http.StatusNotFound, route.method, path, nil).JSON(t)["message"])
	}
}
