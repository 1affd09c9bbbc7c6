// Package ratelimit counts requests by token and bucket in fixed windows
// (spec.md section 8, design.md section 5) and says what the headers of an
// answer tell about it. Which bucket a route is counted in stands in its group.
package ratelimit

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Bucket is what is counted together: a row of spec.md section 8.
type Bucket string

// The buckets.
const (
	// None is for routes without a limit.
	None                  Bucket = "none"
	EntityReads           Bucket = "entity_reads"
	SessionWrites         Bucket = "session_writes"
	AccountWrites         Bucket = "account_writes"
	SchemaWrites          Bucket = "schema_writes"
	TranscriptionWrites   Bucket = "transcription_writes"
	MediaWrites           Bucket = "media_writes"
	EventManagementWrites Bucket = "event_management_writes"
	AwardWrites           Bucket = "award_writes"
	Insights              Bucket = "insights"
	LogExport             Bucket = "log_export"

	// dailyWrites is counted beside the bucket of a route, by TakeDay.
	dailyWrites Bucket = "daily_writes"
)

// The limit of a bucket of a token: so many requests in so long.
const (
	Requests = 100
	Window   = 15 * time.Minute
)

const (
	// logRequests and logWindow are those of LogExport, which no custom limit
	// changes.
	logRequests = 60
	logWindow   = time.Minute

	// day is the window of TakeDay.
	day = 24 * time.Hour
)

// rule is the limit of a token in a bucket, for a window of whole seconds.
type rule struct {
	limit, window int64
	// singly has each request counted in the table, and none leased ahead.
	singly bool
}

func ruleOf(t tenancy.Token, b Bucket) rule {
	switch {
	case b == LogExport:
		return rule{limit: logRequests, window: int64(logWindow / time.Second)}
	case t.Limit > 0:
		return rule{limit: t.Limit, window: int64(Window / time.Second)}
	}
	return rule{limit: Requests, window: int64(Window / time.Second)}
}

// Limiter counts in the table; one serves a process.
type Limiter struct {
	table  *table.Table
	now    func() time.Time
	log    *slog.Logger
	memory memory
}

// New makes a Limiter.
func New(t *table.Table, now func() time.Time, log *slog.Logger) *Limiter {
	return &Limiter{table: t, now: now, log: log, memory: memory{counts: map[slot]*count{}}}
}

// Verdict is what the limiter says about one request. Its zero value is that of
// a request that is not limited.
type Verdict struct {
	// Limited is whether the request was counted at all.
	Limited bool
	// Allowed is whether it may be served.
	Allowed bool
	// Limit is the number of requests a window, Remaining how many are left. What
	// processes have leased does not count as left.
	Limit, Remaining int64
	// Reset is when the window ends, in Unix seconds; Wait is the time until
	// then and Window its whole length, in seconds.
	Reset, Wait, Window int64

	bucket Bucket
}

// Header gives the headers of an answer: those of spec.md section 8, those of
// the IETF draft "RateLimit header fields for HTTP", and Retry-After for a
// request that is not allowed. It is empty for one that is not limited.
func (v Verdict) Header() http.Header {
	h := http.Header{}
	if !v.Limited {
		return h
	}
	for name, n := range map[string]int64{"RateLimit-Limit": v.Limit, "RateLimit-Remaining": v.Remaining, "RateLimit-Reset": v.Reset} {
		h.Set(name, strconv.FormatInt(n, 10))
	}
	h.Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", v.bucket, v.Remaining, v.Wait))
	h.Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", v.bucket, v.Limit, v.Window))
	if !v.Allowed {
		h.Set("Retry-After", strconv.FormatInt(v.Wait, 10))
	}
	return h
}

// Take counts one request of a token in a bucket and says whether it may be
// served. When the table fails, this process counts by itself: a limiter that is
// down refuses nobody who is within their limit.
func (l *Limiter) Take(ctx context.Context, token tenancy.Token, b Bucket) Verdict {
	if b == None {
		return Verdict{Allowed: true}
	}
	r := ruleOf(token, b)
	now := l.now()
	return l.take(ctx, slotAt(token.ID, b, r, now), r, now)
}

// TakeDay counts one write of a token on this day in UTC, of which it has limit,
// and fails open as Take does.
func (l *Limiter) TakeDay(ctx context.Context, token tenancy.Token, limit int64) Verdict {
	r := rule{limit: limit, window: int64(day / time.Second), singly: true}
	now := l.now()
	return l.take(ctx, slot{token: token.ID, bucket: dailyWrites, start: now.Truncate(day).Unix()}, r, now)
}

// take counts one request in a slot: in the lease of this process, or in the table.
func (l *Limiter) take(ctx context.Context, s slot, r rule, now time.Time) Verdict {
	if total, ok := l.memory.use(s, r.limit); ok {
		return s.verdict(r, now, total)
	}
	if l.memory.refuses(s, r.limit, now) {
		return s.verdict(r, now, r.limit+1)
	}
	n, err := l.lease(ctx, s, r)
	if err != nil {
		l.log.WarnContext(ctx, "rate limiter failed open", "metric", "ratelimit_failed_open",
			"bucket", s.bucket, "token", s.token, "error", err)
		return s.verdict(r, now, l.memory.add(s, r.limit))
	}
	if n > r.limit {
		l.memory.refuse(s, r.limit, now)
	}
	return s.verdict(r, now, n)
}

// leases is how many parts of what remains in a window are leased one by one: a process
// holds back a thousandth at most, and the last thousand requests are counted singly. So
// are all writes of a day: a process that ends loses its lease, and a day has many.
const leases = 1000

// lease counts a request in the table, and further ones ahead while many remain. It
// gives the table's count, above the limit when none remains.
func (l *Limiter) lease(ctx context.Context, s slot, r rule) (int64, error) {
	n := min(l.memory.known(s, r.limit), r.limit-1)
	for n < r.limit {
		by := (r.limit - n + leases - 1) / leases
		if r.singly {
			by = 1
		}
		counted, ok, err := l.table.AddWithin(ctx, s.key(), by, r.limit, s.end(r)+grace)
		if err != nil {
			return 0, err
		}
		if ok {
			l.memory.lease(s, r.limit, by-1, counted)
			return counted, nil
		}
		n = counted // More than was known, or all.
	}
	return r.limit + 1, nil
}

// grace keeps a count for a while after its window, in seconds, for processes
// whose clock is behind.
const grace = 60

// slot is one window of one bucket of a token.
type slot struct {
	token  int64
	bucket Bucket
	start  int64
}

// slotAt finds the window that now is in. Windows begin at a moment that
// depends on the token, so that not all limits are renewed at once.
func slotAt(token int64, b Bucket, r rule, now time.Time) slot {
	h := fnv.New32a()
	fmt.Fprint(h, token)
	shift := int64(h.Sum32()) % r.window
	passed := (now.Unix() - shift) % r.window
	return slot{token: token, bucket: b, start: now.Unix() - passed}
}

func (s slot) end(r rule) int64 { return s.start + r.window }

// key is where the slot's count stands:
//
//	PK                              SK
//	L#<token>#<bucket>#<window>     -    with TTL
func (s slot) key() table.Key {
	return table.Key{PK: fmt.Sprintf("L#%d#%s#%d", s.token, s.bucket, s.start), SK: "-"}
}

// verdict is that of a request when n are counted in the slot.
func (s slot) verdict(r rule, now time.Time, n int64) Verdict {
	return Verdict{
		Limited: true, Allowed: n <= r.limit,
		Limit: r.limit, Remaining: max(r.limit-n, 0),
		Reset: s.end(r), Wait: max(s.end(r)-now.Unix(), 1), Window: r.window,
		bucket: s.bucket,
	}
}
