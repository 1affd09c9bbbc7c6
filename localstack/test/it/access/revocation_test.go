package access_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// revocation is an operator command that changes what a token may, and the one that
// takes it back.
type revocation struct {
	name, command string
	change        map[string]any
	status        int
	back          string // command unless it is another; empty inputs are for good
	undo          map[string]any
}

// revocations are the changes after which a token that could read the rooms cannot, by
// what they are done to. elsewhere is another event.
func revocations(s *stacktest.Stack, member, token any, elsewhere int64) []revocation {
	org := map[string]any{"org_id": s.Org}
	ofMember := func(input map[string]any) map[string]any {
		return it.Merged(it.Merged(org, map[string]any{"user_id": member}), input)
	}
	ofToken := func(input map[string]any) map[string]any {
		return it.Merged(it.Merged(org, map[string]any{"token_id": token}), input)
	}
	return []revocation{
		{"member inactive", "member-update", ofMember(object{"active": false}), 401, "", ofMember(object{"active": true})},
		{"member removed", "member-remove", ofMember(nil), 401, "member-restore", ofMember(nil)},
		{"member of another event", "member-update", ofMember(object{"role": "event_only", "event_ids": []int64{elsewhere}}), 404,
			"", ofMember(object{"role": "member", "event_ids": []int64{}})},
		{"organization disabled", "organization-update", it.Merged(org, object{"disabled": true}), 401, "", it.Merged(org, object{"disabled": false})},
		{"other scopes", "token-update", ofToken(object{"scopes": []string{"read:contacts"}}), 403,
			"", ofToken(object{"scopes": stacktest.Scopes})},
		{"another event", "token-update", ofToken(object{"event_ids": []int64{elsewhere}}), 404, "", ofToken(object{"event_ids": nil})},
		{"used up", "token-update", ofToken(object{"limit": 1}), 429, "", ofToken(object{"limit": 1_000_000})},
		{"revoked", "token-revoke", ofToken(nil), 401, "", nil},
	}
}

// TestRevocationMatrix: after an operator's command is answered, no instance serves what
// it forbids, however lately it served the token; and what is allowed again is served.
func TestRevocationMatrix(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	instances := []*stacktest.Stack{s, s.Instance(t), s.Instance(t)}
	elsewhere := s.NewEvent(t)
	owner := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "Owner", "email": "owner@example.org"})
	made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": owner["id"], "name": "Matrix",
		"scopes": stacktest.Scopes, "limit": 1_000_000})
	both := func(status int, why string) {
		t.Helper()
		for range 2 { // also from what the first one has left in memory
			for _, at := range instances {
				answer, err := at.As(made["token"].(string)).Send(t, "GET", s.EventPath("/rooms"), nil)
				require.NoError(t, err)
				require.Equal(t, status, answer.Status, "%s: %s", why, answer.Body)
			}
		}
	}
	both(200, "at first")
	for _, c := range revocations(s, owner["id"], made["id"], elsewhere) {
		for range 3 {
			s.Operator(t, c.command, c.change)
			both(c.status, c.name)
			if c.undo == nil {
				continue
			}
			back := c.back
			if back == "" {
				back = c.command
			}
			s.Operator(t, back, c.undo)
			both(200, "after "+c.name)
		}
	}
}

// TestExpiryMatrix: the end of a token's time holds on every instance, and may be moved.
func TestExpiryMatrix(t *testing.T) {
	s := stacktest.Start(t)
	instances := []*stacktest.Stack{s, s.Instance(t)}
	made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "E", "scopes": stacktest.Scopes})
	all := func(status int) {
		t.Helper()
		for _, at := range instances {
			at.As(made["token"].(string)).Call(t, status, "GET", "/v1/events", nil)
		}
	}
	until := func(at any) {
		s.Operator(t, "token-update", map[string]any{"org_id": s.Org, "token_id": made["id"], "expires_at": at})
	}
	all(200)
	end := time.Now().Add(1500 * time.Millisecond)
	until(end.UTC().Format(time.RFC3339Nano))
	all(200)
	time.Sleep(time.Until(end))
	all(401)
	until(nil)
	all(200)
}

// TestFeaturesOfTheEventHoldAtOnce: the event is read by each request.
func TestFeaturesOfTheEventHoldAtOnce(t *testing.T) {
	s := stacktest.Start(t)
	instances := []*stacktest.Stack{s, s.Instance(t)}
	for round := range 4 {
		on := round%2 == 1
		s.Operator(t, "event-update", map[string]any{"org_id": s.Org, "event_id": s.Event, "features": map[string]any{"sessions_2_0": on}})
		for _, at := range instances {
			want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[on]
			at.Call(t, want, "POST", s.EventPath("/sessions/create"), map[string]any{"title": uuid.NewString(), "is_abstract": true})
		}
	}
}
