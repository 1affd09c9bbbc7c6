package access_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// TestTokensAreShownOnce: the value stands in the answer of the creation and
// nowhere else, not even its hash.
func TestTokensAreShownOnce(t *testing.T) {
	s := stacktest.Start(t)
	made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "T", "scopes": []string{"read:events"}})
	require.Regexp(t, "^lct_us_", made["token"])
	require.NotContains(t, made, "secret_hash")
	id := map[string]any{"org_id": s.Org, "token_id": made["id"]}
	for _, answer := range []map[string]any{
		s.Operator(t, "token-list", map[string]any{"org_id": s.Org}),
		s.Operator(t, "token-update", it.Merged(id, map[string]any{"name": "U"})),
		s.Operator(t, "token-revoke", id),
	} {
		text, err := json.Marshal(answer)
		require.NoError(t, err)
		require.NotContains(t, string(text), "secret_hash")
		require.NotContains(t, string(text), "lct_us_")
	}
	require.Equal(t, "TOKEN_REVOKED", it.RequireOperatorError(t, s, "token-update", it.Merged(id, map[string]any{"name": "V"})).Code)
}

// TestKindsOfTokens: the kind follows from the scopes unless it is given, and a
// token with scopes never becomes a legacy one, which may read more.
func TestKindsOfTokens(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	create := func(more map[string]any) map[string]any {
		t.Helper()
		return s.Operator(t, "token-create", it.Merged(map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "T"}, more))
	}
	api := create(map[string]any{"scopes": []string{"read:events"}})
	legacy := create(map[string]any{"scopes": []string{}})
	logs := create(map[string]any{"scopes": []string{"read:audit_logs"}})
	require.Equal(t, []any{"api", "legacy", "log_export"}, []any{api["kind"], legacy["kind"], logs["kind"]})
	require.Equal(t, "log_export", create(map[string]any{"kind": "log_export"})["kind"])

	update := func(token map[string]any, scopes ...string) map[string]any {
		return map[string]any{"org_id": s.Org, "token_id": token["id"], "scopes": append([]string{}, scopes...)}
	}
	require.Equal(t, "scopes", it.RequireOperatorError(t, s, "token-update", update(api)).Details["field"])
	require.Equal(t, "scopes", it.RequireOperatorError(t, s, "token-update", update(api, "read:audit_logs")).Details["field"])
	require.Equal(t, "scopes", it.RequireOperatorError(t, s, "token-update", update(logs, "read:events")).Details["field"])
	require.Equal(t, "api", s.Operator(t, "token-update", update(legacy, "read:events"))["kind"])

	plain := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "M", "email": "m@example.org"})
	refused := it.RequireOperatorError(t, s, "token-create", map[string]any{"org_id": s.Org, "user_id": plain["id"], "name": "T", "kind": "log_export"})
	require.Equal(t, "user_id", refused.Details["field"])
}

// TestEventsAreChangedInPart: what is not sent stays, a list that is sent
// replaces, and what stays the same in it keeps its id.
func TestEventsAreChangedInPart(t *testing.T) {
	s := stacktest.Start(t, stacktest.Features("sessions_2_0"))
	update := func(more map[string]any) map[string]any {
		t.Helper()
		return s.Operator(t, "event-update", it.Merged(map[string]any{"org_id": s.Org, "event_id": s.Event}, more))
	}
	first := update(map[string]any{
		"custom_fields":        []any{custom("A", "text", "x"), custom("B", "number", 1)},
		"integration_mappings": []any{map[string]any{"source": "crm", "external_id": "4"}},
	})
	second := update(map[string]any{
		"features":             map[string]any{"content_slots": true},
		"custom_fields":        []any{custom("C", "checkbox", true), custom("A", "text", "y")},
		"integration_mappings": []any{map[string]any{"source": "crm", "external_id": "4", "external_name": "Conf"}},
	})
	require.Equal(t, first["name"], second["name"])
	require.Equal(t, true, second["features"].(map[string]any)["sessions_2_0"])
	require.Equal(t, true, second["features"].(map[string]any)["content_slots"])
	part := func(event map[string]any, list string, i int) map[string]any {
		return event[list].([]any)[i].(map[string]any)
	}
	require.Equal(t, part(first, "custom_fields", 0)["id"], part(second, "custom_fields", 1)["id"])
	require.Equal(t, part(first, "custom_fields", 0)["created_at"], part(second, "custom_fields", 1)["created_at"])
	require.Equal(t, "y", part(second, "custom_fields", 1)["value"])
	require.Equal(t, part(first, "integration_mappings", 0)["id"], part(second, "integration_mappings", 0)["id"])
	require.Equal(t, second, s.Operator(t, "event-show", map[string]any{"org_id": s.Org, "event_id": s.Event}))
	require.NotContains(t, update(map[string]any{"custom_fields": []any{}}), "custom_fields")
}

// TestMembersLeaveAndComeBack: a removed member is not changed until restored.
func TestMembersLeaveAndComeBack(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	made := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "M", "email": "m@example.org"})
	id := map[string]any{"org_id": s.Org, "user_id": made["id"]}
	require.NotContains(t, made, "removed_at")
	require.Contains(t, s.Operator(t, "member-remove", id), "removed_at")
	require.Equal(t, "Member not found", it.RequireOperatorError(t, s, "member-update", it.Merged(id, map[string]any{"active": true})).Message)
	require.Equal(t, "Member not found", it.RequireOperatorError(t, s, "member-remove", id).Message)
	require.Len(t, s.Operator(t, "member-list", map[string]any{"org_id": s.Org})["results"], 2)

	require.NotContains(t, s.Operator(t, "member-restore", id), "removed_at")
	require.Equal(t, "Removed member not found", it.RequireOperatorError(t, s, "member-restore", id).Message)
	require.Equal(t, "N", s.Operator(t, "member-update", it.Merged(id, map[string]any{"name": "N"}))["name"])
	me := map[string]any{"org_id": s.Org, "user_id": s.Member}
	for _, step := range []struct {
		command string
		status  int
	}{{"member-remove", 401}, {"member-restore", 200}} {
		s.Operator(t, step.command, me)
		s.Call(t, step.status, "GET", "/v1/events", nil)
	}
}

// TestConnectorFieldsAreReadOnly: the API shows them and refuses to write them.
func TestConnectorFieldsAreReadOnly(t *testing.T) {
	s := stacktest.Start(t)
	field := s.Operator(t, "connector-field-create", map[string]any{
		"org_id": s.Org, "event_id": s.Event, "name": "CRM id", "type": "text", "module_id": "session", "source": "crm_suite"})
	require.Equal(t, "crm_suite", field["field_source"])
	refused := s.Call(t, 400, "POST", s.EventPath("/sessions/create"), map[string]any{"title": "A", "custom_fields": map[string]any{"crm_id": "4"}}).JSON(t)
	require.Equal(t, "FIELD_READ_ONLY", refused["code"])
	require.Equal(t, map[string]any{"field": "crm_id"}, refused["details"])
	require.Empty(t, s.Call(t, 200, "POST", s.EventPath("/sessions"), map[string]any{}).JSON(t)["results"])
}

// TestConnectorFieldsAreTheOperators: theirs alone, also to change and delete.
func TestConnectorFieldsAreTheOperators(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	event := map[string]any{"org_id": s.Org, "event_id": s.Event}
	owned := s.Operator(t, "connector-field-create", it.Merged(event, map[string]any{
		"name": "CRM stage", "type": "dropdown", "options": []string{"A"}, "module_id": "session", "source": "crm"}))
	id := it.Merged(event, map[string]any{"field_id": owned["id"]})
	changed := s.Operator(t, "connector-field-update", it.Merged(id, map[string]any{"name": "Stage", "options": []string{"A", "B"}}))
	require.Equal(t, "Stage", changed["public_name"])
	require.Equal(t, []any{"A", "B"}, changed["options"])
	require.Equal(t, "crm_stage", changed["internal_name"])
	require.Equal(t, "name", it.RequireOperatorError(t, s, "connector-field-update", it.Merged(id, map[string]any{"name": " "})).Details["field"])

	custom := s.Call(t, 200, "POST", s.EventPath("/fields/create"), map[string]any{"name": "Note", "type": "text", "module_id": "session"}).JSON(t)
	other := it.Merged(event, map[string]any{"field_id": custom["id"]})
	for _, command := range []string{"connector-field-update", "connector-field-delete"} {
		require.Equal(t, "Connector field not found", it.RequireOperatorError(t, s, command, other).Message)
	}
	require.Equal(t, map[string]any{"id": owned["id"]}, s.Operator(t, "connector-field-delete", id))
	require.Equal(t, "Field not found", it.RequireOperatorError(t, s, "connector-field-delete", id).Message)
}

// TestAnInvocationAnswersRefusals: with what a program goes by, not as a fault.
func TestAnInvocationAnswersRefusals(t *testing.T) {
	s := stacktest.Start(t)
	service := operator.New(s.Env(t))
	answer, err := service.Invoke(t.Context(), []byte(`{"command":"organization-create","input":{"name":7}}`))
	require.NoError(t, err)
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	require.JSONEq(t, `{"status":400,"error":{"name":"ValidationError","error":"ValidationError","code":"VALIDATION_ERROR",
		"message":"name must be a string.","details":{"field":"name"}}}`, string(text))
	answer, err = service.Invoke(t.Context(), []byte(`{"command":"organization-create","input":{"name":"Harbour"}}`))
	require.NoError(t, err)
	require.IsType(t, &tenancy.Organization{}, answer)
	for payload, named := range map[string][2]string{
		`[]`:                                {"", "command"},
		`{"command":1,"input":{}}`:          {"", "command"},
		`{"command":"organization-create"}`: {"organization-create", "input"},
		`{"command":"organization-create","Input":{"name":"A"}}`:                      {"organization-create", "input"},
		`{"command":"organization-create","input":{"name":"A"},"input":{"name":"B"}}`: {"organization-create", "input"},
		`{"command":"organization-create","input":{"name":"A"},"extra":1}`:            {"organization-create", "extra"},
		`{"command":"organization-create","input":[]}`:                                {"organization-create", ""},
		`{"command":"organization-create","input":{"name":"A","name":"B"}}`:           {"organization-create", "name"},
	} {
		log, env := &stacktest.Log{}, s.Env(t)
		env.Log = slog.New(slog.NewJSONHandler(log, nil))
		answer, err = operator.New(env).Invoke(t.Context(), []byte(payload))
		require.NoError(t, err, payload)
		refused := answer.(operator.Refusal)
		require.Equal(t, http.StatusBadRequest, refused.Status, payload)
		if named[1] != "" {
			require.Equal(t, named[1], refused.Error.Details["field"], payload)
		}
		require.Contains(t, log.String(), `"msg":"command refused","command":"`+named[0]+`"`, payload)
	}
}

// TestACommandThatFailsTellsWhyInTheLogAlone: to who invoked it, it is busy or failed.
func TestACommandThatFailsTellsWhyInTheLogAlone(t *testing.T) {
	secret := errors.New("secret cause")
	busy := `"status":503,"error":{"name":"ServiceUnavailableError"`
	for cause, answered := range map[error]string{secret: "null", fmt.Errorf("%w: %w", secret, table.ErrBusy): busy} {
		client, log := &it.Failing{Cause: cause}, &stacktest.Log{}
		s := stacktest.Start(t, stacktest.WithLog(log), stacktest.WithClient(func(c table.Client) table.Client { client.Client = c; return client }))
		client.On.Store(true)
		answer, err := operator.New(s.Env(t)).Invoke(t.Context(),
			fmt.Appendf(nil, `{"command":"event-update","input":{"org_id":%d,"event_id":%d,"name":"Harbour"}}`, s.Org, s.Event))
		if answered == "null" {
			require.ErrorIs(t, err, operator.ErrFailed)
			require.NotContains(t, err.Error(), "secret")
		}
		text, err := json.Marshal(answer)
		require.NoError(t, err)
		require.Contains(t, string(text), answered)
		require.NotContains(t, string(text), "secret")
		require.Regexp(t, `"level":"ERROR","msg":"command failed","command":"event-update",.*secret cause`, log.String())
	}
}

// TestACommandThatPanicsFails, and its stack is in the log alone.
func TestACommandThatPanicsFails(t *testing.T) {
	log := &stacktest.Log{}
	env := stacktest.Start(t, stacktest.WithLog(log)).Env(t)
	env.Table = nil
	_, err := operator.New(env).Invoke(t.Context(), []byte(`{"command":"organization-create","input":{"name":"Harbour"}}`))
	require.Equal(t, operator.ErrFailed, err)
	require.Regexp(t, `"msg":"command failed","command":"organization-create",.*panic: .*goroutine`, log.String())
}

// TestVersionsThatDisagreeAreInTheOperatorsLog, where infra's alarm looks for them.
func TestVersionsThatDisagreeAreInTheOperatorsLog(t *testing.T) {
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.WithLog(log))
	at := table.Key{PK: table.Event(s.Org, s.Event), SK: "-"}
	require.NoError(t, s.Env(t).Table.Transact(t.Context(), table.BumpSettings(at, 7)))
	refused := it.RequireOperatorError(t, s, "participant-role-list", map[string]any{"org_id": s.Org, "event_id": s.Event})
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Regexp(t, `"level":"ERROR","msg":"command failed","command":"participant-role-list",.*disagrees with version 7`, log.String())
}

// TestParticipantRoles: custom ones need the Sessions 2.0 feature, stand behind
// the built-in ones and go again; the built-in ones stay.
func TestParticipantRoles(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	event := map[string]any{"org_id": s.Org, "event_id": s.Event}
	host := it.Merged(event, map[string]any{"name": "Host", "core_role": "moderator"})
	require.Equal(t, 403, it.RequireOperatorError(t, s, "participant-role-create", host).Status)
	s.Operator(t, "event-update", it.Merged(event, map[string]any{"features": map[string]any{"sessions_2_0": true}}))
	role := s.Operator(t, "participant-role-create", host)
	require.Equal(t, "host", role["slug"])
	require.Equal(t, "DUPLICATE_SLUG", it.RequireOperatorError(t, s, "participant-role-create", host).Code)
	require.Equal(t, "core_role", it.RequireOperatorError(t, s, "participant-role-create", it.Merged(host, map[string]any{"core_role": "host"})).Details["field"])

	slugs := func() (all []any) {
		for _, r := range s.Operator(t, "participant-role-list", event)["results"].([]any) {
			all = append(all, r.(map[string]any)["slug"])
		}
		return all
	}
	require.Equal(t, []any{"speaker", "chairperson", "moderator", "host"}, slugs())
	builtIn := s.Operator(t, "participant-role-list", event)["results"].([]any)[0].(map[string]any)["id"]
	require.Equal(t, 409, it.RequireOperatorError(t, s, "participant-role-delete", it.Merged(event, map[string]any{"role_id": builtIn})).Status)
	s.Operator(t, "participant-role-delete", it.Merged(event, map[string]any{"role_id": role["id"]}))
	require.Equal(t, []any{"speaker", "chairperson", "moderator"}, slugs())
}
