package smoke

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
	"github.com/stretchr/testify/require"

	"lectern/infra/config"
	"lectern/localstack/cloud/preflight"
	"lectern/localstack/cloud/target"
)

// account stands for AWS and the API in checks that no emulator shows. It has the answers by the
// names of calls, and refuses all other calls.
type account map[string]http.HandlerFunc

// ServeHTTP answers a call. A call of IAM has its name in the form, one of DynamoDB in a header,
// and any other in the path.
func (a account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, name, _ = strings.Cut(target, ".")
	} else if action := r.FormValue("Action"); action != "" {
		name = action
	}
	answer, known := a[name]
	if !known {
		refuse(w, r)
		return
	}
	answer(w, r)
}

// refuse answers a call that the credentials do not allow, in the protocol of its client.
func refuse(w http.ResponseWriter, r *http.Request) {
	const code = "AccessDeniedException"
	text := []byte(`{"__type": "` + code + `", "message": "not allowed"}`)
	w.Header().Set("X-Amzn-Errortype", code)
	if protocol := r.Header.Get("Smithy-Protocol"); protocol != "" {
		w.Header().Set("Smithy-Protocol", protocol)
		text = cbor.Encode(cbor.Map{"__type": cbor.String(code)})
	}
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write(text)
}

// says returns an answer with a text.
func says(format string, values ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, format, values...) }
}

// on returns a run on an account.
func (a account) on(t *testing.T) *run {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	const name, at = "lectern-us", "us-east-1"
	r, err := newRun(t.Context(), Options{
		target.Region{URL: server.URL, Operator: name + "-operator", Table: name, AWSRegion: at, Endpoint: server.URL},
		preflight.Deployment{Config: &config.Config{ThrottleRate: 500, ThrottleBurst: 1000}, At: config.Region{Name: "us", AWSRegion: at}}, false,
	})
	require.NoError(t, err)
	return r
}

// does runs a check as on AWS.
func does(t *testing.T, a account, run func(*run, context.Context) (string, error)) Result {
	t.Helper()
	return a.on(t).check(t.Context(), check{name: "it", shows: "something", run: run})
}

// need requires a state and a part of the text.
func need(t *testing.T, state State, part string, got Result) {
	t.Helper()
	require.Equal(t, state, got.State, got.Text)
	require.Contains(t, got.Text, part)
	require.NotContains(t, got.Text, "\n", "a result is one line")
}

func TestEveryCheckHasAName(t *testing.T) {
	names := map[string]bool{}
	for _, c := range checks {
		require.False(t, names[c.name], c.name)
		require.NotEmpty(t, c.shows, c.name)
		names[c.name] = true
	}
	require.GreaterOrEqual(t, len(checks), 30)
}

func TestRecoveryIsForAllDays(t *testing.T) {
	const form = `{"ContinuousBackupsDescription": {"PointInTimeRecoveryDescription": ` +
		`{"PointInTimeRecoveryStatus": %q, "RecoveryPeriodInDays": %d}}}`
	of := func(status string, days int) account {
		return account{"DescribeContinuousBackups": says(form, status, days)}
	}
	need(t, OK, "35 days", does(t, of("ENABLED", 35), (*run).recovery))
	need(t, Failed, "for 20 days instead of 35", does(t, of("ENABLED", 20), (*run).recovery))
	need(t, Failed, "is DISABLED", does(t, of("DISABLED", 35), (*run).recovery))
}

// TestWhatTheCredentialsMayNotIsLeftOut: not a failure of the deployment.
func TestWhatTheCredentialsMayNotIsLeftOut(t *testing.T) {
	for action, check := range map[string]func(*run, context.Context) (string, error){
		"dynamodb:DescribeContinuousBackups": (*run).recovery, "dynamodb:DescribeTimeToLive": (*run).expiry,
		"dynamodb:DescribeTable": (*run).leadingKeys, "lambda:GetFunctionConfiguration": (*run).functions,
		"cloudwatch:DescribeAlarms": (*run).alarms, "events:DescribeRule": (*run).rules,
	} {
		need(t, LeftOut, "the credentials may not "+action, does(t, account{}, check))
	}
}

// tableWith returns a description of the table with a key.
func tableWith(key string) http.HandlerFunc {
	return says(`{"Table": {"TableArn": "arn:aws:dynamodb:us-east-1:111122223333:table/lectern-us", "SSEDescription": {%s}}}`, key)
}

// deciding answers simulations by a decision on the form.
func deciding(allows func(r *http.Request) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		decision := "implicitDeny"
		if allows(r) {
			decision = "allowed"
		}
		fmt.Fprintf(w, `<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult><EvaluationResults><member>`+
			`<EvalActionName>%s</EvalActionName><EvalDecision>%s</EvalDecision></member></EvaluationResults>`+
			`</SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>`, r.FormValue("ActionNames.member.1"), decision)
	}
}

// leads decides as the roles of infra do.
func leads(r *http.Request) bool {
	action, role := r.FormValue("ActionNames.member.1"), r.FormValue("PolicySourceArn")
	writes := strings.HasSuffix(role, "sessionwrites")
	switch {
	case action == "dynamodb:Scan" || strings.HasSuffix(role, "root") || action == "dynamodb:PutItem" && !writes:
		return false
	case strings.HasSuffix(r.FormValue("ResourceArns.member.1"), "-other"):
		return false
	}
	for i := 1; ; i++ {
		key := r.FormValue(fmt.Sprintf("ContextEntries.member.1.ContextKeyValues.member.%d", i))
		if key == "" {
			return true
		}
		if !strings.HasPrefix(key, "O#") {
			return false
		}
	}
}

// roles answers the configuration of any function with a role of its name.
func roles(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, `{"Role": "arn:aws:iam::111122223333:role/%s"}`, path.Base(path.Dir(r.URL.Path)))
}

func TestRolesAreSimulatedWithKeys(t *testing.T) {
	a := account{"DescribeTable": tableWith(""), "configuration": roles, "SimulatePrincipalPolicy": deciding(leads)}
	need(t, OK, "alone", does(t, a, (*run).leadingKeys))
	need(t, LeftOut, "customerKey is off", does(t, a, (*run).ownKey))
	a["SimulatePrincipalPolicy"] = deciding(func(*http.Request) bool { return true })
	need(t, Failed, "dynamodb:PutItem with map[dynamodb:LeadingKeys:[R#org]] is allowed", does(t, a, (*run).leadingKeys))
}

func TestTheKeyIsSimulatedWithServiceAndAlias(t *testing.T) {
	value := func(r *http.Request, key string) (value, kind string) {
		for i := 1; i <= 2; i++ {
			entry := fmt.Sprintf("ContextEntries.member.%d.", i)
			if r.FormValue(entry+"ContextKeyName") == key {
				return r.FormValue(entry + "ContextKeyValues.member.1"), r.FormValue(entry + "ContextKeyType")
			}
		}
		return "", ""
	}
	a := account{"DescribeTable": tableWith(`"KMSMasterKeyArn": "arn:aws:kms:us-east-1:111122223333:key/1"`), "configuration": roles}
	a["SimulatePrincipalPolicy"] = deciding(func(r *http.Request) bool {
		through, kind := value(r, service)
		alias, kinds := value(r, aliases)
		return r.FormValue("ActionNames.member.1") == "kms:Decrypt" && through == "dynamodb.us-east-1.amazonaws.com" &&
			alias == "alias/lectern-us" && kind == "string" && kinds == "stringList"
	})
	need(t, OK, "alias alone", does(t, a, (*run).ownKey))
	a["SimulatePrincipalPolicy"] = deciding(func(r *http.Request) bool { return r.FormValue("ActionNames.member.1") == "kms:Decrypt" })
	need(t, Failed, "alias/other", does(t, a, (*run).ownKey))
}

// alarmsIn answers DescribeAlarms with an alarm in each state.
func alarmsIn(states ...string) http.HandlerFunc { return alarmsOf("busy", states...) }

// alarmsOf answers with alarms of a name in these states.
func alarmsOf(name string, states ...string) http.HandlerFunc {
	list := cbor.List{}
	for _, state := range states {
		list = append(list, cbor.Map{"AlarmName": cbor.String("lectern-us-" + name), "StateValue": cbor.String(state)})
	}
	return alarmsAs(list)
}

// silent answers with an alarm on missing values, deployed and raised that long ago, with the values that it
// has seen.
func silent(missing string, age, raised time.Duration, values string) http.HandlerFunc {
	return alarmsAs(cbor.List{cbor.Map{
		"AlarmName": cbor.String("lectern-us-sweeper-silent"), "StateValue": cbor.String("ALARM"), "TreatMissingData": cbor.String(missing),
		"AlarmConfigurationUpdatedTimestamp": &cbor.Tag{ID: 1, Value: cbor.Float64(time.Now().Add(-age).Unix())},
		"StateTransitionedTimestamp":         &cbor.Tag{ID: 1, Value: cbor.Float64(time.Now().Add(-raised).Unix())},
		"StateReasonData":                    cbor.String(`{"version": "1.0", "period": 300, "recentDatapoints": ` + values + `, "threshold": 1.0}`),
	}})
}

// alarmsAs answers with a list of alarms.
func alarmsAs(list cbor.List) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		_, _ = w.Write(cbor.Encode(cbor.Map{"MetricAlarms": list}))
	}
}

func TestARaisedAlarmFails(t *testing.T) {
	need(t, OK, "1 are ok, 2 have no data yet",
		does(t, account{"DescribeAlarms": alarmsIn("OK", "INSUFFICIENT_DATA", "INSUFFICIENT_DATA")}, (*run).alarms))
	need(t, Failed, "raised: lectern-us-busy", does(t, account{"DescribeAlarms": alarmsIn("OK", "ALARM")}, (*run).alarms))
	need(t, OK, "none is raised", does(t, account{"DescribeAlarms": alarmsOf("operator-used", "OK", "ALARM")}, (*run).alarms))
	need(t, Failed, "no alarm begins with lectern-us-", does(t, account{"DescribeAlarms": alarmsIn()}, (*run).alarms))
}

// TestAnAlarmOnMissingValuesIsNotRaisedByADeployment: sweeper-silent looks at ten minutes, in which
// nothing ran before the first deployment. A value that raises it counts at once.
func TestAnAlarmOnMissingValuesIsNotRaisedByADeployment(t *testing.T) {
	of := func(answer http.HandlerFunc) Result { return does(t, account{"DescribeAlarms": answer}, (*run).alarms) }
	need(t, OK, "lectern-us-sweeper-silent is new and looks at minutes before the deployment: look again at ",
		of(silent("breaching", time.Minute, time.Minute, "[]")))
	need(t, OK, "look again at ", of(silent("breaching", 14*time.Minute, 0, "[4.0, null]")))
	for _, raised := range []http.HandlerFunc{
		silent("breaching", 16*time.Minute, 0, "[]"), silent("breaching", time.Minute, 0, "[0.0]"),
		silent("notBreaching", time.Minute, 0, "[]"), silent("breaching", time.Minute, time.Hour, "[]"),
	} {
		need(t, Failed, "raised: lectern-us-sweeper-silent", of(raised))
	}
}

// TestThePathOutsideIsOfNoStage, although a stage may be called as the first part of the API's paths.
func TestThePathOutsideIsOfNoStage(t *testing.T) {
	r := account{}.on(t)
	host := r.Region.URL
	for _, stage := range []string{"live", "v1"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/"+stage+"/") {
				w.WriteHeader(http.StatusForbidden)
			}
		}))
		t.Cleanup(server.Close)
		r.Region.URL = server.URL + "/" + stage
		seen, err := r.outside(t.Context())
		require.NoError(t, err, stage)
		require.Equal(t, "403 ", seen)
	}
	r.Region.URL = host
	_, err := r.outside(t.Context())
	require.ErrorContains(t, err, "at the root of its host")
}

// logged answers FilterLogEvents with empty pages and a last page with a line. It has a token for each
// next page.
func logged(empty int, line string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ NextToken string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			panic(err)
		}
		n, _ := strconv.Atoi(in.NextToken)
		if n < empty {
			fmt.Fprintf(w, `{"events": [], "nextToken": "%d"}`, n+1)
			return
		}
		fmt.Fprintf(w, `{"events": [{"message": %q}]}`, line)
	}
}

// TestTheLogIsReadToItsLastPage: in a busy region, CloudWatch answers with pages that are empty.
func TestTheLogIsReadToItsLastPage(t *testing.T) {
	settings := says(`{"LoggingConfig": {"LogGroup": "/lectern/us/api"}}`)
	r := account{"configuration": settings, "FilterLogEvents": logged(12, `{"msg": "request"}`)}.on(t)
	r.lastRequest = "abc"
	seen, err := r.arrival(t.Context())
	require.NoError(t, err)
	require.Equal(t, "the line of request abc is in /lectern/us/api", seen)
	seen, err = r.lines(t.Context())
	require.NoError(t, err)
	require.Equal(t, "1 lines of functions and 0 of Lambda, no others", seen)

	r = account{"configuration": settings, "FilterLogEvents": logged(12, "panic: out of memory")}.on(t)
	_, err = r.lines(t.Context())
	require.EqualError(t, err, "/lectern/us/api has the line panic: out of memory")

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	endless := account{"configuration": settings, "FilterLogEvents": logged(1<<30, "")}.on(t)
	endless.lastRequest = "abc"
	_, err = endless.arrival(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// driven is an account in which everything that invokes a worker is on.
func driven() account {
	mapping := says(`{"EventSourceMappings": [{"State": "Enabled", "LastProcessingResult": "OK"}]}`)
	return account{
		"event-source-mappings": mapping, "configuration": says(`{"LoggingConfig": {"LogGroup": "/lectern/us/api"}}`),
		"lectern-us-sweeper":          says(`{"State": "ENABLED"}`),
		"DescribeSubscriptionFilters": says(`{"subscriptionFilters": [{"filterName": "lectern-us-ingester"}]}`),
	}
}

// TestASourceThatIsOffFails: no alarm is raised when a reader of the stream, the schedule or the
// subscription of the log is off.
func TestASourceThatIsOffFails(t *testing.T) {
	need(t, OK, "those of all 6 are on", does(t, driven(), (*run).sources))
	for name, c := range map[string]struct{ answer, part string }{
		"event-source-mappings":       {`{"EventSourceMappings": [{"State": "Disabled"}]}`, `of lectern-us-publisher is "Disabled", its last result ""`},
		"lectern-us-sweeper":          {`{"State": "DISABLED"}`, "the schedule of lectern-us-sweeper is DISABLED"},
		"DescribeSubscriptionFilters": {`{"subscriptionFilters": []}`, "/lectern/us/api has 0 subscriptions of lectern-us-ingester"},
	} {
		a := driven()
		a[name] = says("%s", c.answer)
		need(t, Failed, c.part, does(t, a, (*run).sources))
		delete(a, name)
		need(t, LeftOut, "the credentials may not ", does(t, a, (*run).sources))
	}
	a := driven()
	for answer, part := range map[string]string{
		`[{"State": "Enabled", "LastProcessingResult": "PROBLEM: Function call failed"}]`: "Function call failed",
		`[]`: "lectern-us-publisher has 0 event source mappings",
	} {
		a["event-source-mappings"] = says(`{"EventSourceMappings": %s}`, answer)
		need(t, Failed, part, does(t, a, (*run).sources))
	}
	delete(a, "lectern-us-sweeper") // What may not be read hides no failure.
	a["event-source-mappings"] = says(`{"EventSourceMappings": [{"State": "Disabled"}]}`)
	need(t, Failed, `of lectern-us-publisher is "Disabled"`, does(t, a, (*run).sources))
}

// TestARuleThatIsOffFails: no alarm is raised when a rule sends nothing to its queue.
func TestARuleThatIsOffFails(t *testing.T) {
	as := func(state string) account { return account{"DescribeRule": says(`{"State": %q}`, state)} }
	need(t, OK, "all 3 are on", does(t, as("ENABLED"), (*run).rules))
	need(t, Failed, "the rule lectern-us-maintain is DISABLED", does(t, as("DISABLED"), (*run).rules))
}

// TestAChangeThatIsNotWorkedOnFails, and so does a request that is refused.
func TestAChangeThatIsNotWorkedOnFails(t *testing.T) {
	asked := 0
	answering := func(status string) account {
		return account{"requests": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
				return
			}
			asked++
			_, _ = fmt.Fprintf(w, `{"results": [{"status":%q}]}`, status)
		}}
	}
	need(t, OK, "a data request was completed after ", does(t, answering("completed"), (*run).worked))
	require.Equal(t, 1, asked)
	need(t, Failed, "POST /v1/gdpr/requests answers", does(t, account{"requests": says("{}")}, (*run).worked))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := answering("pending").on(t).worked(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestAnswersToLargeBodiesAreShown: any refusal is one, and the text tells which server refused.
func TestAnswersToLargeBodiesAreShown(t *testing.T) {
	refusing := func(status int) account {
		return account{"bulk": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("X-Amzn-Errortype", "BadRequestException")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "HTTP content length exceeded\n10485760 bytes.")
		}}
	}
	need(t, OK, "11010048 bytes are answered with 413 HTTP content length exceeded 10485760 bytes., with X-Amzn-Errortype",
		does(t, refusing(413), (*run).sizeOfGateway))
	need(t, Failed, "5242880 bytes are answered with 502", does(t, refusing(502), (*run).sizeOfAPI))
}

// TestTheStageIsFoundFromTheAddress of AWS, of a domain and of an emulator.
func TestTheStageIsFoundFromTheAddress(t *testing.T) {
	a := account{"basepathmappings": says(`{"item": [{"restApiId": "abc", "stage": "live"}]}`)}
	r := a.on(t)
	for _, url := range []string{
		"https://abc.execute-api.us-east-1.amazonaws.com/live", "https://api.example.org",
		"http://127.0.0.1:4566/restapis/abc/live/_user_request_",
	} {
		r.Region.URL = url
		api, stage, err := r.address(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"abc", "live"}, []string{api, stage}, url)
	}
	r.Region.URL = "https://abc.execute-api.us-east-1.amazonaws.com/live"
	a["live"] = says(`{"methodSettings": {"*/*": {"throttlingRateLimit": 500, "throttlingBurstLimit": 5000}}}`)
	_, err := r.stage(t.Context())
	require.ErrorContains(t, err, "allows 500 a second and 5000 at once, and the configuration 500 and 1000")
	a["live"] = says(`{"methodSettings": {"*/*": {"throttlingRateLimit": 500, "throttlingBurstLimit": 1000}}}`)
	_, err = r.stage(t.Context())
	require.NoError(t, err)
}

// TestWithoutAnOperatorThereIsNothingToCheck: no line of a check is printed.
func TestWithoutAnOperatorThereIsNothingToCheck(t *testing.T) {
	var out strings.Builder
	_, err := Run(t.Context(), &out, account{}.on(t).Options)
	require.ErrorContains(t, err, "smoke: prepare the organization: organization-create")
	require.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
}
