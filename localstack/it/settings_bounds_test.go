package it_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/settings/item"
)

// TestADeletedSettingKeepsNoContent deletes a setting of each kind and looks at
// what is stored of it: a status alone keeps what restoring it needs.
func TestADeletedSettingKeepsNoContent(t *testing.T) {
	d := newDesk(t, "sessions_2_0")
	place := item.Place{Org: d.Org, Event: d.Event}
	options := make([]string, 250)
	for i := range options {
		options[i] = strings.Repeat("o", 250) + fmt.Sprint(i)
	}
	large := d.define(200, object{"name": "Large", "type": "dropdown", "module_id": "session", "options": options})
	tag, status := d.entry("tags", strings.Repeat("t", 200)), d.entry("statuses", "Waiting")
	stored := func(kind, id string) string {
		t.Helper()
		found, err := d.Table(t).Get(t.Context(), place.Key(kind, id))
		require.NoError(t, err)
		require.Equal(t, int64(2), found.Version)
		return string(found.Data)
	}
	d.send(200, http.MethodDelete, "/fields/"+large.id(), nil)
	d.drop("tags", tag.id())
	d.drop("statuses", status.id())
	requireSum(t, d.Stack)
	for kind, id := range map[string]string{"field": large.id(), "tags": tag.id()} {
		require.Regexp(t, `^\{"id":"`+id+`","deleted_at":"[^"]{20,30}"\}$`, stored(kind, id))
	}
	require.Contains(t, stored("statuses", status.id()), "Waiting")

	for _, path := range []string{"/fields/" + large.id(), "/tags/" + tag.id(), "/statuses/" + status.id()} {
		d.send(404, http.MethodPut, path, object{"name": "Again"})
		d.send(404, http.MethodDelete, path, nil)
	}
	d.define(200, object{"name": "Large", "type": "text", "module_id": "session"}) // The name is free.
	require.Equal(t, "Waiting", d.send(200, http.MethodPost, "/statuses/"+status.id()+"/restore", nil)["name"])
	requireSum(t, d.Stack)
}

// TestADeletedRoleKeepsItsCoreRole: of a deleted role are left its id and its core role, by
// which those who have it are shown.
func TestADeletedRoleKeepsItsCoreRole(t *testing.T) {
	d := newDesk(t, "sessions_2_0", "participant_roles")
	in := map[string]any{"org_id": d.Org, "event_id": d.Event}
	role := d.Operator(t, "participant-role-create", merged(in, object{"name": "Host", "core_role": "moderator"}))
	id := role["id"].(string)
	d.Operator(t, "participant-role-delete", merged(in, object{"role_id": id}))
	found, err := d.Table(t).Get(t.Context(), item.Place{Org: d.Org, Event: d.Event}.Key("participant_role", id))
	require.NoError(t, err)
	require.Regexp(t, `^\{"id":"`+id+`","deleted_at":"[^"]{20,30}","core_role":"moderator"\}$`, string(found.Data))
	d.Operator(t, "participant-role-create", merged(in, object{"name": "Host", "core_role": "speaker"}))
}
