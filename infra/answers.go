package main

import (
	"encoding/json"
	"strconv"

	"lectern/shared/api"
	"lectern/shared/apierr"
)

// How many seconds a client is asked to wait before it sends the request again.
const (
	// throttled: the bucket of a method fills again every second.
	throttled = 1
	// filtered: the firewall counts the requests of five minutes.
	filtered = 300
)

// answer is one of the answers that the gateway gives by itself.
type answer struct {
	// kind is its name in the API's description.
	kind string
	// status replaces the gateway's own; 0 leaves it.
	status int
	err    *apierr.Error
	// wait is the Retry-After in seconds; 0 for none.
	wait int
}

// ownAnswers are the gateway's own answers, as a group would give them. Kinds that
// are not listed are answered by the two defaults: they concern what the API does
// not have, such as authorizers and request models.
func ownAnswers() []answer {
	missing, refused := apierr.NotFound("Route"), apierr.Forbidden("", "This request is not allowed.")
	many, busy := apierr.TooManyRequests("Too many requests. Please try again later."), apierr.Unavailable()
	return []answer{
		{kind: "DEFAULT_4XX", err: apierr.Invalid("", "The request could not be read.")},
		{kind: "DEFAULT_5XX", err: apierr.Internal()},
		{kind: "REQUEST_TOO_LARGE", status: 413, err: apierr.TooLargeForGateway()},
		{kind: "UNSUPPORTED_MEDIA_TYPE", status: 415, err: apierr.UnsupportedMediaType()},
		{kind: "THROTTLED", status: 429, err: many, wait: throttled},
		{kind: "QUOTA_EXCEEDED", status: 429, err: many, wait: throttled},
		{kind: "WAF_FILTERED", status: 429, err: many, wait: filtered},
		// Every path has a route, so these are paths that no route can have.
		{kind: "MISSING_AUTHENTICATION_TOKEN", status: 404, err: missing},
		{kind: "RESOURCE_NOT_FOUND", status: 404, err: missing},
		{kind: "UNAUTHORIZED", status: 401, err: apierr.Unauthorized()},
		{kind: "ACCESS_DENIED", status: 403, err: refused},
		{kind: "EXPIRED_TOKEN", status: 403, err: refused},
		{kind: "INVALID_API_KEY", status: 403, err: refused},
		{kind: "INVALID_SIGNATURE", status: 403, err: refused},
		{kind: "INTEGRATION_FAILURE", status: 503, err: busy},
		{kind: "INTEGRATION_TIMEOUT", status: 504, err: busy},
	}
}

// commonHeader has what the service says with every answer, so that a script of another
// origin reads the gateway's refusals as it reads the service's. The service's
// Content-Security-Policy is not among it: a fixed value stands in single quotes, and
// that one has such quotes in it.
func commonHeader() map[string]string {
	header := api.CommonHeader()
	header["Content-Type"] = "application/json"
	return header
}

// answers gives the gateway's own answers our error shape, the id of the request and
// the common headers, as the door of localstack/stack does. They are a part of the
// API's description: as resources of their own they would be lost whenever the
// description is imported anew.
func answers() map[string]any {
	all := map[string]any{}
	for _, a := range ownAnswers() {
		one := map[string]any{
			"responseParameters": a.header(),
			"responseTemplates":  map[string]any{"application/json": a.body()},
		}
		if a.status != 0 {
			one["statusCode"] = strconv.Itoa(a.status)
		}
		all[a.kind] = one
	}
	return all
}

// header has the headers as the gateway's description writes them, a fixed value in
// single quotes.
func (a answer) header() map[string]any {
	const header = "gatewayresponse.header."
	all := map[string]any{header + "X-Request-Id": "context.requestId"}
	for name, value := range commonHeader() {
		all[header+name] = "'" + value + "'"
	}
	for name := range a.err.Header {
		all[header+name] = "'" + a.err.Header.Get(name) + "'"
	}
	if a.wait > 0 {
		all[header+"Retry-After"] = "'" + strconv.Itoa(a.wait) + "'"
	}
	return all
}

// body is the error as the service writes it.
func (a answer) body() string {
	text, err := json.Marshal(a.err)
	if err != nil {
		panic("infra: an error that is no JSON: " + err.Error())
	}
	return string(text)
}
