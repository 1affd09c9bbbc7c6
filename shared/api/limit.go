package api

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"lectern/shared/apierr"
	"lectern/shared/ratelimit"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// limit asks the rate limiter. The request goes on meanwhile, as far as it only
// reads: its first write waits for the verdict.
func (x *exchange) limit() error {
	switch {
	case x.Scopes.Open():
		return nil
	case x.Bucket == ratelimit.None:
		err := x.afford()
		x.spends = err == nil
		return err
	}
	verdict := make(chan ratelimit.Verdict, 1)
	ctx, token := x.ctx, x.caller.Token
	go func() { verdict <- x.take(ctx, token) }()
	x.verdict = sync.OnceValue(func() ratelimit.Verdict { return <-verdict })
	x.ctx = table.Gated(x.ctx, x.refusal)
	return x.limitDay()
}

// afford refuses a request without a limit while its organization's budget of read units
// is used up.
func (x *exchange) afford() error {
	wait := x.budget.Wait(x.caller.Org.ID)
	if wait == 0 {
		return nil
	}
	refused := apierr.TooManyRequests("Your organization's searches read too much at a time. Please try again later.")
	refused.Header = http.Header{"Retry-After": {strconv.Itoa(int(wait.Seconds()))}}
	return refused
}

// charge charges a request without a limit, unless it was refused before it read.
func (x *exchange) charge() {
	if x.spends {
		_, _, rcu, _ := x.meter.Totals()
		x.budget.Charge(x.caller.Org.ID, rcu)
	}
}

// limitDay counts a request against the writes of its day. The headers tell
// about the day only when it is used up.
func (x *exchange) limitDay() error {
	if !x.daily || x.DailyWrites == 0 || !x.verdict().Allowed {
		return nil
	}
	if day := x.limiter.TakeDay(x.ctx, x.caller.Token, x.DailyWrites); !day.Allowed {
		x.verdict = func() ratelimit.Verdict { return day }
	}
	return x.refusal()
}

// take is the rate limiter's verdict. A panic in the limiter refuses nobody, as
// its other failures do not; outside of the request it would end the process.
func (x *exchange) take(ctx context.Context, token tenancy.Token) (v ratelimit.Verdict) {
	err := table.Safely(func() error {
		v = x.limiter.Take(ctx, token, x.Bucket)
		return nil
	})()
	if err != nil {
		x.Log.ErrorContext(ctx, "rate limiter panicked", "error", err)
		return ratelimit.Verdict{Allowed: true}
	}
	return v
}

// refusal waits for the rate limiter's verdict and gives the 429 if it is one.
func (x *exchange) refusal() error {
	if x.verdict == nil || x.verdict().Allowed {
		return nil
	}
	return apierr.TooManyRequests("Too many requests. Please try again later.")
}

// obey lets a 429 win over whatever else was found meanwhile.
func (x *exchange) obey() {
	if refusal := x.refusal(); refusal != nil {
		x.err = refusal
	}
}
