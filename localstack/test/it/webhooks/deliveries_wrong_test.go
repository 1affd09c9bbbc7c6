package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestWrongFiltersOfDeliveries(t *testing.T) {
	d := newDesk(t)
	path := "/" + d.create(200, draft()).ID() + "/deliveries"
	for query, field := range map[string]string{
		"status=lost": "status", "status=": "status", "status=Pending": "status", "kind=session.unknown": "kind", "kind=webhook.ping": "kind", "kind=": "kind",
		"since=yesterday": "since", "since=2027-05-11T14:00:00": "since", "until=1": "until", "until=": "until", "page=0": "page", "page=1000": "page",
		"page_size=0": "page_size", "page_size=101": "page_size", "page_size=x": "page_size",
	} {
		it.RequireInvalid(t, d.call(400, http.MethodGet, path+"?"+query, nil), field)
	}
	it.RequireInvalid(t, d.call(400, http.MethodGet, "/no-uuid/deliveries", nil), "webhookId")
	require.Equal(t, "Webhook not found", d.call(404, http.MethodGet, "/"+it.UnknownID+"/deliveries", nil)["message"])
}

func TestWrongRangesOfReplays(t *testing.T) {
	d := newDesk(t)
	path := "/" + d.create(200, draft()).ID() + "/deliveries/replay"
	const since = "2027-05-11T14:00:00Z"
	for _, c := range []struct {
		field string
		body  any
	}{
		{"since", object{"until": since}}, {"until", object{"since": since}}, {"since", object{"since": nil, "until": since}},
		{"since", object{"since": "2027-05-11T14:00:00", "until": since}}, {"until", object{"since": since, "until": 7}},
		{"until", object{"since": since, "until": since}}, {"until", object{"since": since, "until": "2027-05-11T13:59:59.999Z"}},
		{"until", object{"since": since, "until": "2027-05-14T14:00:00.001Z"}},
		{"status", object{"since": since, "until": "2027-05-12T14:00:00Z", "status": "lost"}},
		{"status", object{"since": since, "until": "2027-05-12T14:00:00Z", "status": nil}}, {"", "[]"},
	} {
		it.RequireInvalid(t, d.call(400, http.MethodPost, path, c.body), c.field)
	}
	unknown := d.call(404, http.MethodPost, "/"+it.UnknownID+"/deliveries/replay", object{"since": since, "until": "2027-05-14T14:00:00Z"})
	require.Equal(t, "Webhook not found", unknown["message"])
}

func TestDeliveriesOfUnknownEndpointsAreNotThere(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft()).ID()
	for _, act := range []string{"redeliver", "cancel"} {
		unknown := d.call(404, http.MethodPost, "/"+it.UnknownID+"/deliveries/"+it.UnknownID+"/"+act, nil)
		require.Equal(t, "Webhook not found", unknown["message"])
		it.RequireInvalid(t, d.call(400, http.MethodPost, "/"+id+"/deliveries/x/"+act, nil), "deliveryId")
	}
}
