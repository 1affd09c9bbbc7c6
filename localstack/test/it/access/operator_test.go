package access_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/change"
)

// TestEveryCommandIsStrict: without its required keys, or with one it does not
// know, a command is refused and says which.
func TestEveryCommandIsStrict(t *testing.T) {
	s := stacktest.Start(t)
	for _, c := range operator.Commands() {
		require.NotEmpty(t, c.Summary, c.Name)
		full := map[string]any{}
		for _, key := range strings.Fields(c.Input) {
			if name, needed := strings.CutSuffix(key, "*"); needed {
				full[name] = requiredInputs[name]
			}
		}
		require.True(t, len(full) > 0 || slices.Contains([]string{"organization-list", "application-list", operator.Maintain}, c.Name), c.Name)
		for name := range full {
			without := maps.Clone(full)
			delete(without, name)
			require.Equal(t, name, it.RequireOperatorError(t, s, c.Name, without).Details["field"], c.Name)
			require.Equal(t, name, it.RequireOperatorError(t, s, c.Name, it.Merged(full, map[string]any{name: nil})).Details["field"], c.Name)
		}
		require.Equal(t, "surprise", it.RequireOperatorError(t, s, c.Name, it.Merged(full, map[string]any{"surprise": 1})).Details["field"], c.Name)
	}
	require.Equal(t, "command", it.RequireOperatorError(t, s, "organization-destroy", map[string]any{}).Details["field"])
}

// TestAnInputOfACommandIsJSON: what is cut off is refused as such.
func TestAnInputOfACommandIsJSON(t *testing.T) {
	s := stacktest.Start(t)
	_, err := operator.New(s.Env(t)).Do(t.Context(), "organization-show", json.RawMessage(`{"org_id":`))
	require.ErrorContains(t, err, "JSON")
}

// requiredInputs has a value of the right kind for every required key.
var requiredInputs = map[string]any{
	"org_id": 1, "event_id": 1, "user_id": 1, "token_id": 1, "name": "N", "email": "n@example.org",
	"starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-11T15:00:00Z", "role_id": it.UnknownID, "field_id": it.UnknownID,
	"session_id": it.UnknownID, "target_id": it.UnknownID, "source_id": it.UnknownID, "slot_id": it.UnknownID,
	"relationship_type": "merged_session",
	"program_id":        it.UnknownID, "submission_id": it.UnknownID, "round_id": it.UnknownID, "review_id": it.UnknownID, "id": it.UnknownID,
	"reviewer": map[string]any{"name": "N", "email": "n@example.org"}, "scores": []any{}, "reason": "Ill", "outcome": "rejected", "kind": "review",
	"client_name": "N", "redirect_uris": []string{"https://app.example"}, "client_id": it.UnknownID, "provider_id": 1,
	"who": "Ada", "why": "Ill", "type": "text", "module_id": "session", "source": "crm", "since": "2026-11-24T00:00:00Z", "queue": "webhooks",
	"erasures": []any{map[string]any{"request": it.UnknownID, "identity": "0f", "contacts": []any{}, "completed_at": "2026-11-24T00:00:00Z"}},
}

// TestWhatTheOperatorIsRefused: each wrong input with the field it names, and
// nothing written.
func TestWhatTheOperatorIsRefused(t *testing.T) {
	s := stacktest.Start(t)
	other := s.NewOrganization(t)
	org := map[string]any{"org_id": s.Org}
	member := it.Merged(org, map[string]any{"name": "Ada", "email": "ada@example.org"})
	event := it.Merged(org, map[string]any{"name": "Conf", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-11T15:00:00Z"})
	token := it.Merged(org, map[string]any{"user_id": s.Member, "name": "T", "scopes": []string{"read:events"}})
	field := it.Merged(org, map[string]any{"event_id": s.Event, "name": "CRM", "type": "text", "module_id": "session", "source": "crm"})
	before := storedState(t, s)
	for _, c := range []struct {
		command string
		base    map[string]any
		key     string
		value   any
		field   string // key unless it is another
	}{
		{"organization-create", nil, "name", "", ""},
		{"organization-create", nil, "name", 7, ""},
		{"organization-update", org, "disabled", "yes", ""},
		{"organization-update", org, "name", nil, ""},
		{"member-create", member, "email", "ada", ""},
		{"member-create", member, "role", "owner", ""},
		{"member-create", member, "event_ids", []int64{s.Event}, ""},
		{"member-create", it.Merged(member, map[string]any{"role": "event_only"}), "event_ids", []int64{s.Event, other.Event}, "event_ids[1]"},
		{"event-create", event, "timezone", "Berlin", ""},
		{"event-create", event, "timezone", "Local", ""},
		{"event-create", event, "starts_at", "2027-05-11", ""},
		{"event-create", event, "ends_at", "2027-05-10T15:00:00Z", ""},
		{"event-create", event, "default_language", "", ""},
		{"event-create", event, "features", map[string]any{"sessions_3_0": true}, "features.sessions_3_0"},
		{"event-create", event, "features", map[string]any{"sessions_2_0": "on"}, "features.sessions_2_0"},
		{"event-create", event, "custom_fields", []any{custom("A", "text", 7)}, "custom_fields[0].value"},
		{"event-create", event, "custom_fields", []any{custom("A", "text", nil)}, "custom_fields[0].value"},
		{"event-create", event, "custom_fields", []any{custom("A", "colour", "red")}, "custom_fields[0].type"},
		{"event-create", event, "custom_fields", []any{custom("A", "text", "x"), custom("a", "text", "y")}, "custom_fields[1].name"},
		{"event-create", event, "custom_fields", []any{custom("A", "datetime", "2027-05-11T10:00")}, "custom_fields[0].value"},
		{"event-create", event, "integration_mappings", []any{map[string]any{"source": "crm"}}, "integration_mappings[0].external_id"},
		{"event-create", event, "integration_mappings", []any{map[string]any{"external_id": "4"}}, "integration_mappings[0].source"},
		{"token-create", token, "scopes", []string{"read:everything"}, "scopes[0]"},
		{"token-create", token, "scopes", []string{"read:events", "read:events"}, "scopes[1]"},
		{"token-create", token, "scopes", []string{"read:events", "read:audit_logs"}, "scopes"},
		{"token-create", token, "kind", "legacy", "scopes"},
		{"token-create", token, "kind", "root", ""},
		{"token-create", token, "event_ids", []int64{}, ""},
		{"token-create", token, "event_ids", []int64{other.Event}, "event_ids[0]"},
		{"token-create", token, "limit", 0, ""},
		{"token-create", token, "limit", 2_000_000_000, ""},
		{"token-create", token, "expires_at", "2020-01-01T00:00:00Z", ""},
		{"token-create", token, "user_id", other.Member, ""},
		{"connector-field-create", field, "source", "custom", ""},
		{"connector-field-create", field, "source", "C R M", ""},
		{"connector-field-create", field, "type", "colour", ""},
		{"connector-field-create", field, "options", []string{"a"}, ""},
	} {
		want := c.field
		if want == "" {
			want = c.key
		}
		refused := it.RequireOperatorError(t, s, c.command, it.Merged(c.base, map[string]any{c.key: c.value}))
		require.Equal(t, 400, refused.Status, "%s %s=%v: %s", c.command, c.key, c.value, refused.Message)
		require.Equal(t, want, refused.Details["field"], "%s %s=%v: %s", c.command, c.key, c.value, refused.Message)
	}
	require.Equal(t, before, storedState(t, s))
}

func custom(name, kind string, value any) map[string]any {
	return map[string]any{"name": name, "type": kind, "value": value}
}

// storedState is what the operator's lists and the change records hold.
func storedState(t *testing.T, s *stacktest.Stack) []string {
	t.Helper()
	var all []string
	for _, command := range []string{"organization-show", "member-list", "event-list", "token-list"} {
		text, err := json.Marshal(s.Operator(t, command, map[string]any{"org_id": s.Org}))
		require.NoError(t, err)
		all = append(all, string(text))
	}
	for _, r := range it.ChangesOf(t, s) {
		all = append(all, r.ID)
	}
	return all
}

// TestUnknownRecordsOfTheOperator: what does not exist, or in another tenant, is
// a 404 that names its kind.
func TestUnknownRecordsOfTheOperator(t *testing.T) {
	s := stacktest.Start(t)
	other := s.NewOrganization(t)
	event := map[string]any{"org_id": s.Org, "event_id": s.Event}
	for _, c := range []struct {
		command string
		input   map[string]any
		want    string
	}{
		{"organization-show", map[string]any{"org_id": 4711}, "Organization not found"},
		{"member-list", map[string]any{"org_id": 4711}, "Organization not found"},
		{"event-create", map[string]any{"org_id": 4711, "name": "N", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-11T15:00:00Z"}, "Organization not found"},
		{"member-update", map[string]any{"org_id": s.Org, "user_id": other.Member, "name": "X"}, "Member not found"},
		{"event-show", map[string]any{"org_id": s.Org, "event_id": other.Event}, "Event not found"},
		{"token-revoke", map[string]any{"org_id": s.Org, "token_id": 4711}, "Token not found"},
		{"participant-role-delete", it.Merged(event, map[string]any{"role_id": it.UnknownID}), "Participant role not found"},
		{"session-duplicate", it.Merged(event, map[string]any{"session_id": it.UnknownID}), "Session not found"},
		{"session-duplicate", map[string]any{"org_id": s.Org, "event_id": other.Event, "session_id": it.UnknownID}, "Event not found"},
	} {
		refused := it.RequireOperatorError(t, s, c.command, c.input)
		require.Equal(t, 404, refused.Status)
		require.Equal(t, c.want, refused.Message, c.command)
	}
}

// TestOperatorWritesAreChanges: every write leaves a change record by the
// operator, and none of them a secret.
func TestOperatorWritesAreChanges(t *testing.T) {
	s := stacktest.Start(t, stacktest.Features("sessions_2_0"))
	session := s.Call(t, 200, "POST", s.EventPath("/sessions/create"), map[string]any{"title": "A"}).JSON(t)["id"]
	event := map[string]any{"org_id": s.Org, "event_id": s.Event}
	before := len(it.ChangesOf(t, s))

	s.Operator(t, "organization-update", map[string]any{"org_id": s.Org, "name": "Renamed"})
	s.Operator(t, "member-update", map[string]any{"org_id": s.Org, "user_id": s.Member, "ai_access": true})
	s.Operator(t, "event-update", it.Merged(event, map[string]any{"features": map[string]bool{"content_slots": true}}))
	token := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "T", "kind": "legacy"})
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": token["id"]})
	role := s.Operator(t, "participant-role-create", it.Merged(event, map[string]any{"name": "Host", "core_role": "moderator"}))
	s.Operator(t, "participant-role-update", it.Merged(event, map[string]any{"role_id": role["id"], "name": "Hostess"}))
	s.Operator(t, "participant-role-delete", it.Merged(event, map[string]any{"role_id": role["id"]}))
	s.Operator(t, "connector-field-create", it.Merged(event, map[string]any{"name": "CRM", "type": "text", "module_id": "session", "source": "crm"}))
	s.Operator(t, "session-withdraw", it.Merged(event, map[string]any{"session_id": session, "who": "Ada", "why": "Ill"}))
	s.Operator(t, "session-duplicate", it.Merged(event, map[string]any{"session_id": session}))

	var actions []string
	for _, r := range it.ChangesOf(t, s)[before:] {
		require.Equal(t, change.Actor{Type: change.ActorOperator}, r.Actor, r.Action)
		require.Equal(t, change.SourceAdmin, r.Source)
		require.NoError(t, uuid.Validate(r.RequestID))
		text, err := json.Marshal(r)
		require.NoError(t, err)
		require.NotContains(t, string(text), "secret")
		actions = append(actions, r.Action)
	}
	require.Equal(t, []string{
		"organization.updated", "member.updated", "event.updated", "token.created", "token.updated",
		"participant_role.created", "participant_role.updated", "participant_role.deleted", "field.created",
		"session.withdrawn", "session.duplicated",
	}, actions)
}
