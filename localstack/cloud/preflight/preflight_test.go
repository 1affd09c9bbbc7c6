package preflight

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/localstack/cloud/target"
)

const (
	arn     = "arn:aws:acm:us-west-2:123456789012:certificate/1"
	edgeARN = "arn:aws:acm:us-east-1:123456789012:certificate/3"
)

// account is an AWS account as its APIs show it: JSON answers, empty for one that is refused.
type account struct {
	lambda, gateway, certificate, edges string
	// reserved has the instances that functions reserve, by their names.
	reserved map[string]int
}

// sound is an account with nothing to find.
func sound() account {
	return account{
		lambda:      `{"AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 1000}}`,
		gateway:     `{"throttleSettings": {"rateLimit": 10000, "burstLimit": 5000}}`,
		certificate: certificate("ISSUED", time.Now().Add(300*24*time.Hour), "api.example.org"),
		edges:       certificate("ISSUED", time.Now().Add(300*24*time.Hour), "*.example.org"),
	}
}

func certificate(status string, end time.Time, names ...string) string {
	list, _ := json.Marshal(names)
	return fmt.Sprintf(`{"Certificate": {"Status": %q, "DomainName": %q, "SubjectAlternativeNames": %s, "NotAfter": %d}}`, status, names[0], list, end.Unix())
}

// serve answers as the account's APIs in us-west-2 do, and lets the SDK find them.
func (a account) serve(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		signed := func(service string) bool {
			return strings.Contains(r.Header.Get("Authorization"), "/us-west-2/"+service+"/aws4_request")
		}
		var answer string
		name, of := strings.CutPrefix(r.URL.Path, "/2019-09-30/functions/")
		if function, asked := strings.CutSuffix(name, "/concurrency"); of && asked {
			n, exists := a.reserved[function]
			if !exists {
				w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
				w.WriteHeader(http.StatusNotFound)
			}
			answer = fmt.Sprintf(`{"ReservedConcurrentExecutions": %d}`, n)
		}
		if r.URL.Path == "/" && strings.Contains(string(text), "Action=GetCallerIdentity") && signed("sts") {
			answer = "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
		}
		switch r.Method + " " + r.URL.Path + " " + r.Header.Get("X-Amz-Target") {
		case "GET /2016-08-19/account-settings/ ", "GET /2016-08-19/account-settings ":
			answer = map[bool]string{true: a.lambda}[signed("lambda")]
		case "GET /account ":
			answer = map[bool]string{true: a.gateway}[signed("apigateway")]
		case "POST / CertificateManager.DescribeCertificate":
			asked := arn
			if strings.Contains(r.Header.Get("Authorization"), "/us-east-1/acm/aws4_request") {
				asked, answer = edgeARN, a.edges
			} else {
				answer = map[bool]string{true: a.certificate}[signed("acm")]
			}
			require.JSONEq(t, fmt.Sprintf(`{"CertificateArn": %q}`, asked), string(text))
		}
		if answer == "" {
			w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
			w.WriteHeader(http.StatusForbidden)
			answer = `{"message": "no"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
}

// found gives the lines that the checks of an account print.
func (a account) found(t *testing.T, context string) (lines []string, failed int) {
	t.Helper()
	a.serve(t)
	deployment, err := Read(file(t, context), "us")
	require.NoError(t, err)
	with, err := target.Region{AWSRegion: deployment.At.AWSRegion}.Config(t.Context())
	require.NoError(t, err)
	var out strings.Builder
	failed, err = Print(&out, Run(t.Context(), with, deployment))
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), failed
}

// file is a cdk.json with a context.
func file(t *testing.T, context string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cdk.json")
	require.NoError(t, os.WriteFile(name, []byte(`{"app": "bin/infra", "context": `+context+`}`), 0o600))
	return name
}

const (
	reserved20 = `{"us": {"awsRegion": "us-west-2"}, "reservedConcurrency": 20}`

	west   = `{"us": {"awsRegion": "us-west-2"}}`
	domain = `{"us": {"awsRegion": "us-west-2", "domain": {"name": "api.example.org", "certificateArn": "` + arn + `"}}}`
	edges  = `{"uploadService": true, "us": {"awsRegion": "us-west-2", "domain": {"name": "api.example.org", "certificateArn": "` + arn + `", "edgeCertificateArn": "` + edgeARN + `"}}}`
)

func TestASoundAccountIsReady(t *testing.T) {
	lines, failed := sound().found(t, domain)
	require.Zero(t, failed)
	require.Equal(t, []string{
		"ok       account: 123456789012",
		"ok       concurrent executions: the account has 1000, 1000 of them unreserved",
		"ok       role for logs: the account has none, and the deployment creates it",
		"ok       requests: the account may have 10000 a second and 5000 at once",
		"ok       certificate: issued for api.example.org",
	}, lines)
	lines, failed = sound().found(t, west)
	require.Zero(t, failed)
	require.Len(t, lines, 4, "without a domain there is no certificate")
}

// Each finding names what to do, in the keys of cdk.json and the words of AWS.
func TestWhatAnAccountLacksIsTold(t *testing.T) {
	with := func(change func(*account)) account {
		a := sound()
		change(&a)
		return a
	}
	few := with(func(a *account) {
		a.lambda = `{"AccountLimit": {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 10}}`
	})
	shared := with(func(a *account) {
		a.lambda = `{"AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 200}}`
	})
	deployed := with(func(a *account) {
		a.lambda, a.reserved = shared.lambda, map[string]int{"other": 700}
		for _, name := range functions.Names() {
			a.reserved["lectern-us-"+name] = 20
		}
	})
	role := func(arn string) account {
		return with(func(a *account) {
			a.gateway = `{"cloudwatchRoleArn": "` + arn + `", "throttleSettings": {"rateLimit": 2500, "burstLimit": 1250}}`
		})
	}
	at := func(status string, end time.Time, names ...string) account {
		return with(func(a *account) { a.certificate = certificate(status, end, names...) })
	}
	later, soon := time.Now().Add(90*24*time.Hour), time.Now().Add(10*24*time.Hour)
	needed := 100 + 60*len(functions.Always())
	for name, c := range map[string]struct {
		of      account
		context string
		line    string
		says    []string
	}{
		"a new account":  {few, west, "warning  concurrent", []string{"has 10, 10 of them unreserved:", "500", "--region us-west-2", "--desired-value 1000"}},
		"reserved":       {sound(), `{"us": {"awsRegion": "us-west-2"}, "reservedConcurrency": "60"}`, "failed   concurrent", []string{fmt.Sprint(" needs ", needed), "reservedConcurrency"}},
		"by others":      {shared, reserved20, "failed   concurrent", []string{"has 200 for it"}},
		"by itself":      {deployed, reserved20, "ok       concurrent", []string{fmt.Sprint("has ", 200+20*len(functions.Names()))}},
		"not by others":  {shared, west, "ok       concurrent", []string{"200 of them unreserved"}},
		"fits":           {sound(), reserved20, "ok       concurrent", nil},
		"other account":  {sound(), `{"account": "210987654321", "us": {"awsRegion": "us-west-2"}}`, "failed   account", []string{"123456789012", "210987654321"}},
		"this account":   {sound(), `{"account": "123456789012", "us": {"awsRegion": "us-west-2"}}`, "ok       account: 123456789012", nil},
		"own role":       {role("arn:aws:iam::1:role/Lectern-us-Service-ApiCloudWatchRole1"), west, "ok       role", nil},
		"other role":     {role("arn:aws:iam::1:role/other"), west, "warning  role", []string{"arn:aws:iam::1:role/other", "cloudWatchRole"}},
		"kept role":      {role("arn:aws:iam::1:role/other"), `{"us": {"awsRegion": "us-west-2"}, "cloudWatchRole": false}`, "ok       role", nil},
		"no role":        {sound(), `{"us": {"awsRegion": "us-west-2"}, "cloudWatchRole": "false"}`, "failed   role", []string{"cloudWatchRole"}},
		"few requests":   {role(""), `{"us": {"awsRegion": "us-west-2"}, "throttleRate": 3000}`, "warning  requests", []string{"2500 a second", "throttleRate (3000)"}},
		"small burst":    {role(""), `{"us": {"awsRegion": "us-west-2"}, "throttleBurst": 1251}`, "warning  requests", []string{"1250 at once", "throttleBurst (1251)"}},
		"pending":        {at("PENDING_VALIDATION", later, "api.example.org"), domain, "failed   certificate", []string{"DNS record"}},
		"expired":        {at("EXPIRED", later, "api.example.org"), domain, "failed   certificate", []string{"EXPIRED"}},
		"other host":     {at("ISSUED", later, "www.example.org", "*.api.example.org"), domain, "failed   certificate", []string{"www.example.org"}},
		"wildcard":       {at("ISSUED", later, "example.org", "*.example.org"), domain, "ok       certificate", nil},
		"ends soon":      {at("ISSUED", soon, "api.example.org"), domain, "warning  certificate", []string{soon.UTC().Format(time.DateOnly)}},
		"lambda refused": {with(func(a *account) { a.lambda = "" }), domain, "failed   concurrent", []string{"lambda:GetAccountSettings", "AccessDenied"}},
		"edges pending":  {with(func(a *account) { a.edges = certificate("PENDING_VALIDATION", later, "api.example.org") }), edges, "failed   certificate of the edges", []string{"DNS record"}},
		"edges refused":  {with(func(a *account) { a.edges = "" }), edges, "failed   certificate of the edges", []string{"acm:DescribeCertificate"}},
		"edges":          {sound(), edges, "ok       certificate of the edges: issued for api.example.org", nil},
		"acm refused":    {with(func(a *account) { a.certificate = "" }), domain, "failed   certificate", []string{"acm:DescribeCertificate"}},
		"api refused":    {with(func(a *account) { a.gateway = "" }), domain, "failed   API Gateway", []string{"apigateway:GET"}},
	} {
		lines, failed := c.of.found(t, c.context)
		text := "\n" + strings.Join(lines, "\n")
		require.Contains(t, text, "\n"+c.line, name)
		for _, part := range c.says {
			require.Contains(t, text, part, name)
		}
		require.Equal(t, strings.HasPrefix(c.line, "failed"), failed == 1, "%s: %s", name, text)
	}
}

// The file is read as the app reads it: every mistake is named, and an unknown key is one.
func TestAConfigurationThatCannotBeReadIsNamed(t *testing.T) {
	_, err := Read(file(t, `{"reservedConcurrency": "many", "adminURL": "x"}`), "us")
	require.ErrorContains(t, err, "reservedConcurrency is not a number")
	require.ErrorContains(t, err, "adminURL is unknown")
	_, err = Read(file(t, `{"regions": "eu"}`), "us")
	require.ErrorContains(t, err, `deploys no region "us"`)
	_, err = Read(filepath.Join(t.TempDir(), "cdk.json"), "us")
	require.ErrorIs(t, err, os.ErrNotExist)
	got, err := Read(file(t, `{"us": "{\"awsRegion\": \"us-west-2\"}"}`), "us")
	require.NoError(t, err)
	require.Equal(t, "us-west-2", got.At.AWSRegion)
	_, err = Read("../../../cdk.json", "eu")
	require.NoError(t, err)
}
