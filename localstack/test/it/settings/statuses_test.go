package settings_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

const statusShape = "color created_at created_by_user_id created_by_user_name id is_custom name order status status_name"

func TestBuiltInStatuses(t *testing.T) {
	d := it.NewClient(t)
	all := d.ListSettings("/statuses")
	require.Equal(t, []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}, it.Texts(all, "status"))
	require.Equal(t, []string{"Accepted", "Accept queue", "Pending", "Decline queue", "Declined"}, it.Texts(all, "status_name"))
	require.Equal(t, all, d.ListSettings("/statuses"), "their ids stay")
	for i, status := range all {
		require.Equal(t, statusShape, it.KeysOf(status))
		require.Equal(t, status["status_name"], status["name"])
		require.Regexp(t, "^#[0-9a-f]{6}$", status["color"])
		require.Equal(t, false, status["is_custom"])
		require.Equal(t, float64(i+1), status["order"])
		require.Nil(t, status["created_by_user_id"])
		require.Nil(t, status["created_by_user_name"])
	}
	require.NotEqual(t, all[0].ID(), d.InNewEvent().ListSettings("/statuses")[0].ID(), "they are the event's own")
	require.Empty(t, d.SearchSettings("/session-statuses", object{}).Results)

	for _, status := range all {
		path := "/statuses/" + status.ID()
		it.RequireError(t, d.Do(409, http.MethodPut, path, object{"name": "Other"}), "BUILT_IN", "")
		it.RequireError(t, d.Do(409, http.MethodDelete, path, nil), "BUILT_IN", "")
		it.RequireError(t, d.Do(409, http.MethodPost, path+"/restore", nil), "BUILT_IN", "")
	}
	it.RequireInvalid(t, d.Do(400, http.MethodPut, "/statuses/"+all[0].ID(), object{"name": ""}), "name")
	require.Equal(t, all, d.ListSettings("/statuses"))
}

func TestCustomStatuses(t *testing.T) {
	d := it.NewClient(t)
	plain := d.NewEntry("statuses", "Waiting")
	require.Equal(t, "color created_at created_by_user_id created_by_user_name id is_custom name order status status_name updated_at", it.KeysOf(plain))
	require.Equal(t, object{
		"status": "pending", "status_name": "Pending", "color": "#fbc02d", "order": 6.0, "is_custom": true,
		"created_by_user_id": float64(d.Member), "created_by_user_name": "Admin",
	}, it.Pick(plain, "status", "status_name", "color", "order", "is_custom", "created_by_user_id", "created_by_user_name"))

	reserve := d.NewEntry("statuses", "Reserve", object{"status": "accept_queue", "color": "#123456", "order": 0})
	require.Equal(t, "#123456", reserve["color"])
	require.Equal(t, "Accept queue", reserve["status_name"])
	all := d.ListSettings("/statuses")
	require.Len(t, all, 7)
	require.Equal(t, "Reserve", all[0]["name"])
	require.Equal(t, "Waiting", all[6]["name"])
	custom := d.SearchSettings("/session-statuses", nil).Results
	require.Equal(t, []string{"Reserve", "Waiting"}, it.Texts(custom, "name"))
	require.Equal(t, statusShape, it.KeysOf(custom[0]))

	path := "/statuses/" + reserve.ID()
	changed := d.Do(200, http.MethodPut, path, object{"name": "Backup", "color": nil, "status": "accept_queue"})
	require.Equal(t, "Backup", changed["name"])
	require.Equal(t, "#9ccc65", changed["color"], "without a color of its own it has its category's")
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"status": "declined"}), "status")
	d.Do(404, http.MethodPut, "/statuses/"+uuid.NewString(), object{"name": "A"})
	d.Do(404, http.MethodDelete, "/statuses/"+uuid.NewString(), nil)
}

func TestARestoredStatusIsBackOnItsSessions(t *testing.T) {
	d := it.NewClient(t)
	status := d.NewEntry("statuses", "Reserve", object{"status": "accept_queue"})
	path := "/statuses/" + status.ID()
	talk := d.Create(200, object{"title": "Talk", "custom_status_id": status.ID()})
	require.Equal(t, "Reserve", talk.At("custom_status.name"))
	it.RequireError(t, d.Do(404, http.MethodPost, path+"/restore", nil), "NOT_FOUND", "")

	require.Equal(t, entity{"id": status.ID()}, d.Do(200, http.MethodDelete, path, nil))
	require.Len(t, d.ListSettings("/statuses"), 5)
	read := d.Get(200, talk.ID())
	require.Nil(t, read["custom_status"])
	require.Equal(t, "accept_queue", read["status"], "the category stays")
	it.RequireInvalid(t, d.Create(400, object{"title": "Other", "custom_status_id": status.ID()}), "custom_status_id")
	d.Do(404, http.MethodPut, path, object{"name": "A"})
	d.Do(404, http.MethodDelete, path, nil)

	restored := d.Do(200, http.MethodPost, path+"/restore", nil)
	require.Equal(t, status["created_at"], restored["created_at"])
	require.Greater(t, restored.Text("updated_at"), status.Text("updated_at"))
	require.Equal(t, "Reserve", d.Get(200, talk.ID()).At("custom_status.name"))
	require.Equal(t, talk["updated_at"], d.Get(200, talk.ID())["updated_at"], "the session itself is not written")
	d.Do(404, http.MethodPost, path+"/restore", nil)
	d.Do(404, http.MethodPost, "/statuses/"+uuid.NewString()+"/restore", nil)
}
