package settings_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/settings/item"
)

// TestADeletedSettingKeepsNoContent deletes a setting of each kind and looks at
// what is stored of it: a status alone keeps what restoring it needs.
func TestADeletedSettingKeepsNoContent(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0")
	place := item.Place{Org: d.Org, Event: d.Event}
	options := make([]string, 250)
	for i := range options {
		options[i] = strings.Repeat("o", 250) + fmt.Sprint(i)
	}
	large := d.DefineField(200, object{"name": "Large", "type": "dropdown", "module_id": "session", "options": options})
	tag, status := d.NewEntry("tags", strings.Repeat("t", 200)), d.NewEntry("statuses", "Waiting")
	stored := func(kind, id string) string {
		t.Helper()
		found, err := d.Table(t).Get(t.Context(), place.Key(kind, id))
		require.NoError(t, err)
		require.Equal(t, int64(2), found.Version)
		return string(found.Data)
	}
	d.Do(200, http.MethodDelete, "/fields/"+large.ID(), nil)
	d.DeleteRecord("tags", tag.ID())
	d.DeleteRecord("statuses", status.ID())
	it.RequireSettingsVersion(t, d.Stack)
	for kind, id := range map[string]string{"field": large.ID(), "tags": tag.ID()} {
		require.Regexp(t, `^\{"id":"`+id+`","deleted_at":"[^"]{20,30}"\}$`, stored(kind, id))
	}
	require.Contains(t, stored("statuses", status.ID()), "Waiting")

	for _, path := range []string{"/fields/" + large.ID(), "/tags/" + tag.ID(), "/statuses/" + status.ID()} {
		d.Do(404, http.MethodPut, path, object{"name": "Again"})
		d.Do(404, http.MethodDelete, path, nil)
	}
	d.DefineField(200, object{"name": "Large", "type": "text", "module_id": "session"}) // The name is free.
	require.Equal(t, "Waiting", d.Do(200, http.MethodPost, "/statuses/"+status.ID()+"/restore", nil)["name"])
	it.RequireSettingsVersion(t, d.Stack)
}

// TestADeletedRoleKeepsItsCoreRole: of a deleted role are left its id and its core role, by
// which those who have it are shown.
func TestADeletedRoleKeepsItsCoreRole(t *testing.T) {
	d := it.NewClient(t, "sessions_2_0", "participant_roles")
	in := map[string]any{"org_id": d.Org, "event_id": d.Event}
	role := d.Operator(t, "participant-role-create", it.Merged(in, object{"name": "Host", "core_role": "moderator"}))
	id := role["id"].(string)
	d.Operator(t, "participant-role-delete", it.Merged(in, object{"role_id": id}))
	found, err := d.Table(t).Get(t.Context(), item.Place{Org: d.Org, Event: d.Event}.Key("participant_role", id))
	require.NoError(t, err)
	require.Regexp(t, `^\{"id":"`+id+`","deleted_at":"[^"]{20,30}","core_role":"moderator"\}$`, string(found.Data))
	d.Operator(t, "participant-role-create", it.Merged(in, object{"name": "Host", "core_role": "speaker"}))
}
