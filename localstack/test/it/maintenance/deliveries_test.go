package maintenance_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/maintain"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// blank renders a body without content.
type blank struct{}

func (blank) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"metadata":{` + delivery.Place), nil
}

// TestDeliveriesOfADeletedEndpointAreRemoved, and those of others stay.
func TestDeliveriesOfADeletedEndpointAreRemoved(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	deliveries := delivery.Store{Table: d.Table(t), Now: time.Now}
	ids := map[string]string{}
	for _, name := range []string{"stays", "goes", "goes too"} {
		made := d.Call(t, http.StatusOK, http.MethodPost, "/v1/webhooks/create", it.Object{
			"url": "https://hooks.example.org/" + name[:4], "events": []any{"contact.created"},
		}).JSON(t)
		ids[name] = it.Entity(made).ID()
		m := bus.Message{
			Change: ids[name], At: wire.At(time.Now()), Org: d.Org, Kind: "contact.created", Sequence: 1, Type: "contact", RecordID: ids[name],
		}
		_, err := deliveries.Add(t.Context(), m, []delivery.Target{{Endpoint: ids[name], Form: "thin"}}, blank{})
		require.NoError(t, err)
		_, err = deliveries.Learn(t.Context(), d.Org, ids[name], []delivery.Result{{Failed: true}})
		require.NoError(t, err)
	}
	for _, name := range []string{"goes", "goes too"} {
		d.Call(t, http.StatusOK, http.MethodDelete, "/v1/webhooks/"+ids[name], nil)
	}
	store := maintain.Store{Tenancy: tenancy.Store{Table: d.Table(t), Now: time.Now, Region: "us"}, Time: time.Minute}
	report, err := store.Run(t.Context(), maintain.Input{Cursor: &maintain.Cursor{}})
	require.NoError(t, err)
	require.Zero(t, report.Failed)
	for name, id := range ids {
		kept, _, err := deliveries.List(t.Context(), d.Org, id, delivery.Filter{}, delivery.Page{Limit: 10})
		require.NoError(t, err)
		require.Equal(t, name == "stays", len(kept) == 1, name)
		state, err := deliveries.ReadState(t.Context(), d.Org, id)
		require.NoError(t, err)
		require.Equal(t, name != "stays", state.Healthy(), name)
	}
	e.RequireWhole(t)
}
