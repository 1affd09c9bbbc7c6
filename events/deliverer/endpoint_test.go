package deliverer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// TestResultsOfAFormerAddressAreDropped: ten attempts fail while a client changes the address, or disables
// the endpoint. The breaker stays closed for the new address and for an endpoint that is enabled again.
func TestResultsOfAFormerAddressAreDropped(t *testing.T) {
	for name, after := range map[string]*webhook.Endpoint{
		"moved": {Header: resource.Header{ID: endpoint}, Enabled: true, URL: "https://hooks.example.org/new"}, "disabled": nil,
	} {
		b := start(t)
		b.answer, b.moved, b.to = webhook.Answer{Status: 500}, true, after
		require.Zero(t, b.invoke(b.add(10)...), name)
		require.Len(t, b.requests, 10, name)
		s, err := b.ReadState(t.Context(), org, endpoint)
		require.NoError(t, err)
		require.True(t, s.Healthy(), name)
		require.NotContains(t, b.log.String(), "was not stored", name)
	}
}

// TestADamagedStateStopsNoEndpoint: attempts are made, the log names the state, and the results replace it.
func TestADamagedStateStopsNoEndpoint(t *testing.T) {
	for _, status := range []int{200, 500} {
		b := start(t)
		at := table.Key{PK: table.Org(org) + "#W#" + endpoint, SK: "S"}
		require.NoError(t, b.Table.Transact(t.Context(), table.Put(table.Item{Key: at, Version: 3, Data: []byte("{")})))
		b.answer = webhook.Answer{Status: status}
		task := b.add(1)[0]
		require.Zero(t, b.invoke(task))
		require.Len(t, b.requests, 1)
		require.Contains(t, b.log.String(), "endpoint_state_failed")
		require.Contains(t, b.log.String(), at.PK)
		s, err := b.ReadState(t.Context(), org, endpoint)
		require.NoError(t, err)
		require.NoError(t, s.Damage())
		require.Equal(t, status == 200, s.Healthy())
	}
}
