package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/datarequest"
	"lectern/shared/table"
)

// archive stores the archive of a new data request, and deletes another request with its archive.
func archive(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	store := datarequest.NewStore(s.Env(t))
	var ended *datarequest.Request
	for _, address := range []string{"ada@example.org", "gone@example.org"} {
		asked := stacktest.Call[datarequest.Request](s, 201, "POST", "/v1/gdpr/requests",
			map[string]any{"requestType": "access", "identityType": "email", "identityValue": address})
		begun, err := store.Get(t.Context(), s.Org, asked.ID)
		require.NoError(t, err)
		require.NoError(t, store.StoreArchive(t.Context(), begun, &datarequest.Collected{RequestID: asked.ID, OrgID: s.Org}))
		ended, err = store.Get(t.Context(), s.Org, asked.ID)
		require.NoError(t, err)
	}
	require.NoError(t, datarequest.Upkeep{Table: s.Table(t), Now: time.Now}.Delete(t.Context(), ended))
}

// TestAnArchiveOfNoRequestIsFound.
func TestAnArchiveOfNoRequestIsFound(t *testing.T) {
	s := stacktest.Start(t)
	archive(t, s)
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	part := whole.named(t, "part of an archive")
	for i, item := range whole {
		if item.Key == part.Key {
			whole[i].PK = part.PK[:len(part.PK)-4] + "0000"
		}
	}
	require.Contains(t, strings.Join(whole.problems(), "\n"), "is of no data request")
}
