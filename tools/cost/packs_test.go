package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/ingester"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/metering"
	"lectern/shared/requestlog"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// requests gives n requests of the mix, each with ids of its own.
func requests(t *testing.T, r *rand.Rand, n int) (entries []requestlog.Entry) {
	t.Helper()
	callers := []requestlog.Entry{
		{Token: 1003, IP: "203.0.113.9", UserAgent: "python-requests/2.32.3"},
		{Token: 1004, IP: "198.51.100.77", UserAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"},
		{Token: 1005, IP: "2001:db8:85a3::8a2e:370:7334", UserAgent: "axios/1.7.9"},
	}
	id := func() string {
		var random [16]byte
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		u, err := uuid.FromBytes(random[:])
		require.NoError(t, err)
		return u.String()
	}
	paths := []func() (string, string){
		func() (string, string) { return "GET", "/v1/event/1042/sessions/" + id() },
		func() (string, string) { return "GET", "/v1/event/1042/contacts/" + id() },
		func() (string, string) { return "POST", "/v1/event/1042/sessions" },
		func() (string, string) { return "POST", "/v1/event/1042/participants" },
		func() (string, string) { return "PUT", "/v1/event/1042/sessions/" + id() },
	}
	shares := []int{40, 10, 25, 15, 10}
	at := time.Date(2027, 5, 1, 9, 0, 0, 0, time.UTC)
	for range n {
		pick, draw := 0, r.IntN(100)
		for ; draw >= shares[pick]; pick++ {
			draw -= shares[pick]
		}
		e := callers[r.IntN(len(callers))]
		e.Method, e.Path = paths[pick]()
		at = at.Add(time.Duration(r.IntN(40)) * time.Millisecond)
		e.RequestID, e.At, e.Status, e.Milliseconds, e.Event = id(), wire.At(at), 200, int64(5+r.IntN(60)), 1042
		entries = append(entries, e)
	}
	return entries
}

// stored gives the size of the items of an organization's packs, in KB.
func stored(t *testing.T, s *stacktest.Stack, org int64) (kb float64) {
	t.Helper()
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	found, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name})
	require.NoError(t, err)
	for _, item := range found.Items {
		pk := item["PK"].(*types.AttributeValueMemberS).Value
		if !strings.HasPrefix(pk, requestlog.Root(org)+"#20") {
			continue
		}
		for attribute, value := range item {
			kb += float64(len(attribute)) / 1024
			switch value := value.(type) {
			case *types.AttributeValueMemberS:
				kb += float64(len(value.Value)) / 1024
			case *types.AttributeValueMemberB:
				kb += float64(len(value.Value)) / 1024
			}
		}
	}
	return kb
}

// TestADeliveryTakesTheUnitsOfTheTable of deliveries, and its pack the size.
func TestADeliveryTakesTheUnitsOfTheTable(t *testing.T) {
	s := stacktest.Start(t)
	r := rand.New(rand.NewPCG(1, 2))
	org := int64(1000)
	store := func(n int) float64 {
		ctx, meter := metering.Measured(t.Context())
		b := requestlog.Batch{Org: org, Entries: requests(t, r, n), Hash: sha256.Sum256(fmt.Append(nil, r.Uint64()))}
		_, err := requestlog.Store(ctx, s.Table(t), b, time.Now())
		require.NoError(t, err)
		_, _, _, written := meter.Totals()
		return written
	}
	for _, d := range []delivery{alone, busy, full} {
		first := store(int(d.requests))
		require.InDelta(t, d.kb, stored(t, s, org), 0.1*d.kb, "%+v", d)
		require.InDelta(t, first-1, store(int(d.requests)), 0, "the first writes the item of the hour too")
		require.InDelta(t, d.units, first-1, 0, "%+v", d)
		org++
	}
}

// TestTheIngestersLineHasTheSizeOfTheTable of constants.
func TestTheIngestersLineHasTheSizeOfTheTable(t *testing.T) {
	log := &stacktest.Log{}
	require.NoError(t, ingester.New(nil, time.Now, api.NewLog(log)).Ingest(t.Context(), make([]string, 100)))
	require.InEpsilon(t, ingestLine, len(log.String()), near)
}
