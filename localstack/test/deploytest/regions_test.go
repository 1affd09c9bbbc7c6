package deploytest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/apierr"
)

// TestTheRegionsKnowNothingOfEachOther makes the same in both regions and asks each for
// what is the other's.
func TestTheRegionsKnowNothingOfEachOther(t *testing.T) {
	stacktest.Everywhere(t)
	us, eu := stacktest.Start(t, stacktest.InRegion("us")), stacktest.Start(t, stacktest.InRegion("eu"))
	require.NotEqual(t, us.Event, eu.Event)
	for _, pair := range [][2]*stacktest.Stack{{us, eu}, {eu, us}} {
		own, other := pair[0], pair[1]
		id := own.Call(t, 200, http.MethodPost, own.EventPath("/sessions/create"), map[string]any{"title": "Only here"}).JSON(t)["id"].(string)
		own.Call(t, 200, http.MethodGet, own.EventPath("/sessions/"+id), nil)
		// The token, the event and the id are each unknown to the other region.
		other.As(own.Token).Call(t, 401, http.MethodGet, "/v1/events", nil)
		other.Call(t, 404, http.MethodGet, own.EventPath("/sessions/"+id), nil)
		other.Call(t, 404, http.MethodGet, own.EventPath("/tracks"), nil)
		other.Call(t, 404, http.MethodGet, other.EventPath("/sessions/"+id), nil)
		for command, input := range map[string]map[string]any{
			"event-update":      {"org_id": own.Org, "event_id": own.Event, "name": "Taken"},
			"organization-show": {"org_id": own.Org},
			"member-list":       {"org_id": own.Org},
		} {
			_, err := other.TryOperator(t, command, input)
			var refused *apierr.Error
			require.ErrorAs(t, err, &refused, command)
			require.Equal(t, 404, refused.Status, command)
		}
	}
}
