package logs_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/requestlog"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// TestLogsAreServed calls all three with tokens of every kind. The clock is that of the service,
// so no event is old enough to be read.
func TestLogsAreServed(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	token := s.TokenWith(t, object{"kind": "log_export"})
	revoked := s.Operator(t, "token-create", object{"org_id": s.Org, "user_id": s.Member, "name": "R", "kind": "log_export"})
	s.Operator(t, "token-revoke", object{"org_id": s.Org, "token_id": revoked["id"]})
	legacy := s.TokenWith(t, object{"kind": "legacy"})
	for _, log := range paths {
		path := "/v1/logs/" + log
		var first, second page
		answer := s.As(token).Call(t, 200, "GET", path+"?limit=1", nil)
		require.Equal(t, `"log_export";q=60;w=60`, answer.Header.Get("RateLimit-Policy"))
		answer.Into(t, &first)
		require.Empty(t, first.Results)
		require.NotNil(t, first.Results)
		require.False(t, first.HasMore)
		s.As(token).Call(t, 200, "GET", path+"?cursor="+first.NextCursor, nil).Into(t, &second)
		require.Empty(t, second.Results)
		it.RequireInvalid(t, s.As(token).Call(t, 400, "GET", path+"?cursor=x", nil).JSON(t), "cursor")
		s.As("").Call(t, 401, "GET", path, nil)
		s.As("nonsense").Call(t, 401, "GET", path, nil)
		s.As(revoked["token"].(string)).Call(t, 401, "GET", path, nil)
		s.As("").Call(t, 401, "GET", path, stacktest.WithHeaders(nil, "Authorization", "Bearer "+token))
		require.Equal(t, "INSUFFICIENT_SCOPE", s.Call(t, 403, "GET", path, nil).JSON(t)["code"], "a token with all other scopes")
		require.Equal(t, "INSUFFICIENT_SCOPE", s.As(legacy).Call(t, 403, "GET", path, nil).JSON(t)["code"])
		s.As(token).Call(t, 405, "POST", path, object{})
	}
}

// TestLogsAreLimited to 60 requests a minute, of all three together and whatever limit the token has.
func TestLogsAreLimited(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	at := time.Now().Add(time.Hour).Truncate(time.Minute)
	e.clock.set(at)
	e.tokens = []string{d.TokenWith(t, object{"kind": "log_export", "limit": 1000})}
	refused := 0
	for n := range 70 {
		answer := e.As(e.tokens[0]).TrySend(t, "GET", "/v1/logs/"+paths[n%3], nil)
		require.Equal(t, n >= 60, answer.Status == 429, "call %d: %s", n, answer.Body)
		if answer.Status == 429 {
			refused++
			require.NotEmpty(t, answer.Header.Get("Retry-After"))
		}
	}
	require.Equal(t, 10, refused)
	e.clock.set(at.Add(time.Minute))
	e.call(200, audit)
}

// TestWrongParameters are refused with their name, and unknown ones are ignored.
func TestWrongParameters(t *testing.T) {
	e := newExporter(it.NewClient(t))
	for _, log := range paths {
		for field, values := range map[string][]string{
			"limit": {"0", "1001", "-1", "x", "", "1.5"}, "since": {"", "yesterday", "2026-01-01", "2026-01-01T00:00:00"}, "until": {"x", "2026-13-01T00:00:00Z"},
			"cursor": {""},
		} {
			for _, value := range values {
				e.invalid(field, log, field+"="+value)
			}
		}
		e.invalid("since", log, "since=2026-01-02T00:00:00Z", "until=2026-01-01T00:00:00Z")
		e.invalid("since", log, "since=0001-01-02T00:00:00Z", "until=0001-01-01T00:00:00Z")
		require.Empty(t, e.page(log, "since=2026-01-02T00:00:00Z", "until=2026-01-02T01:00:00%2B01:00").Results)
		require.Empty(t, e.page(log, "until=0001-01-01T00:00:00Z").Results)
		require.Empty(t, e.page(log, "since=9999-12-31T23:59:59Z").Results)
		e.page(log, "limit=1000", "sort=desc", "page=7")
		e.page(log, "limit=1")
	}
}

// TestBoundsOfTime: since is included, until is not.
func TestBoundsOfTime(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	begin := time.Now().Add(-3 * time.Hour).Truncate(time.Hour)
	ids := commit(d, begin, begin.Add(time.Millisecond), begin.Add(time.Hour), begin.Add(2*time.Hour-time.Millisecond), begin.Add(2*time.Hour))
	for _, c := range []struct {
		since, until time.Duration
		want         []string
	}{
		{0, 2 * time.Hour, ids[:4]}, {0, 2*time.Hour + time.Millisecond, ids}, {time.Millisecond, time.Hour, ids[1:2]},
		{time.Hour, time.Hour, nil}, {time.Hour + time.Millisecond, 2 * time.Hour, ids[3:4]}, {-time.Hour, 0, nil},
	} {
		window := []string{"since=" + instant(begin.Add(c.since)), "until=" + instant(begin.Add(c.until))}
		for _, limit := range []int{1, 2, 1000} {
			got := e.all(audit, limit, window...)
			require.Equal(t, len(c.want), len(got), "%v", window)
			for i, id := range c.want {
				require.Equal(t, id+"-0000", got[i].ID())
			}
		}
	}
}

// TestACursorIsOfOneLogOfOneOrganization, and a changed one shows nothing else.
func TestACursorIsOfOneLogOfOneOrganization(t *testing.T) {
	d := it.NewClient(t)
	changes(d)
	putPack(d, time.Now(), entryAt(time.Now(), 200), entryAt(time.Now(), 200))
	e, other := newExporter(d), newExporter(&it.Client{Stack: d.NewOrganization(t), T: t})
	for _, log := range paths {
		cursor := e.page(log, "limit=1").NextCursor
		for _, another := range paths {
			if another != log {
				e.invalid("cursor", another, "cursor="+cursor)
			}
			other.invalid("cursor", another, "cursor="+cursor)
		}
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		require.NoError(t, err)
		for _, text := range []string{
			"", "x", " " + string(raw), string(raw) + " ", strings.Replace(string(raw), fmt.Sprint(d.Org), fmt.Sprint(other.Org), 1),
			strings.Replace(string(raw), fmt.Sprint(d.Org), "0"+fmt.Sprint(d.Org), 1), fmt.Sprintf("%s %d 0 ~", streams[log], d.Org),
			fmt.Sprintf("%s %d 0 0#O#%d", streams[log], d.Org, other.Org), fmt.Sprintf("%s %d -1 %s", streams[log], d.Org, feed.Bound(time.Now())),
			fmt.Sprintf("%s %d 9999999999999999999 %s", streams[log], d.Org, feed.Bound(time.Now())), fmt.Sprintf("%s %d 0 zzzzzzzz-zzzz", streams[log], d.Org),
			fmt.Sprintf("%s %d 0 %s\x00", streams[log], d.Org, feed.Bound(time.Now())),
		} {
			e.invalid("cursor", log, "cursor="+base64.RawURLEncoding.EncodeToString([]byte(text)))
		}
		e.invalid("cursor", log, "cursor="+cursor+"%3D")
		e.invalid("cursor", log, "cursor="+strings.Repeat("A", 301))
		begin := fmt.Sprintf("%s %d 0 %s", streams[log], d.Org, feed.Bound(time.Unix(0, 0)))
		again := e.page(log, "limit=1000", "cursor="+base64.RawURLEncoding.EncodeToString([]byte(begin)))
		require.Equal(t, e.all(log, 1000), again.Results, "the own log")
	}
}

// TestAnEventIsReadAfter60Seconds, to the millisecond.
func TestAnEventIsReadAfter60Seconds(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	at := wireAt(time.Now().Add(3 * time.Hour))
	id := commit(d, at.Time)[0] + "-0000"
	pack := putPack(d, at.Time, entryAt(time.Now(), 200)) + "-0000"
	e.clock.set(at.Add(60 * time.Second))
	early := map[string]page{}
	for log, want := range map[string]string{audit: id, requests: pack} {
		early[log] = e.page(log, "limit=1000")
		require.False(t, early[log].HasMore)
		require.NotContains(t, it.Texts(early[log].Results, "id"), want)
	}
	e.clock.set(at.Add(60*time.Second + time.Millisecond))
	for log, want := range map[string]string{audit: id, requests: pack} {
		next := e.page(log, "cursor="+early[log].NextCursor)
		require.Equal(t, []string{want}, it.Texts(next.Results, "id"))
		require.False(t, next.HasMore)
		require.Empty(t, e.page(log, "cursor="+next.NextCursor).Results)
	}
	e.clock.set(at.Add(-time.Hour))
	late := e.page(audit, "cursor="+early[audit].NextCursor)
	require.Equal(t, early[audit].NextCursor, late.NextCursor, "a clock that goes back moves no cursor")
}

// partitions are the partitions of logs that are queried.
type partitions struct {
	mu   sync.Mutex
	seen map[string]int
}

var logPartition = regexp.MustCompile(` (O#\d+#[HY][^ ]*) `)

func (p *partitions) see(keys string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := logPartition.FindStringSubmatch(keys); found != nil {
		p.seen[found[1]]++
	}
}

// take returns the queried partitions since the last call.
func (p *partitions) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Sorted(maps.Keys(p.seen))
	p.seen = map[string]int{}
	return all
}

// watched starts an exporter, and watches the partitions that are queried.
func watched(t *testing.T, options ...stacktest.Option) (*it.Client, *exporter, *partitions) {
	t.Helper()
	gate := &it.Gate{}
	d := &it.Client{Stack: stacktest.Start(t, append(options, stacktest.WithClient(func(inner table.Client) table.Client {
		gate.Client = inner
		return gate
	}))...), T: t}
	e, p := newExporter(d), &partitions{seen: map[string]int{}}
	see := p.see
	gate.Querying.Store(&see)
	return d, e, p
}

// TestHoursWithoutItemsAreNotRead: a page reads the list of hours and the hours of its events.
func TestHoursWithoutItemsAreNotRead(t *testing.T) {
	d, e, p := watched(t)
	begin := time.Now().Add(-2000 * time.Hour).Truncate(time.Hour)
	for _, hours := range []int{0, 3, 900} {
		commit(d, begin.Add(time.Duration(hours)*time.Hour), begin.Add(time.Duration(hours)*time.Hour+time.Second))
		at := begin.Add(time.Duration(hours) * time.Hour)
		putPack(d, at, entryAt(at, 200), entryAt(at, 200))
	}
	hour := func(letter string, hours int) (all []string) {
		root := fmt.Sprintf("O#%d#%s#%s", d.Org, letter, begin.Add(time.Duration(hours)*time.Hour).UTC().Format("2006010215"))
		for bucket := range 8 {
			all = append(all, fmt.Sprint(root, "#", bucket))
		}
		return all
	}
	for log, letter := range map[string]string{audit: "H", requests: "Y"} {
		list := []string{fmt.Sprintf("O#%d#%s", d.Org, letter)}
		until := "until=" + instant(begin.Add(1000*time.Hour))
		p.take()
		first := e.page(log, until, "limit=1")
		require.True(t, first.HasMore)
		require.Equal(t, slices.Concat(list, hour(letter, 0)), p.take())
		second := e.page(log, until, "limit=2", "cursor="+first.NextCursor)
		require.True(t, second.HasMore)
		require.Equal(t, slices.Concat(list, hour(letter, 0), hour(letter, 3)), p.take())
		third := e.page(log, until, "cursor="+second.NextCursor)
		require.False(t, third.HasMore)
		require.Equal(t, slices.Concat(list, hour(letter, 3), hour(letter, 900)), p.take())
		require.Empty(t, e.page(log, until, "cursor="+third.NextCursor).Results)
		require.Subset(t, list, p.take())
	}
}

// TestTheCursorMovesToTheHorizon, so that old hours are not read again.
func TestTheCursorMovesToTheHorizon(t *testing.T) {
	d, e, p := watched(t)
	now := time.Now().Truncate(time.Hour).Add(100*time.Hour + 30*time.Minute)
	commit(d, now.Add(-3*time.Hour))
	putPack(d, now.Add(-3*time.Hour), entryAt(now, 200))
	e.clock.set(now)
	for _, log := range []string{audit, requests} {
		end := e.page(log, "limit=1000")
		require.NotEmpty(t, end.Results)
		require.GreaterOrEqual(t, len(p.take()), 9, "the list of hours, and hours")
		require.Empty(t, e.page(log, "cursor="+end.NextCursor).Results)
		require.Empty(t, p.take(), "at the same time")
		e.clock.set(now.Add(5 * time.Minute))
		require.Empty(t, e.page(log, "cursor="+end.NextCursor).Results)
		require.Len(t, p.take(), 1, "the list of hours alone")
		e.clock.set(now)
	}
}

// TestAPageReadsNoWholeHour: what a page of 100 of an hour of 2,000 changes costs.
func TestAPageReadsNoWholeHour(t *testing.T) {
	log := &stacktest.Log{}
	d := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})
	begin := time.Now().Add(-5 * time.Hour).Truncate(time.Hour)
	times := make([]time.Time, 2000)
	for i := range times {
		times[i] = begin.Add(time.Duration(i) * time.Second)
	}
	commit(d.Client, times...)
	e := newExporter(d.Client)
	units := func(limit int) float64 {
		id := fmt.Sprint("units-", limit)
		path := fmt.Sprintf("/v1/logs/%s?limit=%d&since=%s", audit, limit, instant(begin))
		e.As(e.tokens[0]).Call(t, 200, "GET", path, stacktest.WithHeaders(nil, "X-Request-Id", id))
		return log.Fields(t, id)["rcu"].(float64)
	}
	require.Less(t, units(100), 50.0)
	require.Greater(t, units(1000), 100.0)
	require.Less(t, units(1000), 250.0)
}

// TestAPageEndsAfter240Hours, so that a request ends in time; the next page goes on.
func TestAPageEndsAfter240Hours(t *testing.T) {
	d := it.NewClient(t)
	begin := time.Now().Add(-700 * time.Hour).Truncate(time.Hour)
	for hours := range 600 {
		require.NoError(t, d.Table(t).Mark(t.Context(), change.Hour(d.Org, begin.Add(time.Duration(hours)*time.Hour))))
	}
	id := commit(d, begin.Add(500*time.Hour+time.Minute))[0]
	e := newExporter(d)
	until := "until=" + instant(begin.Add(650*time.Hour))
	first := e.page(audit, until)
	require.Empty(t, first.Results)
	require.True(t, first.HasMore)
	second := e.page(audit, until, "cursor="+first.NextCursor)
	require.Empty(t, second.Results)
	require.True(t, second.HasMore)
	third := e.page(audit, until, "cursor="+second.NextCursor)
	require.Equal(t, []string{id + "-0000"}, it.Texts(third.Results, "id"))
	require.False(t, third.HasMore)
}

// TestADamagedItemHoldsUpNoPage: an event in its place says that it is damaged, and what comes after is shown.
func TestADamagedItemHoldsUpNoPage(t *testing.T) {
	d := it.NewClient(t)
	e, engine := newExporter(d), it.EngineOf(t, d.Stack)
	changes(d)
	for second := range 2 {
		at := time.Now().Add(time.Duration(second-2) * time.Second)
		putPack(d, at, entryAt(at, 200))
	}
	for _, log := range []string{audit, security, requests} {
		before := e.all(log, 1000)
		require.Greater(t, len(before), 1, log)
		first := before[0]
		at, err := wire.ParseTime(first.Text("occurred_at"))
		require.NoError(t, err)
		id := first.ID()[:len(uuid.Nil.String())]
		key := map[string]table.Key{
			audit:    change.Record{ID: id, Org: d.Org, At: at}.Key(),
			security: tenancy.SecurityEvent{ID: id, Org: d.Org, At: at, Action: first.Text("action")}.Key(),
			requests: requestlog.Pack{ID: id, Org: d.Org, At: at.Time}.Key(),
		}[log]
		engine.PutBroken(t, table.Item{Key: key})
		shown := e.all(log, 1)
		require.Equal(t, object{"action": "unknown", "reason": "damaged", "occurred_at": first["occurred_at"]},
			it.Pick(shown[0], "action", "reason", "occurred_at"), log)
		require.Equal(t, before[1:], shown[1:], log)
	}
}
