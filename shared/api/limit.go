package api

import (
	"context"
	"net/http"
	"strconv"

	"lectern/shared/apierr"
	"lectern/shared/ratelimit"
	"lectern/shared/table"
)

// pendingVerdict is a verdict of the rate limiter, which runs in parallel with the request.
type pendingVerdict struct {
	done    chan struct{}
	verdict ratelimit.Verdict
}

// wait returns the verdict.
func (p *pendingVerdict) wait() ratelimit.Verdict {
	<-p.done
	return p.verdict
}

// limit starts the rate limiter. The request may read in parallel; its first write waits for
// the verdict.
func (x *exchange) limit() error {
	switch {
	case !x.needsToken():
		return nil
	case x.Bucket == ratelimit.None:
		err := x.checkBudget()
		x.charged = err == nil
		return err
	}
	x.verdict = &pendingVerdict{done: make(chan struct{})}
	go x.take(x.ctx, x.verdict)
	x.ctx = table.Gated(x.ctx, x.refusal)
	return x.limitDay()
}

// checkBudget refuses a request without a rate limit while the organization's budget of read
// units is used up.
func (x *exchange) checkBudget() error {
	wait := x.budget.Wait(x.caller.Org.ID)
	if wait == 0 {
		return nil
	}
	refused := apierr.TooManyRequests("Your organization's searches have read too much recently. Please try again later.")
	refused.Header = http.Header{"Retry-After": {strconv.Itoa(int(wait.Seconds()))}}
	return refused
}

// charge charges the organization's budget with the read units of a request without a rate
// limit. A request that checkBudget refused is free.
func (x *exchange) charge() {
	if x.charged {
		_, _, rcu, _ := x.meter.Totals()
		x.budget.Charge(x.caller.Org.ID, rcu)
	}
}

// limitDay counts a request against the token's writes of the day. The headers of the answer
// describe the day only if its writes are used up.
func (x *exchange) limitDay() error {
	if !x.daily || x.DailyWrites == 0 || !x.verdict.wait().Allowed {
		return nil
	}
	if day := x.limiter.TakeDay(x.ctx, x.caller.Token, x.DailyWrites); !day.Allowed {
		x.verdict.verdict = day
	}
	return x.refusal()
}

// take asks the rate limiter. A failing limiter allows every request, so a panic allows the
// request too.
func (x *exchange) take(ctx context.Context, pending *pendingVerdict) {
	defer close(pending.done)
	err := table.Safely(func() error {
		pending.verdict = x.limiter.Take(ctx, x.caller.Token, x.Bucket)
		return nil
	})()
	if err != nil {
		x.Log.ErrorContext(ctx, "rate limiter panicked", "error", err)
		pending.verdict = ratelimit.Verdict{Allowed: true}
	}
}

// refusal waits for the verdict of the rate limiter and returns the 429, if the limit is
// exceeded.
func (x *exchange) refusal() error {
	if x.verdict == nil || x.verdict.wait().Allowed {
		return nil
	}
	return apierr.TooManyRequests("Too many requests. Please try again later.")
}

// preferRefusal replaces the answer or any other error with the 429.
func (x *exchange) preferRefusal() {
	if refusal := x.refusal(); refusal != nil {
		x.err = refusal
	}
}
