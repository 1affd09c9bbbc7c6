package access_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// TestEveryChangeOfWhoMayCallIsCounted does each command on organizations, members, events
// and tokens: one that writes such a record raises the organization's auth version in the
// same transaction, and no other raises it.
func TestEveryChangeOfWhoMayCallIsCounted(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil)
	owner := s.Operator(t, "member-create", map[string]any{"org_id": s.Org, "name": "Owner", "email": "owner@example.org"})
	token := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": owner["id"], "name": "T", "kind": "legacy"})
	s.Event = s.NewEvent(t, "sessions_2_0")
	role := s.Operator(t, "participant-role-create", map[string]any{"org_id": s.Org, "event_id": s.Event, "name": "Guide", "core_role": "speaker"})
	input := func(more object) map[string]any {
		return it.Merged(object{"org_id": s.Org}, more)
	}
	done := []string{"organization-create"}
	for _, c := range []struct {
		command string
		input   map[string]any
	}{
		{"organization-update", input(object{"name": "Another"})},
		{"organization-show", input(nil)},
		{"organization-list", object{}},
		{"member-create", input(object{"name": "Bo", "email": "bo@example.org"})},
		{"member-update", input(object{"user_id": owner["id"], "name": "Ada"})},
		{"member-remove", input(object{"user_id": owner["id"]})},
		{"member-restore", input(object{"user_id": owner["id"]})},
		{"member-list", input(nil)},
		{"event-create", input(object{"name": "Conf", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-11T15:00:00Z"})},
		{"event-update", input(object{"event_id": s.Event, "name": "Conf 2"})},
		{"event-show", input(object{"event_id": s.Event})},
		{"event-list", input(nil)},
		{"token-create", input(object{"user_id": owner["id"], "name": "U", "kind": "legacy"})},
		{"token-update", input(object{"token_id": token["id"], "name": "V"})},
		{"token-revoke", input(object{"token_id": token["id"]})},
		{"token-list", input(nil)},
		{"participant-role-update", input(object{"event_id": s.Event, "role_id": role["id"], "name": "Host"})},
		{"connector-field-create", input(object{"event_id": s.Event, "name": "C", "type": "text", "module_id": "contact", "source": "crm", "scope": "global"})},
	} {
		before := engine.Dump(t).Below(table.Org(s.Org))
		s.Operator(t, c.command, c.input)
		after := engine.Dump(t).Below(table.Org(s.Org))
		want, own := before[ownKey(s)].Auth, false
		for key, item := range after {
			if callsFor(s, key) && item.Version != before[key].Version {
				own = true
			}
		}
		if own {
			want++
		}
		require.Equal(t, want, after[ownKey(s)].Auth, c.command)
		writes := !strings.HasSuffix(c.command, "-show") && !strings.HasSuffix(c.command, "-list") && !strings.Contains(c.command, "-role-") && !strings.Contains(c.command, "-field-")
		require.Equal(t, writes, own, c.command)
		done = append(done, c.command)
	}
	for _, c := range operator.Commands() {
		if family, _, _ := strings.Cut(c.Name, "-"); slices.Contains([]string{"organization", "member", "event", "token"}, family) {
			require.Contains(t, done, c.Name, "say whether it changes who may call")
		}
	}
}

func ownKey(s *stacktest.Stack) table.Key { return table.Key{PK: table.Org(s.Org), SK: "-"} }

// callsFor reports whether authentication reads the item: the organization, an event, a
// member or a token.
func callsFor(s *stacktest.Stack, key table.Key) bool {
	below := strings.Split(strings.TrimPrefix(key.PK, table.Org(s.Org)), "#")
	return key.SK == "-" && (len(below) == 1 || len(below) == 3 && slices.Contains([]string{"E", "U", "T"}, below[1]))
}

// TestOrganizationsAreListed: by id, in pages.
func TestOrganizationsAreListed(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	ids := []int64{s.Org}
	for range 6 {
		ids = append(ids, s.NewOrganization(t).Org)
	}
	var listed []int64
	pages := 0
	for after := any(ids[0] - 1); after != nil; pages++ {
		page := s.Operator(t, "organization-list", map[string]any{"after": after, "limit": 3})
		for _, o := range page["results"].([]any) {
			if id := int64(o.(map[string]any)["id"].(float64)); slices.Contains(ids, id) {
				listed = append(listed, id)
			}
		}
		after = page["next"]
	}
	require.Equal(t, ids, listed)
	require.GreaterOrEqual(t, pages, 3)
	require.Equal(t, "limit", it.RequireOperatorError(t, s, "organization-list", map[string]any{"limit": 1001}).Details["field"])
}
