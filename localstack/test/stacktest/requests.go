package stacktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/shared/auth"
	"lectern/shared/requestlog"
	"lectern/shared/table"
)

// ingestTime is the longest time from an answer to the stored entry of its request.
const ingestTime = 30 * time.Second

// RequestID is the header with the id of a request.
const RequestID = "X-Request-Id"

// Requests waits until the log of the caller's organization has the answered requests, and
// returns the whole log in the order of the requests.
func (s *Stack) Requests(t testing.TB, answers ...Answer) (entries []requestlog.Entry) {
	t.Helper()
	log := s.logTable(t)
	require.Eventually(t, func() bool {
		entries = nil
		for _, p := range Packs(t, log, s.Org) {
			entries = append(entries, p.Entries...)
		}
		return !slices.ContainsFunc(answers, func(a Answer) bool {
			return !slices.ContainsFunc(entries, func(e requestlog.Entry) bool { return e.RequestID == a.Header.Get(RequestID) })
		})
	}, ingestTime, 20*time.Millisecond, "the log lacks a request")
	slices.SortStableFunc(entries, func(a, b requestlog.Entry) int { return a.At.Compare(b.At.Time) })
	return entries
}

// Forged returns the caller's token with a wrong secret.
func (s *Stack) Forged(t testing.TB) string {
	t.Helper()
	text, err := auth.Parse(auth.FormToken, s.Token)
	require.NoError(t, err)
	text.Secret[0] ^= 1
	return text.String()
}

// Packs returns the packs of an organization's log of requests, in the order of ingestion. It reads
// the hours with an item.
func Packs(t testing.TB, log *table.Table, org int64) (all []requestlog.Pack) {
	t.Helper()
	const first, last = "0", "~"
	for hour, err := range log.Between(t.Context(), requestlog.Root(org), first, last) {
		require.NoError(t, err)
		for bucket := range requestlog.Buckets {
			partition := fmt.Sprintf("%s#%s#%d", requestlog.Root(org), hour.SK, bucket)
			for item, err := range log.Between(t.Context(), partition, first, last) {
				require.NoError(t, err)
				p, err := requestlog.Decode(item)
				require.NoError(t, err)
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b requestlog.Pack) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// logTable returns the table with the log of requests: that of a deployed region too, since the API
// shows a request only a minute later.
func (s *Stack) logTable(t testing.TB) *table.Table {
	t.Helper()
	region := s.backend.deployed
	if region == nil {
		return s.Table(t)
	}
	config, err := region.Config(t.Context())
	require.NoError(t, err)
	return table.New(dynamodb.NewFromConfig(config), region.Table)
}
