package smoke

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"lectern/functions"
	"lectern/shared/auth"
)

// ownLimit is the limit of the token of the checks: more requests than the checks send.
const ownLimit = 100_000

// run is a run of the checks on a region.
type run struct {
	Options
	config aws.Config
	client *http.Client
	began  time.Time

	// org, member and event are the ids of the organization of this run, token its token.
	org, member, event int64
	token              string
	// tokens are the ids of the tokens to revoke, sessions those of the sessions to delete.
	tokens   []int64
	sessions []string

	// lastRequest is the request id of the last answer of the function sessions, and lastAnswer
	// the time of that answer.
	lastRequest string
	lastAnswer  time.Time
	// sent and received count requests and bytes of answers, written the created records.
	sent, received, written atomic.Int64
}

// newRun returns a run without an organization.
func newRun(ctx context.Context, o Options) (*run, error) {
	config, err := o.Region.Config(ctx)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: together, IdleConnTimeout: 2 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &run{Options: o, config: config, client: client, began: time.Now()}, nil
}

// begin creates the organization with a member, an event and a token.
func (r *run) begin(ctx context.Context) (err error) {
	if r.org, err = r.create(ctx, "organization-create", object{"name": "Smoke " + r.began.UTC().Format(time.RFC3339)}); err != nil {
		return err
	}
	r.member, err = r.create(ctx, "member-create", object{"org_id": r.org, "name": "Smoke", "email": "smoke@example.org", "role": "admin"})
	if err != nil {
		return err
	}
	r.event, err = r.create(ctx, "event-create", object{"org_id": r.org, "name": "Smoke", "timezone": "UTC",
		"starts_at": "2030-05-01T08:00:00Z", "ends_at": "2030-05-03T18:00:00Z"})
	if err != nil {
		return err
	}
	r.token, _, err = r.newToken(ctx, ownLimit, auth.APIScopes...)
	return err
}

// end deletes the sessions, revokes the tokens and disables the organization. It does each step
// even after the failure of another.
func (r *run) end(ctx context.Context) error {
	if r.org == 0 {
		return nil
	}
	err := r.deleteSessions(ctx)
	for _, id := range r.tokens {
		err = errors.Join(err, r.operate(ctx, "token-revoke", object{"org_id": r.org, "token_id": id}, nil))
	}
	return errors.Join(err, r.operate(ctx, "organization-update", object{"org_id": r.org, "disabled": true}, nil))
}

// newToken creates a token with a limit, and returns its text and its id.
func (r *run) newToken(ctx context.Context, limit int, scopes ...auth.Scope) (text string, id int64, err error) {
	var made struct {
		ID    int64
		Token string
	}
	err = r.operate(ctx, "token-create",
		object{"org_id": r.org, "user_id": r.member, "name": "Smoke", "scopes": scopes, "limit": limit}, &made)
	if made.ID != 0 {
		r.tokens = append(r.tokens, made.ID)
	}
	return made.Token, made.ID, err
}

// create does an operator's command and returns the id of the created record.
func (r *run) create(ctx context.Context, command string, input object) (int64, error) {
	var made struct{ ID int64 }
	err := r.operate(ctx, command, input, &made)
	return made.ID, err
}

// operate does an operator's command and decodes the answer, unless into is nil.
func (r *run) operate(ctx context.Context, command string, input object, into any) error {
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	answer, err := r.Region.Do(ctx, command, text)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// names returns the names of the functions of every region in AWS.
func (r *run) names() (all []string) {
	for _, name := range functions.Always() {
		all = append(all, r.function(name))
	}
	return all
}

// function returns the name of a function in AWS.
func (r *run) function(name string) string { return r.prefix() + "-" + name }

// prefix returns the start of the names of the region's resources, the operator's function among
// them.
func (r *run) prefix() string { return strings.TrimSuffix(r.Region.Operator, "-"+functions.Operator) }

// unread returns the error of a call to AWS. A call that the credentials do not allow leaves the
// check out.
func unread(action string, err error) error {
	refused := smithy.APIError(nil)
	if errors.As(err, &refused) && strings.Contains(refused.ErrorCode(), "AccessDenied") {
		return leftOut("the credentials may not " + action)
	}
	return fmt.Errorf("%s: %w", action, err)
}

// unique returns a word that no other record has.
func unique() string { return "smoke" + strings.ToLower(rand.Text()) }

// Prices of the more expensive region, in US dollars (tools/cost), and the assumed units. The
// units are above the measured ones (docs/performance.md).
const (
	// perRequest is for a request of the gateway, an invocation of half a second with 512 MB,
	// and its lines in the logs.
	perRequest = 3.70e-6 + 0.20e-6 + 0.5*0.5*1.33334e-5 + 1000*0.63e-9
	// readUnit and writeUnit are for a unit of the table, perByte for a byte sent out.
	readUnit, writeUnit, perByte = 0.1525e-6, 0.7625e-6, 0.09e-9
	// readsEach is the number of read units of a request, writesEach the number of write units
	// of a record, which is created, changed and deleted.
	readsEach, writesEach = 20, 60
)

// estimate describes the cost of the run.
func (r *run) estimate() string {
	requests, records := float64(r.sent.Load()), float64(r.written.Load())
	dollars := requests*(perRequest+readsEach*readUnit) + records*(readsEach*readUnit+writesEach*writeUnit) +
		float64(r.received.Load())*perByte
	return fmt.Sprintf("%d requests and %d records cost about %.3f USD by list prices (estimated)", r.sent.Load(), r.written.Load(), dollars)
}
