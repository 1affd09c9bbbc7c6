package access_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/table"
)

// bearer is a token as somebody holds it, and what the route table says of it.
type bearer struct {
	name, token string
	// status is what a route answers that asks for the scopes; 0 is success.
	status func(api.Operation) int
	// reason is that of a 403.
	reason string
	// narrow is for an application whose member can approve more scopes: a 403 names one.
	narrow bool
}

// TestScopeMatrix calls every route with every kind of token and compares the
// status with the route table. The refused calls must change nothing.
func TestScopeMatrix(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil)
	bearers := slices.Concat(scoped(t, s), applications(t, s), refused(t, s))
	own := populated(t, s)
	before := engine.Dump(t).Below(table.Org(s.Org))
	calls := 0
	for _, op := range it.Operations() {
		refuse := it.RequestFor(op, s, own.records[op.ID])
		for _, b := range bearers {
			if want := b.status(op); want != 0 {
				answer := refuse.Send(t, s.As(b.token))
				require.Equal(t, want, answer.Status, "%s of %s: %s", refuse, b.name, answer.Body)
				checkRefusal(t, op, answer, b)
				calls++
			}
		}
	}
	require.Equal(t, before, engine.Dump(t).Below(table.Org(s.Org)), "a refused call changed something")
	for _, op := range it.Operations() {
		for _, b := range bearers {
			if b.status(op) == 0 {
				accept := it.RequestFor(op, s, it.NewRecord(t, op, s))
				answer := accept.Send(t, s.As(b.token))
				require.Equal(t, it.OutcomeOf(op), answer.Status, "%s of %s: %s", accept, b.name, answer.Body)
				calls++
			}
		}
	}
	t.Logf("%d routes, %d tokens, %d calls", len(it.Operations()), len(bearers), calls)
}

// scoped are the tokens that are accepted: one for each scope alone, the legacy
// one, the log export one, and what is limited to events.
func scoped(t *testing.T, s *stacktest.Stack) []bearer {
	t.Helper()
	only := func(has func(auth.Scope) bool, except ...func(api.Operation) bool) func(api.Operation) int {
		return func(op api.Operation) int {
			needsMore := slices.ContainsFunc(except, func(more func(api.Operation) bool) bool { return more(op) })
			if op.Scopes.IsPublic() || slices.ContainsFunc(op.Scopes, has) && !needsMore {
				return 0
			}
			return http.StatusForbidden
		}
	}
	all := []bearer{{name: "log export", token: s.TokenWith(t, map[string]any{"kind": "log_export"}), reason: "log_export_only",
		status: only(func(scope auth.Scope) bool { return scope == auth.ReadAuditLogs })}}
	for _, scope := range stacktest.Scopes {
		all = append(all, bearer{name: scope, token: s.NewToken(t, scope),
			status: only(func(asked auth.Scope) bool { return string(asked) == scope }, it.NeedsReadScope)})
	}
	legacy := only(func(scope auth.Scope) bool {
		return strings.HasPrefix(string(scope), "read:") && scope != auth.ReadAuditLogs
	})
	all = append(all, bearer{name: "legacy", token: s.TokenWith(t, map[string]any{"kind": "legacy", "limit": 1_000_000}), status: legacy})
	return append(all, limited(t, s, legacy)...)
}

// limited are the tokens that see some events only. Other events, and contacts of
// other events on the organization's level, are not there for them, but a missing
// scope is told first.
func limited(t *testing.T, s *stacktest.Stack, legacy func(api.Operation) int) []bearer {
	t.Helper()
	hidden := func(status func(api.Operation) int) func(api.Operation) int {
		return func(op api.Operation) int {
			if it.OfWholeOrganization(op) {
				return http.StatusForbidden
			}
			if strings.Contains(op.Path, "{eventId}") || it.OfOrganization(op) && it.OnRecord(op) {
				return cmp.Or(status(op), http.StatusNotFound)
			}
			return status(op)
		}
	}
	every := func(op api.Operation) int {
		if slices.Contains(op.Scopes, auth.ReadAuditLogs) || it.OfWholeOrganization(op) {
			return http.StatusForbidden // No token of a kind that can be limited has the scope.
		}
		return 0
	}
	elsewhere := s.NewEvent(t)
	member := func(event int64) int64 {
		answer := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "Guest",
			"email": uuid.NewString() + "@example.org", "role": "event_only", "event_ids": []int64{event}})
		return int64(answer["id"].(float64))
	}
	token := func(properties map[string]any) string {
		if properties["kind"] == nil {
			properties["scopes"] = stacktest.Scopes
		}
		properties["limit"] = 1_000_000
		return s.TokenWith(t, properties)
	}
	return []bearer{
		{name: "this event's", token: token(map[string]any{"event_ids": []int64{s.Event}}), status: every},
		{name: "another event's", token: token(map[string]any{"event_ids": []int64{elsewhere}}), status: hidden(every)},
		{name: "another event's legacy", token: token(map[string]any{"kind": "legacy", "event_ids": []int64{elsewhere}}), status: hidden(legacy)},
		{name: "this event's member's", token: token(map[string]any{"user_id": member(s.Event)}), status: every},
		{name: "another event's member's", token: token(map[string]any{"user_id": member(elsewhere)}), status: hidden(every)},
		{name: "a member's with an event and a token with another", status: hidden(every),
			token: token(map[string]any{"user_id": member(s.Event), "event_ids": []int64{elsewhere}})},
	}
}

// refused are the tokens that open nothing but what is public.
func refused(t *testing.T, s *stacktest.Stack) []bearer {
	t.Helper()
	other := s.NewOrganization(t)
	disabled := s.NewOrganization(t)
	disabled.Operator(t, "organization-update", map[string]any{"org_id": disabled.Org, "disabled": true})
	altered := func(change func(*auth.Text)) string {
		text, err := auth.Parse(auth.FormToken, s.Token)
		require.NoError(t, err)
		change(&text)
		return text.String()
	}
	flipped := []byte(s.Token)
	flipped[len(flipped)-1] ^= 1
	tokens := map[string]string{
		"no token":                    "",
		"no token at all":             "Bearer " + s.Token,
		"only the beginning":          s.Token[:len(s.Token)/2],
		"one letter wrong":            string(flipped),
		"too long":                    s.Token + strings.Repeat("0", 5000),
		"a wrong secret":              altered(func(x *auth.Text) { x.Secret[0] ^= 1 }),
		"an unknown token":            altered(func(x *auth.Text) { x.ID += 1_000_000 }),
		"another member":              altered(func(x *auth.Text) { x.User++ }),
		"another organization":        altered(func(x *auth.Text) { x.Org = other.Org }),
		"an unknown organization":     altered(func(x *auth.Text) { x.Org += 1_000_000 }),
		"another region":              altered(func(x *auth.Text) { x.Region = "eu" }),
		"a disabled organization's":   disabled.Token,
		"a revoked one":               revokedToken(t, s),
		"an expired one":              expiredToken(t, s),
		"an inactive owner's":         ownedBy(t, s, "member-update", map[string]any{"active": false}),
		"an owner's who has left":     ownedBy(t, s, "member-remove", nil),
		"an inactive owner's, legacy": ownedBy(t, s, "member-update", map[string]any{"active": false}, "legacy"),
	}
	var all []bearer
	for name, token := range tokens {
		all = append(all, bearer{name: name, token: token, status: func(op api.Operation) int {
			if op.Scopes.IsPublic() {
				return 0
			}
			return http.StatusUnauthorized
		}})
	}
	return all
}

func revokedToken(t *testing.T, s *stacktest.Stack) string {
	t.Helper()
	made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "Revoked", "scopes": stacktest.Scopes})
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": made["id"]})
	return made["token"].(string)
}

func expiredToken(t *testing.T, s *stacktest.Stack) string {
	t.Helper()
	at := time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)
	token := s.TokenWith(t, map[string]any{"scopes": stacktest.Scopes, "expires_at": at})
	time.Sleep(time.Second)
	return token
}

// ownedBy is the token of a member to whom then something is done.
func ownedBy(t *testing.T, s *stacktest.Stack, command string, input map[string]any, kind ...string) string {
	t.Helper()
	member := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "Owner", "email": uuid.NewString() + "@example.org"})
	properties := map[string]any{"user_id": member["id"], "scopes": stacktest.Scopes}
	if len(kind) > 0 {
		properties = map[string]any{"user_id": member["id"], "kind": kind[0]}
	}
	token := s.TokenWith(t, properties)
	change := map[string]any{"org_id": s.Org, "user_id": member["id"]}
	for name, value := range input {
		change[name] = value
	}
	s.Operator(t, command, change)
	return token
}

// The names and codes of the errors that this file expects.
var (
	refusalNames = map[int]string{401: "UnauthorizedError", 403: "ForbiddenError", 404: "NotFoundError"}
	refusalCodes = map[int]string{401: "UNAUTHORIZED", 403: "INSUFFICIENT_SCOPE", 404: "NOT_FOUND"}
)

// checkRefusal holds a refusal to the shape of gaps.md section 1.
func checkRefusal(t *testing.T, op api.Operation, answer stacktest.Answer, b bearer) {
	t.Helper()
	body := answer.JSON(t)
	require.NotEmpty(t, body["message"])
	name := refusalNames[answer.Status]
	wanted := map[string]any{"name": name, "error": name, "code": refusalCodes[answer.Status], "message": body["message"]}
	if answer.Status == http.StatusForbidden && b.reason != "" {
		wanted["reason"] = b.reason
	}
	if answer.Status == http.StatusNotFound {
		hidden := map[string]string{"contacts": "Contact not found", "webhooks": "Webhook not found"}
		if !it.OfOrganization(op) {
			hidden = nil
		}
		require.Equal(t, cmp.Or(hidden[it.CollectionOf(op)], "Event not found"), body["message"])
	}
	if it.NeedsReadScope(op) && body["details"] != nil {
		wanted["details"] = map[string]any{"field": "events[0]"}
	}
	require.Equal(t, wanted, body)
	offered := func(s auth.Scope) bool { return slices.Contains(auth.APIScopes, s) }
	lacks := b.narrow && answer.Status == http.StatusForbidden && slices.ContainsFunc(op.Scopes, offered)
	require.Equal(t, lacks, strings.Contains(challenge(answer), "insufficient_scope"), "%s %s: %s", op.Method, op.Path, challenge(answer))
	require.Equal(t, lacks || answer.Status == http.StatusUnauthorized, challenge(answer) != "")
	require.NotEmpty(t, answer.Header.Get("X-Request-Id"))
}

// challenge returns the header of a 401 under the name that API Gateway gives it, or, from an
// emulator that renames nothing, under its own.
func challenge(answer stacktest.Answer) string {
	return cmp.Or(answer.Header.Get("x-amzn-Remapped-WWW-Authenticate"), answer.Header.Get("WWW-Authenticate"))
}

// TestTheGatewayRenamesTheHeaderOfA401: a client gets the body of a 401 as the service wrote
// it, and the header under another name.
func TestTheGatewayRenamesTheHeaderOfA401(t *testing.T) {
	s := stacktest.Start(t)
	s.NeedsGateway(t, "renames no header")
	answer := s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	require.Equal(t, "UNAUTHORIZED", answer.JSON(t)["code"])
	require.Equal(t, `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource"`, answer.Header.Get("x-amzn-Remapped-WWW-Authenticate"))
	require.Empty(t, answer.Header.Get("WWW-Authenticate"))
}

// TestSignInRefusalsLookAlike: nobody learns from a 401 which tokens exist.
func TestSignInRefusalsLookAlike(t *testing.T) {
	s := stacktest.Start(t)
	missing := s.As("").Call(t, 401, "GET", "/v1/events", nil)
	first := s.As("x").Call(t, 401, "GET", "/v1/events", nil)
	require.Equal(t, missing.Body, first.Body)
	require.Equal(t, strings.Replace(challenge(missing), "Bearer ", `Bearer error="invalid_token", `, 1), challenge(first))
	for _, b := range refused(t, s) {
		answer := s.As(b.token).Call(t, 401, "GET", "/v1/events", nil)
		want := first
		if b.token == "" {
			want = missing
		}
		require.Equal(t, it.Stable(want), it.Stable(answer), b.name)
	}
	bearer := s.As("").Call(t, 401, "GET", "/v1/events", stacktest.WithHeaders(nil, "Authorization", "Bearer "+s.Token))
	require.Equal(t, it.Stable(first), it.Stable(bearer))
}

// TestOwnerInactiveAndBack: a token follows its owner, at once and without being
// made again (spec.md section 5.1).
func TestOwnerInactiveAndBack(t *testing.T) {
	s := stacktest.Start(t)
	second := s.Instance(t)
	path := s.EventPath("/sessions/create")
	for range 3 {
		for _, active := range []bool{false, true} {
			s.Operator(t, "member-update", map[string]any{"org_id": s.Org, "user_id": s.Member, "active": active})
			want := map[bool]int{true: 200, false: 401}[active]
			for _, at := range []*stacktest.Stack{s, second} {
				at.Call(t, want, "GET", "/v1/events", nil)
				at.Call(t, want, "POST", path, map[string]any{"title": "While active"})
			}
		}
	}
	require.EqualValues(t, 6, s.Call(t, 200, "POST", s.EventPath("/sessions"), nil).JSON(t)["pagination"].(map[string]any)["totalResults"])
}

// TestScopesFollowTheToken: a change of scopes, of events, of the organization
// holds from the next request on, on every instance.
func TestScopesFollowTheToken(t *testing.T) {
	s := stacktest.Start(t)
	second := s.Instance(t)
	made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "Changing", "scopes": []string{"read:events"}})
	token := made["token"].(string)
	both := func(status int, method, path string, body any) {
		t.Helper()
		for _, at := range []*stacktest.Stack{s, second} {
			at.As(token).Call(t, status, method, path, body)
		}
	}
	update := func(input map[string]any) {
		t.Helper()
		input["org_id"], input["token_id"] = s.Org, made["id"]
		s.Operator(t, "token-update", input)
	}
	create := func(status int) {
		t.Helper()
		both(status, "POST", s.EventPath("/sessions/create"), map[string]any{"title": "A title"})
	}
	create(403)
	update(map[string]any{"scopes": []string{"write:sessions"}})
	create(200)
	both(403, "GET", "/v1/events", nil)
	update(map[string]any{"event_ids": []int64{s.NewEvent(t)}})
	create(404)
	update(map[string]any{"event_ids": []int64{s.Event}})
	create(200)
	s.Operator(t, "organization-update", map[string]any{"org_id": s.Org, "disabled": true})
	create(401)
	s.Operator(t, "organization-update", map[string]any{"org_id": s.Org, "disabled": false})
	create(200)
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": made["id"]})
	create(401)
}

// TestEventsOfLimitedCallers: the list of events has those alone that both the
// token and its owner are open for.
func TestEventsOfLimitedCallers(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	second := s.NewEvent(t)
	seen := func(token string) (ids []int64) {
		for _, event := range s.As(token).Call(t, 200, "GET", "/v1/events", nil).JSON(t)["results"].([]any) {
			ids = append(ids, int64(event.(map[string]any)["id"].(float64)))
		}
		return ids
	}
	require.Equal(t, []int64{s.Event, second}, seen(s.Token))
	scopes := []string{"read:events"}
	require.Equal(t, []int64{second}, seen(s.TokenWith(t, map[string]any{"scopes": scopes, "event_ids": []int64{second}})))
	guest := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "Guest", "email": "guest@example.org",
		"role": "event_only", "event_ids": []int64{s.Event}})
	require.Equal(t, []int64{s.Event}, seen(s.TokenWith(t, map[string]any{"user_id": guest["id"], "scopes": scopes})))
	require.Empty(t, seen(s.TokenWith(t, map[string]any{"user_id": guest["id"], "scopes": scopes, "event_ids": []int64{second}})))
}
