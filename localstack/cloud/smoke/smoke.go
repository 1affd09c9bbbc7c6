// Package smoke checks a deployed region after a deployment: the API, the table, the roles and
// the settings in AWS. It works in an organization of its own, which it disables at the end. Read
// smoke.go first, then checks.go, run.go and call.go; the other files hold the checks by subject.
package smoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lectern/localstack/cloud/preflight"
	"lectern/localstack/cloud/target"
)

// patience limits all checks together, cleanupTime the end after them.
const patience, cleanupTime = 6 * time.Minute, time.Minute

// State is the result of a check.
type State string

// The states of a result. LeftOut is for a check that the target or the credentials do not allow.
const (
	OK      State = "ok"
	Failed  State = "failed"
	LeftOut State = "left out"
)

// Result holds the result of a check.
type Result struct {
	State State
	// Name names the check.
	Name string
	// Text has what was seen, or the reason for a failure or for leaving the check out.
	Text string
}

// check is a check of a region.
type check struct {
	// name names the check, shows what the check shows, for the list of checks.
	name, shows string
	// onAWS is the reason why an emulator cannot show it; empty for a check of any target.
	onAWS string
	// run returns what was seen.
	run func(*run, context.Context) (string, error)
}

// leftOut is the error of a check that was left out: its text is the reason.
type leftOut string

// Error returns the reason.
func (reason leftOut) Error() string { return string(reason) }

// Options says what to check.
type Options struct {
	Region target.Region
	// Made is the configuration that the deployment was made with.
	Made preflight.Deployment
	// Unshown does the checks that an emulator cannot show, on an emulator too, and no others. So a
	// test notices when an emulator can show one.
	Unshown bool
}

// Run does all checks of a region, prints a line for each, and returns the results. The error is
// about the preparation: an operator's function that does not answer leaves nothing to check.
func Run(ctx context.Context, w io.Writer, o Options) ([]Result, error) {
	r, err := newRun(ctx, o)
	if err != nil {
		return nil, err
	}
	p := printer{w: w}
	p.line("%s at %s\n", o.Made.At.Name, o.Region.URL)
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.begin(within); err != nil {
		return nil, errors.Join(fmt.Errorf("smoke: prepare the organization: %w", err), r.cleanup(ctx))
	}
	p.line("working in the new organization %d\n", r.org)
	var results []Result
	for _, c := range checks {
		if o.Unshown && c.onAWS == "" {
			continue
		}
		results = append(results, r.check(within, c))
		p.result(results[len(results)-1])
	}
	ended := Result{OK, "cleanup", fmt.Sprintf("organization %d is disabled and its tokens are revoked. What stays: the organization with "+
		"its member and event, and %d deleted sessions, which maintenance purges after 30 days", r.org, r.written.Load())}
	if err := r.cleanup(ctx); err != nil {
		ended = Result{Failed, "cleanup", err.Error()}
	}
	results = append(results, ended)
	p.result(ended)
	p.line("%d ok, %d failed, %d left out, in %.0f s; %s\n", Count(results, OK), Count(results, Failed), Count(results, LeftOut),
		time.Since(r.began).Seconds(), r.estimate())
	return results, p.err
}

// cleanup ends the work of a run, also after the end of ctx.
func (r *run) cleanup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	return r.end(ctx)
}

// check does a check and returns its result.
func (r *run) check(ctx context.Context, c check) Result {
	if r.Region.Endpoint != "" && c.onAWS != "" && !r.Unshown {
		return Result{LeftOut, c.name, "not on an emulator: " + c.onAWS}
	}
	text, err := c.run(r, ctx)
	reason := leftOut("")
	switch {
	case errors.As(err, &reason):
		return Result{LeftOut, c.name, string(reason)}
	case err != nil:
		return Result{Failed, c.name, fmt.Sprintf("%s (%s)", strings.ReplaceAll(err.Error(), "\n", "; "), c.shows)}
	default:
		return Result{OK, c.name, text}
	}
}

// Count returns the number of results in a state.
func Count(results []Result, state State) (n int) {
	for _, r := range results {
		if r.State == state {
			n++
		}
	}
	return n
}

// printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

// line writes a line.
func (p *printer) line(format string, values ...any) {
	if _, err := fmt.Fprintf(p.w, format, values...); err != nil && p.err == nil {
		p.err = fmt.Errorf("smoke: print the results: %w", err)
	}
}

// result writes the line of a result.
func (p *printer) result(r Result) { p.line("%-8s %s: %s\n", r.State, r.Name, r.Text) }
