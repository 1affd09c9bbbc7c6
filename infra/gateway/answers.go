package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"

	"lectern/infra/config"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
)

// Retry-After of the gateway's answers, in seconds.
const (
	// throttled is the time until the bucket of a method fills again.
	throttled = 1
	// filtered is the time over which the firewall counts requests.
	filtered = 300
)

// answer is an answer by the gateway itself, without an invocation.
type answer struct {
	// kind names the answer in the API's description.
	kind string
	// status replaces the gateway's own status; 0 leaves the gateway's.
	status int
	err    *apierr.Error
	// wait is the Retry-After in seconds; 0 sends no Retry-After.
	wait int
}

// ownAnswers lists the gateway's own answers with the errors of the service. The two
// defaults answer every other kind. The API has no request models, the cause of other kinds, and one
// authorizer, which refuses nothing.
func ownAnswers() []answer {
	missing, refused := apierr.NotFound("Route"), apierr.Forbidden("", "This request is not allowed.")
	many, busy := apierr.TooManyRequests("Too many requests. Please try again later."), apierr.Unavailable()
	return []answer{
		// The gateway may use DEFAULT_4XX, with 413, for a body that Lambda does not take.
		{kind: "DEFAULT_4XX", err: apierr.Invalid("", "The request was refused before it reached the service.")},
		{kind: "DEFAULT_5XX", err: apierr.Internal()},
		{kind: "REQUEST_TOO_LARGE", status: 413, err: apierr.TooLargeForGateway()},
		{kind: "UNSUPPORTED_MEDIA_TYPE", status: 415, err: apierr.UnsupportedMediaType("application/json")},
		{kind: "THROTTLED", status: 429, err: many, wait: throttled},
		{kind: "QUOTA_EXCEEDED", status: 429, err: many, wait: throttled},
		{kind: "WAF_FILTERED", status: 429, err: many, wait: filtered},
		// Every path has a route, so only a malformed path comes here.
		{kind: "MISSING_AUTHENTICATION_TOKEN", status: 404, err: missing},
		{kind: "RESOURCE_NOT_FOUND", status: 404, err: missing},
		{kind: "UNAUTHORIZED", status: 401, err: auth.WithoutToken()},
		{kind: "ACCESS_DENIED", status: 403, err: refused},
		{kind: "EXPIRED_TOKEN", status: 403, err: refused},
		{kind: "INVALID_API_KEY", status: 403, err: refused},
		{kind: "INVALID_SIGNATURE", status: 403, err: refused},
		{kind: "INTEGRATION_FAILURE", status: 503, err: busy},
		{kind: "INTEGRATION_TIMEOUT", status: 504, err: busy},
	}
}

// commonHeader returns the headers of every answer of the service, so that a script of
// another origin can read the gateway's refusals too. Content-Security-Policy is missing: the
// gateway writes a fixed value in single quotes, and the policy contains single quotes.
func commonHeader() map[string]string {
	header := api.CommonHeader()
	header["Content-Type"] = "application/json"
	return header
}

// answers describes the gateway's own answers, with the error body, request id and common
// headers of the service, the same as the door of localstack/local/stack. The answers are
// part of the API's description, because an import deletes separate resources.
func answers(at config.Region) map[string]any {
	all := map[string]any{}
	for _, a := range ownAnswers() {
		described := map[string]any{
			"responseParameters": a.header(challenge(at)),
			"responseTemplates":  map[string]any{"application/json": a.body()},
		}
		if a.status != 0 {
			described["statusCode"] = strconv.Itoa(a.status)
		}
		all[a.kind] = described
	}
	return all
}

// header returns the headers in the form of the description: a fixed value has single
// quotes. challenge is the header of a 401.
func (a answer) header(challenge string) map[string]any {
	const header = "gatewayresponse.header."
	all := map[string]any{header + "X-Request-Id": "context.requestId"}
	for name, value := range commonHeader() {
		all[header+name] = "'" + value + "'"
	}
	for name := range a.err.Header {
		all[header+name] = "'" + a.err.Header.Get(name) + "'"
	}
	if a.err.Status == http.StatusUnauthorized {
		all[header+api.HeaderChallenge] = "'" + challenge + "'"
	}
	if a.wait > 0 {
		all[header+"Retry-After"] = "'" + strconv.Itoa(a.wait) + "'"
	}
	return all
}

// challenge returns the header of a 401 of the gateway: at a domain, it names where an assistant finds the sign-in. Without a domain the
// address depends on the id of the API, which its own description cannot name.
func challenge(at config.Region) string {
	if at.Domain == nil {
		return api.Challenge
	}
	return api.ChallengeAt("https://" + at.Domain.Name)
}

// body returns the error as the service writes it.
func (a answer) body() string {
	text, err := json.Marshal(a.err)
	if err != nil {
		panic("infra: an error that is no JSON: " + err.Error())
	}
	return string(text)
}
