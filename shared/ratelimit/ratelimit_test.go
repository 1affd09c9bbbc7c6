package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/metering"
	"lectern/shared/ratelimit"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// clock is a time that only a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func limiter(tab *table.Table, c *clock) *ratelimit.Limiter {
	return ratelimit.New(tab, c.now, slog.New(slog.DiscardHandler))
}

func TestExactlyTheLimitIsAdmittedAmongManyClients(t *testing.T) {
	tab, c := tabletest.Start(t), &clock{at: start}
	limiters := []*ratelimit.Limiter{limiter(tab, c), limiter(tab, c)} // two processes
	token := tenancy.Token{ID: 1}
	var admitted atomic.Int64
	var group sync.WaitGroup
	for client := range 16 {
		group.Go(func() {
			for range 20 {
				if limiters[client%2].Take(t.Context(), token, ratelimit.EntityReads).Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	group.Wait()
	require.Equal(t, int64(ratelimit.Requests), admitted.Load())
	require.True(t, limiters[0].Take(t.Context(), token, ratelimit.SessionWrites).Allowed, "another bucket")
	require.True(t, limiters[0].Take(t.Context(), tenancy.Token{ID: 2}, ratelimit.EntityReads).Allowed, "another token")
}

func TestVerdictsCountDownAndBeginAgain(t *testing.T) {
	c := &clock{at: start}
	l := limiter(tabletest.Start(t), c)
	token := tenancy.Token{ID: 1, Limit: 2}
	first := l.Take(t.Context(), token, ratelimit.SessionWrites)
	require.True(t, first.Allowed)
	require.Equal(t, int64(1), first.Remaining)
	require.Equal(t, int64(900), first.Window)
	require.Equal(t, first.Reset-start.Unix(), first.Wait)
	require.Positive(t, first.Wait)
	require.LessOrEqual(t, first.Wait, first.Window)

	require.True(t, l.Take(t.Context(), token, ratelimit.SessionWrites).Allowed)
	for range 3 {
		refused := l.Take(t.Context(), token, ratelimit.SessionWrites)
		require.False(t, refused.Allowed)
		require.Zero(t, refused.Remaining)
		require.Equal(t, first.Reset, refused.Reset)
	}
	c.pass(time.Duration(first.Wait) * time.Second)
	again := l.Take(t.Context(), token, ratelimit.SessionWrites)
	require.True(t, again.Allowed)
	require.Equal(t, first.Reset+900, again.Reset)
}

func TestWindowsOfTokensAreShifted(t *testing.T) {
	c := &clock{at: start}
	l := limiter(tabletest.Start(t), c)
	resets := map[int64]bool{}
	for id := range int64(10) {
		resets[l.Take(t.Context(), tenancy.Token{ID: id}, ratelimit.EntityReads).Reset] = true
	}
	require.Greater(t, len(resets), 5)
}

func TestRulesOfBuckets(t *testing.T) {
	l := limiter(tabletest.Start(t), &clock{at: start})
	own := tenancy.Token{ID: 1, Limit: 7}
	require.Equal(t, ratelimit.Verdict{Allowed: true}, l.Take(t.Context(), own, ratelimit.None))
	require.Equal(t, int64(7), l.Take(t.Context(), own, ratelimit.Insights).Limit)
	require.Equal(t, int64(100), l.Take(t.Context(), tenancy.Token{ID: 2}, ratelimit.Insights).Limit)
	logs := l.Take(t.Context(), own, ratelimit.LogExport)
	require.Equal(t, []int64{60, 60}, []int64{logs.Limit, logs.Window})
}

func TestADayOfWritesEndsAtMidnightInUTC(t *testing.T) {
	c := &clock{at: time.Date(2026, 11, 21, 23, 58, 20, 0, time.UTC)}
	l := limiter(tabletest.Start(t), c)
	token := tenancy.Token{ID: 1, Limit: 7}
	take := func() ratelimit.Verdict { return l.TakeDay(t.Context(), token, 2) }
	require.True(t, take().Allowed)
	require.Zero(t, take().Remaining)
	refused := take()
	require.False(t, refused.Allowed)
	require.Equal(t, []int64{2, 100, 86_400}, []int64{refused.Limit, refused.Wait, refused.Window})
	require.Equal(t, "100", refused.Header().Get("Retry-After"))
	require.True(t, l.TakeDay(t.Context(), tenancy.Token{ID: 2}, 2).Allowed, "another token")
	require.True(t, l.Take(t.Context(), token, ratelimit.SessionWrites).Allowed, "another count")
	c.pass(100 * time.Second)
	require.True(t, take().Allowed, "the next day")
}

func TestARefusalIsRememberedForAMinute(t *testing.T) {
	c := &clock{at: start}
	l := limiter(tabletest.Start(t), c)
	token := tenancy.Token{ID: 1, Limit: 1}
	calls := func() int {
		ctx, meter := metering.Measured(t.Context())
		l.Take(ctx, token, ratelimit.EntityReads)
		n, _, _, _ := meter.Totals()
		return n
	}
	require.Equal(t, []int{1, 1, 0, 0}, []int{calls(), calls(), calls(), calls()})
	c.pass(time.Minute)
	require.Equal(t, 1, calls(), "asked again")
	token.Limit = 5
	require.True(t, l.Take(t.Context(), token, ratelimit.EntityReads).Allowed, "a higher limit counts at once")
}

func TestHeaders(t *testing.T) {
	l := limiter(tabletest.Start(t), &clock{at: start})
	token := tenancy.Token{ID: 1, Limit: 1}
	require.Empty(t, l.Take(t.Context(), token, ratelimit.None).Header())

	v := l.Take(t.Context(), token, ratelimit.EntityReads)
	h := v.Header()
	require.Equal(t, "1", h.Get("RateLimit-Limit"))
	require.Equal(t, "0", h.Get("RateLimit-Remaining"))
	require.Equal(t, strconv.FormatInt(v.Reset, 10), h.Get("RateLimit-Reset"))
	require.Equal(t, `"entity_reads";r=0;t=`+strconv.FormatInt(v.Wait, 10), h.Get("RateLimit"))
	require.Equal(t, `"entity_reads";q=1;w=900`, h.Get("RateLimit-Policy"))
	require.Empty(t, h.Get("Retry-After"))

	refused := l.Take(t.Context(), token, ratelimit.EntityReads)
	require.Equal(t, strconv.FormatInt(refused.Wait, 10), refused.Header().Get("Retry-After"))
}

// broken is a door that lets no count through.
type broken struct{ table.Client }

var errBroken = errors.New("the table is down")

func (broken) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, errBroken
}

func TestWithoutTheTableAProcessCountsByItself(t *testing.T) {
	tab := tabletest.Behind(t, func(c table.Client) table.Client { return broken{c} })
	var log bytes.Buffer
	c := &clock{at: start}
	l := ratelimit.New(tab, c.now, slog.New(slog.NewTextHandler(&log, nil)))
	token := tenancy.Token{ID: 1, Limit: 3}
	admitted := 0
	for range 10 {
		if l.Take(t.Context(), token, ratelimit.EntityReads).Allowed {
			admitted++
		}
	}
	require.Equal(t, 3, admitted)
	require.Contains(t, log.String(), "ratelimit_failed_open")
	c.pass(ratelimit.Window)
	require.True(t, l.Take(t.Context(), token, ratelimit.EntityReads).Allowed, "the next window")
}
