// Package ratelimit counts requests by token and bucket in fixed windows, and makes the headers
// with the limit (spec.md section 8, design.md section 5). The groups declare the bucket of each
// route. Budget limits requests without a bucket.
//
// Read ratelimit.go, memory.go, budget.go.
package ratelimit

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Bucket is the name of a common count of several routes: a row of spec.md section 8.
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
	// Registrations is for applications that register themselves: of a client's address, not of a token.
	Registrations Bucket = "registrations"
	// SignIns is for sign-ins that browsers begin, also of a client's address.
	SignIns Bucket = "sign_ins"
	// Consents is for answers of members to applications: of a member, not of a token.
	Consents Bucket = "consents"

	// dailyWrites is counted beside the bucket of a route, by TakeDay.
	dailyWrites Bucket = "daily_writes"
)

// The default limit of a token in a bucket: Requests in each Window.
const (
	Requests = 100
	Window   = 15 * time.Minute
)

const (
	// logRequests and logWindow are the limit of LogExport. A custom limit does not change
	// LogExport.
	logRequests = 60
	logWindow   = time.Minute

	// day is the window of TakeDay.
	day = 24 * time.Hour
)

// rule is the limit of a token in a bucket. window is in seconds.
type rule struct {
	limit, window int64
	// singly counts each request in the table, and none in advance.
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

// Limiter counts requests in the table. A process has one Limiter.
type Limiter struct {
	table  *table.Table
	now    func() time.Time
	log    *slog.Logger
	memory memory
}

// New returns a Limiter.
func New(t *table.Table, now func() time.Time, log *slog.Logger) *Limiter {
	return &Limiter{table: t, now: now, log: log, memory: memory{counts: map[slot]*count{}}}
}

// Verdict is the decision of the limiter about a request.
type Verdict struct {
	// Limited reports whether the request was counted.
	Limited bool
	// Allowed reports whether the request may be served.
	Allowed bool
	// Limit is the number of requests in a window. Remaining is the number of requests left,
	// without the requests counted in advance.
	Limit, Remaining int64
	// Reset is the end of the window, in Unix seconds. Wait is the time until Reset, and
	// Window the length of the window, in seconds.
	Reset, Wait, Window int64

	bucket Bucket
}

// Header returns the headers of an answer: the headers of spec.md section 8, the headers of the
// IETF draft "RateLimit header fields for HTTP", and Retry-After for a refused request. It
// returns no headers for a request that is not limited.
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

// Take counts a request of a token in a bucket and returns the verdict. If the table fails, the
// request is counted only in this process: a failing table never refuses a request within the
// limit.
func (l *Limiter) Take(ctx context.Context, token tenancy.Token, b Bucket) Verdict {
	if b == None {
		return Verdict{Allowed: true}
	}
	r := ruleOf(token, b)
	now := l.now()
	return l.take(ctx, slotAt(token.ID, b, r, now), r, now)
}

// TakeDay counts a write of a token against its limit for the present day in UTC. If the table
// fails, TakeDay counts in this process, as Take does.
func (l *Limiter) TakeDay(ctx context.Context, token tenancy.Token, limit int64) Verdict {
	r := rule{limit: limit, window: int64(day / time.Second), singly: true}
	now := l.now()
	return l.take(ctx, slot{token: token.ID, bucket: dailyWrites, start: now.Truncate(day).Unix()}, r, now)
}

// take counts a request in a slot: from the advance of this process, or in the table.
func (l *Limiter) take(ctx context.Context, s slot, r rule, now time.Time) Verdict {
	if total, ok := l.memory.use(s, r.limit); ok {
		return s.verdict(r, now, total)
	}
	if l.memory.refuses(s, r.limit, now) {
		return s.verdict(r, now, r.limit+1)
	}
	n, err := l.count(ctx, s, r)
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

// parts is the number of parts into which the remaining requests of a window are divided. A
// process counts one part at a time in advance: at most a thousandth of the rest. The last
// thousand requests are counted one by one. The writes of a day are always counted one by one: a
// process that ends loses its advance, and in a day many processes end.
const parts = 1000

// count counts a request in the table. While many requests remain, it also counts further
// requests in advance. It returns the count in the table, or limit+1 if no request remains.
func (l *Limiter) count(ctx context.Context, s slot, r rule) (int64, error) {
	n := min(l.memory.known(s, r.limit), r.limit-1)
	for n < r.limit {
		by := (r.limit - n + parts - 1) / parts
		if r.singly {
			by = 1
		}
		counted, ok, err := l.table.AddWithin(ctx, s.key(), by, r.limit, s.end(r)+grace)
		if err != nil {
			return 0, err
		}
		if ok {
			l.memory.addAdvance(s, r.limit, by-1, counted)
			return counted, nil
		}
		n = counted // The count in the table is higher than the known count.
	}
	return r.limit + 1, nil
}

// grace is the time, in seconds, for which a count is kept after its window. Processes with a
// slow clock still use the count then.
const grace = 60

// slot is one window of a token in a bucket.
type slot struct {
	token  int64
	bucket Bucket
	start  int64
}

// slotAt returns the slot at the time now. The begin of the windows depends on the token, so that
// the limits of all tokens do not reset at the same time.
func slotAt(token int64, b Bucket, r rule, now time.Time) slot {
	h := fnv.New32a()
	fmt.Fprint(h, token)
	shift := int64(h.Sum32()) % r.window
	passed := (now.Unix() - shift) % r.window
	return slot{token: token, bucket: b, start: now.Unix() - passed}
}

func (s slot) end(r rule) int64 { return s.start + r.window }

// Keys are the patterns of the counts.
var Keys = []keys.Pattern{
	{Name: "rate limit", PK: "L#<token>#<bucket>#<window>", SK: "-", Expires: true, Personal: keys.Nothing},
}

// key returns the key of the slot's count.
func (s slot) key() table.Key {
	return table.Key{PK: fmt.Sprintf("L#%d#%s#%d", s.token, s.bucket, s.start), SK: "-"}
}

// verdict returns the verdict for a request after which the slot's count is n.
func (s slot) verdict(r rule, now time.Time, n int64) Verdict {
	return Verdict{
		Limited: true, Allowed: n <= r.limit,
		Limit: r.limit, Remaining: max(r.limit-n, 0),
		Reset: s.end(r), Wait: max(s.end(r)-now.Unix(), 1), Window: r.window,
		bucket: s.bucket,
	}
}
