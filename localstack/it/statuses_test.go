package it_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

const statusShape = "color created_at created_by_user_id created_by_user_name id is_custom name order status status_name"

func TestBuiltInStatuses(t *testing.T) {
	d := newDesk(t)
	all := d.array("/statuses")
	require.Equal(t, []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}, texts(all, "status"))
	require.Equal(t, []string{"Accepted", "Accept queue", "Pending", "Decline queue", "Declined"}, texts(all, "status_name"))
	require.Equal(t, all, d.array("/statuses"), "their ids stay")
	for i, status := range all {
		require.Equal(t, statusShape, shapeOf(status))
		require.Equal(t, status["status_name"], status["name"])
		require.Regexp(t, "^#[0-9a-f]{6}$", status["color"])
		require.Equal(t, false, status["is_custom"])
		require.Equal(t, float64(i+1), status["order"])
		require.Nil(t, status["created_by_user_id"])
		require.Nil(t, status["created_by_user_name"])
	}
	require.NotEqual(t, all[0].id(), d.elsewhere().array("/statuses")[0].id(), "they are the event's own")
	require.Empty(t, d.settings("/session-statuses", object{}).Results)

	for _, status := range all {
		path := "/statuses/" + status.id()
		isRefused(t, d.send(409, http.MethodPut, path, object{"name": "Other"}), "BUILT_IN", "")
		isRefused(t, d.send(409, http.MethodDelete, path, nil), "BUILT_IN", "")
		isRefused(t, d.send(409, http.MethodPost, path+"/restore", nil), "BUILT_IN", "")
	}
	isInvalid(t, d.send(400, http.MethodPut, "/statuses/"+all[0].id(), object{"name": ""}), "name")
	require.Equal(t, all, d.array("/statuses"))
}

func TestCustomStatuses(t *testing.T) {
	d := newDesk(t)
	plain := d.entry("statuses", "Waiting")
	require.Equal(t, "color created_at created_by_user_id created_by_user_name id is_custom name order status status_name updated_at", shapeOf(plain))
	require.Equal(t, object{
		"status": "pending", "status_name": "Pending", "color": "#fbc02d", "order": 6.0, "is_custom": true,
		"created_by_user_id": float64(d.Member), "created_by_user_name": "Admin",
	}, pick(plain, "status", "status_name", "color", "order", "is_custom", "created_by_user_id", "created_by_user_name"))

	reserve := d.entry("statuses", "Reserve", object{"status": "accept_queue", "color": "#123456", "order": 0})
	require.Equal(t, "#123456", reserve["color"])
	require.Equal(t, "Accept queue", reserve["status_name"])
	all := d.array("/statuses")
	require.Len(t, all, 7)
	require.Equal(t, "Reserve", all[0]["name"])
	require.Equal(t, "Waiting", all[6]["name"])
	custom := d.settings("/session-statuses", nil).Results
	require.Equal(t, []string{"Reserve", "Waiting"}, texts(custom, "name"))
	require.Equal(t, statusShape, shapeOf(custom[0]))

	path := "/statuses/" + reserve.id()
	changed := d.send(200, http.MethodPut, path, object{"name": "Backup", "color": nil, "status": "accept_queue"})
	require.Equal(t, "Backup", changed["name"])
	require.Equal(t, "#9ccc65", changed["color"], "without a color of its own it has its category's")
	isInvalid(t, d.send(400, http.MethodPut, path, object{"status": "declined"}), "status")
	d.send(404, http.MethodPut, "/statuses/"+uuid.NewString(), object{"name": "A"})
	d.send(404, http.MethodDelete, "/statuses/"+uuid.NewString(), nil)
}

func TestARestoredStatusIsBackOnItsSessions(t *testing.T) {
	d := newDesk(t)
	status := d.entry("statuses", "Reserve", object{"status": "accept_queue"})
	path := "/statuses/" + status.id()
	talk := d.create(200, object{"title": "Talk", "custom_status_id": status.id()})
	require.Equal(t, "Reserve", talk.at("custom_status.name"))
	isRefused(t, d.send(404, http.MethodPost, path+"/restore", nil), "NOT_FOUND", "")

	require.Equal(t, entity{"id": status.id()}, d.send(200, http.MethodDelete, path, nil))
	require.Len(t, d.array("/statuses"), 5)
	read := d.get(200, talk.id())
	require.Nil(t, read["custom_status"])
	require.Equal(t, "accept_queue", read["status"], "the category stays")
	isInvalid(t, d.create(400, object{"title": "Other", "custom_status_id": status.id()}), "custom_status_id")
	d.send(404, http.MethodPut, path, object{"name": "A"})
	d.send(404, http.MethodDelete, path, nil)

	restored := d.send(200, http.MethodPost, path+"/restore", nil)
	require.Equal(t, status["created_at"], restored["created_at"])
	require.Greater(t, restored.text("updated_at"), status.text("updated_at"))
	require.Equal(t, "Reserve", d.get(200, talk.id()).at("custom_status.name"))
	require.Equal(t, talk["updated_at"], d.get(200, talk.id())["updated_at"], "the session itself is not written")
	d.send(404, http.MethodPost, path+"/restore", nil)
	d.send(404, http.MethodPost, "/statuses/"+uuid.NewString()+"/restore", nil)
}
