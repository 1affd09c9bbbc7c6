package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/requestlog"
	"lectern/shared/table"
)

// entryOf returns the entry of an answered request, and fails without exactly one.
func entryOf(t *testing.T, entries []requestlog.Entry, a stacktest.Answer) (found requestlog.Entry) {
	t.Helper()
	n := 0
	for _, e := range entries {
		if e.RequestID == a.Header.Get(stacktest.RequestID) {
			found = e
			n++
		}
	}
	require.Equal(t, 1, n, "entries of a request")
	return found
}

// TestARequestIsInTheLogOfItsOrganization: read from the request's log line, wherever the service
// runs, with the caller and the path, and without a query or a body.
func TestARequestIsInTheLogOfItsOrganization(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Ingesting())
	other := s.NewOrganization(t)
	began := time.Now()
	made := s.Call(t, 200, "POST", s.EventPath("/sessions/create"), object{"title": "Not for the log"})
	session := made.JSON(t)["id"].(string)
	read := s.Call(t, 200, "GET", s.EventPath("/sessions/"+session+"/?expand=composition"), nil)
	nobody := uuid.NewString()
	missing := s.Call(t, 404, "GET", s.EventPath("/sessions/"+nobody), nil)
	elsewhere := other.Call(t, 200, "GET", "/v1/events", nil)

	entries := s.Requests(t, made, read, missing)
	text, err := auth.Parse(auth.FormToken, s.Token)
	require.NoError(t, err)
	for answer, want := range map[*stacktest.Answer]requestlog.Entry{
		&made:    {Method: "POST", Path: s.EventPath("/sessions/create"), Status: 200},
		&read:    {Method: "GET", Path: s.EventPath("/sessions/" + session), Status: 200},
		&missing: {Method: "GET", Path: s.EventPath("/sessions/" + nobody), Status: 404, Reason: "NOT_FOUND"},
	} {
		got := entryOf(t, entries, *answer)
		require.WithinRange(t, got.At.Time, began.Add(-time.Second), time.Now().Add(time.Second))
		require.NotNil(t, net.ParseIP(got.IP), "the address is %q", got.IP)
		require.Contains(t, got.UserAgent, "Go-http-client/")
		want.RequestID, want.At, want.Milliseconds, want.IP, want.UserAgent = got.RequestID, got.At, got.Milliseconds, got.IP, got.UserAgent
		want.Event, want.Token = s.Event, text.ID
		require.Equal(t, want, got)
	}
	stored, err := json.Marshal(entries)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "Not for the log")
	require.NotContains(t, string(stored), "composition")
	entryOf(t, other.Requests(t, elsewhere), elsewhere)
	for _, e := range entries {
		require.NotEqual(t, elsewhere.Header.Get(stacktest.RequestID), e.RequestID, "the request of another organization")
	}
}

// TestRefusedSignInsAreInTheLogWithTheirReason, and no others: a request without a known token
// belongs to no organization.
func TestRefusedSignInsAreInTheLogWithTheirReason(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Ingesting())
	parsed, err := auth.Parse(auth.FormToken, s.Token)
	require.NoError(t, err)
	parsed.ID += 1_000_000
	refused := map[string]stacktest.Answer{}
	for reason, token := range map[string]string{
		"wrong_secret": s.Forged(t), "revoked": revokedToken(t, s), "expired": expiredToken(t, s),
		"owner_inactive": ownedBy(t, s, "member-update", object{"active": false}),
		"unknown":        parsed.String(), "missing": "", "malformed": "hunter2",
	} {
		refused[reason] = s.As(token).Call(t, 401, "GET", s.EventPath("/rooms"), nil)
	}
	unowned := []string{"unknown", "missing", "malformed"}
	var known []stacktest.Answer
	for reason, answer := range refused {
		if !strings.Contains(strings.Join(unowned, " "), reason) {
			known = append(known, answer)
		}
	}
	last := s.Call(t, 200, "GET", "/v1/events", nil)
	entries := s.Requests(t, append(known, last)...)
	require.Len(t, entries, len(known)+1)
	for reason, answer := range refused {
		if strings.Contains(strings.Join(unowned, " "), reason) {
			continue
		}
		got := entryOf(t, entries, answer)
		require.Equal(t, reason, got.Reason)
		require.Equal(t, 401, got.Status)
		require.Equal(t, "/v1/event/{eventId}/rooms", got.Path, "the path was not checked")
		require.NotZero(t, got.Token)
	}
	require.Empty(t, entryOf(t, entries, last).Reason)
}

// TestWrongSecretsInTheLogAreSixtyAMinute, and every other request is there.
func TestWrongSecretsInTheLogAreSixtyAMinute(t *testing.T) {
	s := stacktest.Start(t, stacktest.Ingesting())
	forged := s.As(s.Forged(t))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				forged.TrySend(t, "GET", "/v1/events", nil)
			}
		})
	}
	all.Wait()
	minutes := map[time.Time]int{}
	for _, e := range s.Requests(t, s.Call(t, 200, "GET", "/v1/events", nil)) {
		if e.Reason == "wrong_secret" {
			minutes[e.At.Truncate(time.Minute)]++
		}
	}
	require.NotEmpty(t, minutes)
	sum := 0
	for minute, n := range minutes {
		require.LessOrEqual(t, n, 60, minute)
		sum += n
	}
	require.GreaterOrEqual(t, sum, 60, "the first minute, or both together")
}

// TestTheUserAgentOfTheLogIsCutAndCleaned, whatever a client sends.
func TestTheUserAgentOfTheLogIsCutAndCleaned(t *testing.T) {
	s := stacktest.Start(t, stacktest.Ingesting())
	s.NeedsGateway(t, "takes a byte that is no character for one")
	for sent, want := range map[string]string{
		"Mozilla/5.0\t(\xffX11)": "Mozilla/5.0(X11)", strings.Repeat("a", 255) + "é": strings.Repeat("a", 255), strings.Repeat("b", 5000): strings.Repeat("b", 256),
	} {
		answer := s.Call(t, 200, "GET", "/v1/events", stacktest.WithHeaders(nil, "User-Agent", sent))
		got := entryOf(t, s.Requests(t, answer), answer)
		require.Equal(t, want, got.UserAgent)
		require.Equal(t, "127.0.0.1", got.IP)
	}
}

// TestAStopStoresTheLog: no request that was answered is missing, and none is there twice.
func TestAStopStoresTheLog(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Ingesting())
	instance := s.Instance(t)
	var all sync.WaitGroup
	answers := make([]stacktest.Answer, 300)
	for worker := range 4 {
		all.Go(func() {
			for i := worker; i < len(answers); i += 4 {
				answers[i] = instance.TrySend(t, "GET", "/v1/events", stacktest.WithHeaders(nil, stacktest.RequestID, "request-"+strconv.Itoa(i)))
			}
		})
	}
	all.Wait()
	instance.Stop(t)
	entries := s.Requests(t)
	require.Len(t, entries, len(answers))
	for _, a := range answers {
		entryOf(t, entries, a)
	}
}

// brokenLog refuses every write of the log of requests, after a second, while on is set.
type brokenLog struct {
	table.Client
	on       atomic.Bool
	attempts atomic.Int64
}

var errBroken = errors.New("the log cannot be written")

func (c *brokenLog) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	first := in.TransactItems[0].Put
	if c.on.Load() && first != nil && strings.Contains(it.StringsOf(first.Item), "#Y#") {
		c.attempts.Add(1)
		time.Sleep(time.Second)
		return nil, errBroken
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// TestABrokenLogSlowsNoRequest and fails none: the requests are missing in the log, and the
// service's own log says how many.
func TestABrokenLogSlowsNoRequest(t *testing.T) {
	c, log := &brokenLog{}, &stacktest.Log{}
	s := stacktest.Start(t, stacktest.Ingesting(), stacktest.WithLog(log), stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	}))
	s.Call(t, 200, "GET", "/v1/events", nil)
	c.on.Store(true)
	began := time.Now()
	for range 50 {
		s.Call(t, 200, "GET", "/v1/events", nil)
	}
	require.Less(t, time.Since(began), 30*time.Second, "fifty requests would have waited for the log")
	require.Eventually(t, func() bool {
		return strings.Contains(log.String(), "requests are missing in the log of requests")
	}, 30*time.Second, 10*time.Millisecond)
	require.Positive(t, c.attempts.Load())
	c.on.Store(false)
	after := s.Call(t, 200, "GET", "/v1/events", nil)
	entryOf(t, s.Requests(t, after), after)
}
