package batteries_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/tenancy"
)

// renewers renew the tokens of connections while the service is killed.
const renewers = 6

// repeats is how long an answer to a refresh can be had again, less the time of a request on a busy machine.
const repeats = 8 * time.Second

// TestKillConnections kills the service, its engine or both while applications renew their tokens, and starts them again. An application
// that repeats a request without an answer gets tokens, and a refresh token that was replaced before never gives any again.
func TestKillConnections(t *testing.T) {
	k := &renewing{service: built(t), r: it.Source(it.Seed(t), 0)}
	k.operate("organization-update", object{"ai_enabled": true})
	k.member = int64(k.operate("member-create", object{"name": "Ada", "email": "ada@example.org", "ai_access": true})["id"].(float64))
	all := make([]*renewer, renewers)
	for i := range all {
		all[i] = k.connect()
	}
	for round := range it.Size(10, 100) {
		k.round(round, all)
	}
	acknowledged := 0
	for _, one := range all {
		acknowledged += len(one.old)
		one.requireOneLiveToken()
	}
	t.Logf("%d renewals had an answer, %d had none and %d of these came too late to be repeated", acknowledged, k.doubts, k.late)
	require.Greater(t, acknowledged, k.doubts)
	require.Positive(t, k.doubts)
	require.LessOrEqual(t, 10*k.late, k.doubts, "more than a tenth of the renewals without an answer came too late to be repeated")
}

// renewing kills a service under applications.
type renewing struct {
	*service
	r      *rand.Rand
	member int64
	// The counts of all rounds.
	doubts, late int
}

// operate does a command about the organization.
func (k *renewing) operate(command string, input object) object {
	k.t.Helper()
	text, err := json.Marshal(it.Merged(object{"org_id": k.caller.Org}, input))
	require.NoError(k.t, err)
	answer, err := operator.New(k.env).Do(k.t.Context(), command, text)
	require.NoError(k.t, err)
	text, err = json.Marshal(answer)
	require.NoError(k.t, err)
	return it.DecodeObject(text)
}

// renewer is an application with a connection. old has the refresh tokens that were replaced.
type renewer struct {
	*renewing
	client          string
	access, refresh string
	old             []string
	// asked is when the application sent a request that had no answer.
	asked time.Time
}

// connect connects a new application.
func (k *renewing) connect() *renewer {
	k.t.Helper()
	store := tenancy.Store{Table: k.env.Table, Now: time.Now, Region: killedRegion}
	grants := grant.Store{Tenancy: store, Address: k.caller.URL, NewID: uuid.NewString}
	member := &tenancy.Member{OrgID: k.caller.Org, ID: k.member}
	app, tokens := granttest.Connected(k.t, grants, member, auth.ReadEvents)
	return &renewer{renewing: k, client: app.ID, access: tokens.AccessToken, refresh: tokens.RefreshToken}
}

// round kills the service while the applications renew their tokens, and lets each repeat its last request.
func (k *renewing) round(number int, all []*renewer) {
	k.t.Helper()
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		it.Concurrently(len(all), func(i int) {
			for all[i].renew() {
			}
		})
	}()
	time.Sleep(time.Duration(20+k.r.IntN(200)) * time.Millisecond)
	k.kill(number%killWays, time.Duration(k.r.IntN(50))*time.Millisecond)
	<-worked
	k.start()
	for i, one := range all {
		k.doubts++
		late := time.Since(one.asked) > repeats
		status := one.send(one.refresh)
		if late && status == http.StatusBadRequest {
			k.late++
			all[i] = k.connect() // Too late for the same answer: the service ends the connection.
			continue
		}
		require.Equal(k.t, http.StatusOK, status, "the application is locked out after %s", time.Since(one.asked))
		one.requireAccess(http.StatusOK)
	}
}

// renew renews the tokens, and reports whether there was an answer.
func (a *renewer) renew() bool {
	a.asked = time.Now()
	return a.send(a.refresh) == http.StatusOK
}

// send sends a refresh token, and returns the status; 0 without an answer.
func (a *renewer) send(refresh string) int {
	body := object{"grant_type": "refresh_token", "refresh_token": refresh, "client_id": a.client}
	answer, err := (&stacktest.Stack{URL: a.caller.URL}).Send(a.t, http.MethodPost, "/oauth/token", body)
	if err != nil {
		return 0
	}
	if answer.Status == http.StatusOK {
		tokens := answer.JSON(a.t)
		a.old = append(a.old, a.refresh)
		a.access, a.refresh = fmt.Sprint(tokens["access_token"]), fmt.Sprint(tokens["refresh_token"])
	}
	return answer.Status
}

// requireAccess checks the status of a request with the access token.
func (a *renewer) requireAccess(status int) {
	a.t.Helper()
	app := &stacktest.Stack{URL: a.caller.URL, Token: a.access}
	app.Call(a.t, status, http.MethodGet, "/v1/events", nil)
}

// requireOneLiveToken checks that a refresh token that was replaced gives nothing, and ends the connection.
func (a *renewer) requireOneLiveToken() {
	a.t.Helper()
	a.requireAccess(http.StatusOK)
	if len(a.old) > 1 {
		require.Equal(a.t, http.StatusBadRequest, a.send(a.old[len(a.old)-2]))
		a.requireAccess(http.StatusUnauthorized)
	}
}
