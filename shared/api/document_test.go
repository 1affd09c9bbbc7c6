package api_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/api"
)

// described is the document of the test group.
func described(t *testing.T) map[string]any {
	t.Helper()
	text, err := api.Document([]api.Group{group})
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, json.Unmarshal(text, &document))
	return document
}

// at walks into a document by keys.
func at(t *testing.T, from any, keys ...string) any {
	t.Helper()
	for _, key := range keys {
		object, ok := from.(map[string]any)
		require.True(t, ok, "nothing has a %s in %v", key, keys)
		require.Contains(t, object, key)
		from = object[key]
	}
	return from
}

func keys(t *testing.T, from any) (names []string) {
	t.Helper()
	for name := range from.(map[string]any) {
		names = append(names, name)
	}
	return names
}

func TestTheDocumentSaysWhatEachRouteCanAnswer(t *testing.T) {
	document := described(t)
	require.Equal(t, "3.1.0", document["openapi"])
	require.Equal(t, "1.0", at(t, document, "info", "version"))
	for _, c := range []struct {
		path, method string
		statuses     []string
	}{
		{"/v1/event/{eventId}/notes/{noteId}", "get", []string{"200", "304", "400", "401", "403", "404", "429", "500", "503"}},
		{"/v1/event/{eventId}/notes/{noteId}", "delete", []string{"204", "400", "401", "403", "404", "409", "429", "500", "503"}},
		{"/v1/event/{eventId}/notes", "post", []string{"200", "400", "401", "403", "404", "413", "415", "429", "500", "503"}},
		{"/v1/event/{eventId}/notes/create", "post", []string{"201", "400", "401", "403", "404", "409", "413", "415", "422", "429", "500", "503"}},
		{"/open", "get", []string{"200", "400", "500", "503"}},
	} {
		require.ElementsMatch(t, c.statuses, keys(t, at(t, document, "paths", c.path, c.method, "responses")), "%s %s", c.method, c.path)
	}
	require.NotContains(t, document["paths"], "/file", "hidden")
	for status, waits := range map[string]bool{"400": false, "409": true, "429": true, "500": false, "503": true} {
		named := at(t, document, "components", "responses", status, "headers")
		require.Equal(t, waits, slices.Contains(keys(t, named), "Retry-After"), status)
	}
}

func TestTheDocumentSaysWhoMayCallAndHowOften(t *testing.T) {
	document := described(t)
	get := at(t, document, "paths", "/v1/event/{eventId}/notes/{noteId}", "get")
	require.Equal(t, []any{"read:sessions", "read:contacts"}, at(t, get, "x-required-scope"))
	require.Equal(t, "entity_reads", at(t, get, "x-rate-limit-bucket"))
	require.Equal(t, []any{
		map[string]any{"apiToken": []any{}},
		map[string]any{"oauth2": []any{"read:sessions"}}, map[string]any{"oauth2": []any{"read:contacts"}},
	}, at(t, get, "security"))
	require.Equal(t, "Get note", at(t, get, "summary"))
	require.ElementsMatch(t, []string{
		"Cache-Control", "ETag", "RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-Id",
	}, keys(t, at(t, get, "responses", "200", "headers")))
	schemes := at(t, document, "components", "securitySchemes")
	require.Equal(t, "x-access-token", at(t, schemes, "apiToken", "name"))
	require.Contains(t, at(t, schemes, "oauth2", "flows", "authorizationCode", "scopes"), "write:sessions")
	require.NotContains(t, at(t, document, "paths", "/open", "get"), "security")
}

func TestSchemasSayWhatMayBeNull(t *testing.T) {
	schemas := at(t, described(t), "components", "schemas")
	require.ElementsMatch(t, []string{
		"Error", "PageOfApi_testNote", "PageOfApi_testListing", "PagePagination", "Api_testNote", "Api_testAuthor", "Api_testFilters",
		"Api_testListing", "Api_testNoteBody", "Api_testPerson", "Api_testSearchBody",
	}, keys(t, schemas))
	require.Equal(t, []any{map[string]any{"$ref": "#/components/schemas/Api_testAuthor"}, map[string]any{"type": "null"}},
		at(t, schemas, "Api_testNote", "properties", "author", "anyOf"))
	require.Equal(t, []any{"string", "null"}, at(t, schemas, "Api_testNote", "properties", "seen_at", "type"))
	body := at(t, schemas, "Api_testNoteBody")
	require.Equal(t, true, at(t, body, "additionalProperties"))
	require.Equal(t, []any{"red", "blue", nil}, at(t, body, "properties", "color", "enum"))
	require.Equal(t, "array", at(t, body, "properties", "tag_ids", "type"))
	require.Equal(t, false, at(t, schemas, "Api_testFilters", "additionalProperties"))
}

func TestHeadersOfRequestsAreDeclared(t *testing.T) {
	document := described(t)
	require.Contains(t, parameters(t, document, "/v1/event/{eventId}/notes/{noteId}", "get"), "If-None-Match")
	require.NotContains(t, parameters(t, document, "/v1/event/{eventId}/notes/{noteId}", "put"), "If-None-Match")
	require.Contains(t, parameters(t, document, "/v1/event/{eventId}/notes", "post"), "X-Request-Id")
	require.Contains(t, at(t, document, "components", "schemas", "Error", "required"), "code")
}

func TestOnlyCreatesTakeAnIdempotencyKey(t *testing.T) {
	document := described(t)
	require.Contains(t, parameters(t, document, "/v1/event/{eventId}/notes/create", "post"), "Idempotency-Key")
	require.NotContains(t, parameters(t, document, "/v1/event/{eventId}/notes", "post"), "Idempotency-Key")
	require.Contains(t, parameters(t, document, "/v1/event/{eventId}/notes/{noteId}", "put"), "If-Match")
	require.Equal(t, true, at(t, document, "paths", "/v1/event/{eventId}/notes/create", "post", "requestBody", "required"))
	require.NotContains(t, at(t, document, "paths", "/v1/event/{eventId}/notes", "post", "requestBody"), "required")
}

func parameters(t *testing.T, document any, path, method string) (names []string) {
	t.Helper()
	for _, p := range at(t, document, "paths", path, method, "parameters").([]any) {
		names = append(names, at(t, p, "name").(string))
	}
	return names
}
