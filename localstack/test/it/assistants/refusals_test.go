package assistants_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/table"
)

// listTools is a message that every assistant may send.
var listTools = object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

// TestOnlyApplicationsOpenTheServer for members with AI Access. A 401 names where an assistant finds the sign-in.
func TestOnlyApplicationsOpenTheServer(t *testing.T) {
	s := stacktest.Start(t)
	c := granttest.New(t, s)
	user := c.Member(nil)
	tokens, id := c.Connect(user, auth.ReadEvents)
	app := s.As(tokens.AccessToken)
	app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools))

	for name, token := range map[string]string{
		"no token": "", "an API token": s.Token, "a log export token": s.TokenWith(t, object{"kind": "log_export"}),
		"a refresh token": tokens.RefreshToken, "an unknown token": tokens.AccessToken[:len(tokens.AccessToken)-8] + "AAAAAAAA",
	} {
		answer := s.As(token).Call(t, http.StatusUnauthorized, http.MethodPost, "/mcp", message(listTools))
		// The gateway renames the header in the answers of functions, but not in its own.
		challenge := answer.Header.Get("x-amzn-Remapped-WWW-Authenticate")
		if !strings.HasPrefix(token, string(auth.FormAccess)) {
			challenge = answer.Header.Get("WWW-Authenticate")
		}
		require.Contains(t, challenge, `resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`, name)
		require.Equal(t, strings.HasPrefix(token, string(auth.FormAccess)), strings.Contains(challenge, `error="invalid_token"`), name)
	}

	// As an assistant sends a token that somebody has pasted.
	for _, header := range [][]string{
		{"Authorization", "Bearer " + s.Token}, {"Authorization", "Bearer " + s.Token, stacktest.TokenHeader, s.Token},
		{"Authorization", s.Token}, {"Authorization", "Basic " + s.Token},
	} {
		pasted := s.As("").Call(t, http.StatusUnauthorized, http.MethodPost, "/mcp", message(listTools, header...)).JSON(t)
		require.Contains(t, pasted["message"], "an API token does not. The application asks for a sign-in at "+s.URL+"/oauth/authorize.")
	}

	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": user, "ai_access": false})
	require.Equal(t, "ai_access", app.Call(t, http.StatusForbidden, http.MethodPost, "/mcp", message(listTools)).JSON(t)["reason"])
	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": user, "ai_access": true})
	s.Operator(t, "organization-update", object{"org_id": s.Org, "ai_enabled": false})
	app.Call(t, http.StatusForbidden, http.MethodPost, "/mcp", message(listTools))
	s.Operator(t, "organization-update", object{"org_id": s.Org, "ai_enabled": true})
	app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools))
	s.Operator(t, "token-revoke", object{"org_id": s.Org, "token_id": id})
	app.Call(t, http.StatusUnauthorized, http.MethodPost, "/mcp", message(listTools))
}

// TestMessagesOutsideTheProtocol are refused in the shape of all errors, or in that of JSON-RPC.
func TestMessagesOutsideTheProtocol(t *testing.T) {
	s := stacktest.Start(t)
	c := granttest.New(t, s)
	tokens, _ := c.Connect(c.Member(nil), auth.ReadEvents)
	app := s.As(tokens.AccessToken)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		app.Call(t, http.StatusMethodNotAllowed, method, "/mcp", nil)
	}
	for name, refused := range map[string]struct {
		status int
		body   any
	}{
		"no Accept":             {http.StatusBadRequest, listTools},
		"JSON alone":            {http.StatusBadRequest, stacktest.WithHeaders(listTools, "Accept", "application/json")},
		"an unknown version":    {http.StatusBadRequest, message(listTools, "MCP-Protocol-Version", "2020-01-01")},
		"no JSON":               {http.StatusBadRequest, message("{")},
		"no body":               {http.StatusBadRequest, message("", "Content-Type", "application/json")},
		"no object":             {http.StatusBadRequest, message("7")},
		"another version":       {http.StatusBadRequest, message(object{"jsonrpc": "1.0", "id": 1, "method": "tools/list"})},
		"a form":                {http.StatusUnsupportedMediaType, message("a=b", "Content-Type", "application/x-www-form-urlencoded")},
		"more than a megabyte":  {http.StatusRequestEntityTooLarge, message(`"` + strings.Repeat("x", 1<<20) + `"`)},
		"an event to resume at": {http.StatusBadRequest, message(listTools, "Last-Event-ID", "7")},
	} {
		answer := app.Call(t, refused.status, http.MethodPost, "/mcp", refused.body).JSON(t)
		require.NotEmpty(t, answer["message"], name)
		require.NotEmpty(t, answer["code"], name)
	}
	for method, code := range map[string]int{"tools/call": -32602, "resources/read": -32602} {
		answer := app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(object{
			"jsonrpc": "2.0", "id": "a", "method": method, "params": object{"name": "drop_tables", "uri": "lectern://events/x/schedule"},
		})).JSON(t)
		require.Equal(t, "a", answer["id"], method)
		require.EqualValues(t, code, answer["error"].(object)["code"], method)
	}
	initialized := message(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
	notified := app.Call(t, http.StatusAccepted, http.MethodPost, "/mcp", initialized)
	require.Empty(t, notified.Body)
}

// TestEveryVersionOfTheProtocol lists the tools.
func TestEveryVersionOfTheProtocol(t *testing.T) {
	s := stacktest.Start(t)
	c := granttest.New(t, s)
	tokens, _ := c.Connect(c.Member(nil), auth.ReadEvents)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		answer := s.As(tokens.AccessToken).Call(t, http.StatusOK, http.MethodPost, "/mcp", message(object{
			"jsonrpc": "2.0", "id": 1, "method": "initialize",
			"params": object{"protocolVersion": version, "capabilities": object{}, "clientInfo": object{"name": "test", "version": "1"}},
		}))
		require.Equal(t, version, answer.JSON(t)["result"].(object)["protocolVersion"])
		require.Empty(t, answer.Header.Get("Mcp-Session-Id"))
		tools := s.As(tokens.AccessToken).Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools, "MCP-Protocol-Version", version))
		require.Contains(t, string(tools.Body), `"find_sessions"`, version)
		require.Equal(t, "application/json", tools.Header.Get("Content-Type"))
	}
	// From 2026-07-28 on there is no initialization, and headers repeat the method.
	latest := object{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": object{"_meta": object{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": object{},
		"io.modelcontextprotocol/clientInfo": object{"name": "test", "version": "1"},
	}}}
	headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}
	tools := s.As(tokens.AccessToken).Call(t, http.StatusOK, http.MethodPost, "/mcp", message(latest, headers...)).JSON(t)["result"].(object)
	require.Equal(t, "private", tools["cacheScope"])
	headers[3] = "ping"
	s.As(tokens.AccessToken).Call(t, http.StatusBadRequest, http.MethodPost, "/mcp", message(latest, headers...))
	batch := []any{listTools}
	s.As(tokens.AccessToken).Call(t, http.StatusBadRequest, http.MethodPost, "/mcp", message(batch))
}

// TestACallEndsWithItsRequest: the operation of a tool has the time of the request.
func TestACallEndsWithItsRequest(t *testing.T) {
	seen := &watched{}
	s := stacktest.Start(t, stacktest.WithClient(func(c table.Client) table.Client { seen.Client = c; return seen }))
	a := newAssistant(t, &it.Client{Stack: s, T: t})
	a.call("list_rooms", object{"event_id": s.Event})
	require.True(t, seen.timed, "a read of the operation has a deadline")
}

// watched notes whether the last query had a deadline.
type watched struct {
	table.Client
	timed bool
}

// Query implements table.Client.
func (w *watched) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	_, w.timed = ctx.Deadline()
	return w.Client.Query(ctx, in, o...)
}

// TestACallIsRefusedWithAdvice: a model reads what was refused, and what to do.
func TestACallIsRefusedWithAdvice(t *testing.T) {
	d := it.NewClient(t)
	a := newAssistant(t, d, auth.ReadEvents, auth.ReadSessions)
	foreign := d.NewOrganization(t)
	unknown := "00000000-0000-4000-8000-000000000000"
	for _, refused := range []struct {
		tool string
		args object
		says []string
	}{
		{"find_sessions", nil, []string{"event_id is required.", "Correct the argument"}},
		{"find_sessions", object{"event_id": "x"}, []string{"Argument: event_id.", "Correct the argument"}},
		{"find_sessions", object{"event_id": d.Event, "room": "Hall"}, []string{"find_sessions has no argument room. It has: event_id,"}},
		{"find_sessions", object{"event_id": d.Event, "page_size": 1000}, []string{"Argument: page_size."}},
		{"find_sessions", object{"event_id": d.Event, "status": []any{object{}}}, []string{"Argument: status."}},
		{"get_session", object{"event_id": d.Event, "session_id": unknown}, []string{"not found", "Look the id up"}},
		{"list_tags", object{"event_id": d.Event, "page": 0}, []string{"page must be a number from 1 to 1000.", "Argument: page."}},
		{"list_tags", object{"event_id": d.Event, "page_size": "many"}, []string{"Argument: page_size."}},
		{"get_session", object{"event_id": d.Event, "session_id": "x"}, []string{"session_id must be", "Argument: session_id."}},
		{"create_session", object{"event_id": d.Event, "title": "New"}, []string{"write:sessions", "A new connection"}},
		{"run_query", object{"event_id": d.Event, "query": "FIND Session"}, []string{"read:insights", "A new connection"}},
		{"list_award_programs", nil, []string{"read:awards"}},
	} {
		said := a.refused(refused.tool, refused.args)
		for _, says := range refused.says {
			require.Contains(t, said, says, "%s %v", refused.tool, refused.args)
		}
	}
	require.Equal(t, a.refused("list_rooms", object{"event_id": foreign.Event}), a.refused("list_rooms", object{"event_id": 999_999}))
	_, err := a.read("lectern://events/" + id(foreign.Event) + "/schedule")
	require.ErrorContains(t, err, "not found")
	_, err = a.read("lectern://events/" + id(d.Event) + "/people")
	require.ErrorContains(t, err, "not found")
	require.Empty(t, a.call("find_sessions", object{"event_id": d.Event})["results"], "nothing was created")
}

// TestAnArgumentStaysInItsPlace: an id leads to no other path and to no parameter of the query.
func TestAnArgumentStaysInItsPlace(t *testing.T) {
	d := it.NewClient(t)
	a := newAssistant(t, d)
	made := a.call("create_session", object{"event_id": d.Event, "title": "Opening"})["id"].(string)
	for sent, says := range map[string]string{
		made + "/fields": "session_id must be", made + "?expand=composition": "session_id must be", made + "%2ffields": "session_id must be",
		"..": "Route not found", "%2e%2e": "session_id must be", "": "session_id is required.", "../rooms": "Route not found",
	} {
		change := object{"event_id": d.Event, "session_id": sent, "title": "Other", "custom_fields": object{}}
		require.Contains(t, a.refused("update_session", change), says, sent)
	}
	require.Equal(t, "Opening", a.call("get_session", object{"event_id": d.Event, "session_id": made})["title"])
}

// TestAnEventsMemberSeesOneEvent through an assistant, too.
func TestAnEventsMemberSeesOneEvent(t *testing.T) {
	d := it.NewClient(t)
	other := d.NewEvent(t)
	c := granttest.New(t, d.Stack)
	tokens, _ := c.Connect(c.Member(object{"role": "event_only", "event_ids": []int64{d.Event}}), auth.APIScopes...)
	of := func(event int64) string {
		answer := d.As(tokens.AccessToken).Call(t, http.StatusOK, http.MethodPost, "/mcp", message(object{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "list_rooms", "arguments": object{"event_id": event}},
		}))
		return string(answer.Body)
	}
	require.NotContains(t, of(d.Event), "isError")
	require.Contains(t, of(other), `"isError":true`)
}

// TestLongAnswersAreCut in lists more than alone, until the answer is short enough, or refused.
func TestLongAnswersAreCut(t *testing.T) {
	d := it.NewClient(t)
	a := newAssistant(t, d)
	about := strings.Repeat("é", 1000)
	made := a.call("create_contact", object{"event_id": d.Event, "email": "ada@example.com", "about": about})
	require.Equal(t, about, made["about"])
	found := first(a.call("find_contacts", object{"event_id": d.Event}))
	require.Equal(t, strings.Repeat("é", 300)+"…", found["about"])
	var drafts []any
	for i := range 90 {
		drafts = append(drafts, object{
			"email": fmt.Sprintf("p%d@example.com", i), "about": about, "past_companies": about[:400], "topic_expertise": about[:400],
			"last_name": about[:200], "company_name": about[:200], "title": about[:200],
		})
	}
	for _, draft := range drafts {
		d.Call(t, http.StatusOK, http.MethodPost, d.EventPath("/contacts/create"), draft)
	}
	many := a.call("find_contacts", object{"event_id": d.Event, "page_size": 30})
	require.Len(t, many["results"], 30)
	require.Equal(t, strings.Repeat("é", 80)+"…", first(many)["about"])
	require.Len(t, a.call("find_contacts", object{"event_id": d.Event})["results"], 20, "the usual page")
	require.Contains(t, a.refused("find_contacts", object{"event_id": d.Event, "page_size": 90}), "Argument: page_size.")

	for i := range 100 {
		name := fmt.Sprintf("Tag %d %s", i, strings.Repeat("x", 200))
		d.Call(t, http.StatusOK, http.MethodPost, d.EventPath("/tags/create"), object{"name": name})
	}
	tags := a.call("list_tags", object{"event_id": d.Event})
	require.Len(t, tags["results"], 50)
	require.Equal(t, object{"currentPage": 1.0, "pageSize": 50.0, "totalPages": 2.0, "totalResults": 100.0}, tags["pagination"])
	require.Len(t, a.call("list_tags", object{"event_id": d.Event, "page": 2})["results"], 50)
	var ids []any
	for _, tag := range a.call("list_tags", object{"event_id": d.Event, "page_size": 1000})["results"].([]any) {
		ids = append(ids, tag.(object)["id"])
	}
	require.Len(t, ids, 100)

	// The answer to a write is not refused for its length.
	var people []any
	for i := range 90 {
		people = append(people, object{"email": fmt.Sprintf("p%d@example.com", i), "core_role": "speaker"})
	}
	long := a.call("create_session", object{"event_id": d.Event, "title": "Many", "participants": people, "tag_ids": ids})
	require.Subset(t, long["omitted"], []any{"speakers", "tags"})
	require.NotEmpty(t, long["id"])
}

// TestAFaultShowsNothingOfItself: a model reads that the service failed, and the log has the cause.
func TestAFaultShowsNothingOfItself(t *testing.T) {
	fault := &broken{}
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.WithLog(log), stacktest.WithClient(func(c table.Client) table.Client { fault.Client = c; return fault }))
	d := &it.Client{Stack: s, T: t}
	a := newAssistant(t, d)
	fault.on = true
	said := a.refused("list_rooms", object{"event_id": d.Event})
	require.Contains(t, said, "Tell the person.")
	require.NotContains(t, said, "a secret of the inside")
	require.Contains(t, log.String(), "a secret of the inside")
}

// broken fails queries while it is on.
type broken struct {
	table.Client
	on bool
}

// Query implements table.Client.
func (b *broken) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if b.on {
		return nil, errors.New("a secret of the inside")
	}
	return b.Client.Query(ctx, in, o...)
}
