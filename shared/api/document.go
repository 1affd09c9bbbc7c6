package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/idempotency"
	"lectern/shared/ratelimit"
)

// Names of the security schemes.
const (
	schemeToken = "apiToken"
	schemeOAuth = "oauth2"
	// schemeBrowser is the session of a browser.
	schemeBrowser = "browserSession"
)

// described returns the operation for huma. The checks of huma are off, since the pipeline
// makes its own checks before.
func (o *Operation) described(tag string, bodyOptional bool) huma.Operation {
	described := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Tags: []string{tag},
		Summary: summary(o.ID), Description: o.Description, DefaultStatus: o.Status,
		SkipValidateParams: true, SkipValidateBody: true, MaxBodyBytes: -1,
		Metadata:   map[string]any{metaOperation: o, metaBodyOptional: bodyOptional},
		Extensions: map[string]any{"x-required-scope": o.Scopes, "x-rate-limit-bucket": o.Bucket},
	}
	if !o.needsToken() {
		if !o.Scopes.IsPublic() {
			described.Security = []map[string][]string{{schemeBrowser: {}}}
		}
		return described
	}
	if o.connected {
		described.Security = []map[string][]string{{schemeOAuth: {}}}
		return described
	}
	described.Security = []map[string][]string{{schemeToken: {}}}
	for _, scope := range o.Scopes {
		if scope != auth.ReadAuditLogs {
			described.Security = append(described.Security, map[string][]string{schemeOAuth: {string(scope)}})
		}
	}
	return described
}

// summary returns the summary of an operation: "Get session" for getSession.
func summary(id string) string {
	var words strings.Builder
	for i, c := range id {
		switch {
		case i == 0:
			c = unicode.ToUpper(c)
		case unicode.IsUpper(c):
			words.WriteByte(' ')
			c = unicode.ToLower(c)
		}
		words.WriteRune(c)
	}
	return words.String()
}

// failures returns the statuses of the errors that the operation can answer.
func (o *Operation) failures(takesBody bool) []int {
	all := append([]int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusServiceUnavailable}, o.refusals...)
	if !o.Scopes.IsPublic() {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden)
	}
	if o.needsToken() {
		all = append(all, http.StatusTooManyRequests)
	}
	if strings.Contains(o.Path, "{") {
		all = append(all, http.StatusNotFound)
	}
	if takesBody {
		all = append(all, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if o.Writes() {
		all = append(all, http.StatusConflict)
	}
	if o.idempotent() {
		all = append(all, http.StatusUnprocessableEntity)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Document returns the OpenAPI 3.1.0 description of the groups.
func Document(groups []Group) ([]byte, error) {
	a := &adapter{}
	target := newTarget(a)
	doc := target.OpenAPI()
	doc.Info = &huma.Info{
		Title: "Lectern", Version: Version, Description: description,
		License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
	}
	doc.Servers = []*huma.Server{{URL: "/", Description: "The region that serves this document."}}
	for _, g := range groups {
		before := len(a.endpoints)
		g.mount(target, nil)
		if len(a.endpoints) > before {
			doc.Tags = append(doc.Tags, &huma.Tag{Name: g.Tag})
		}
	}
	doc.Components.SecuritySchemes = securitySchemes()
	doc.Components.Headers = headers()
	doc.Components.Responses = responses(doc.Components.Schemas)
	for _, e := range a.endpoints {
		e.registry = doc.Components.Schemas
		e.complete()
	}
	check.Finish(doc.Components.Schemas)
	return json.MarshalIndent(doc, "", "  ")
}

const description = "Events, sessions, people and everything around a conference programme. " +
	"Every error has one shape; programs go by `code` and `details.field`. " +
	"Unknown properties of a body are ignored, unknown keys in `filters`, `sort` and `expand` are refused."

// complete adds headers, errors and parameters to the description of the endpoint.
func (e *endpoint) complete() {
	d := e.described
	delete(d.Responses, "default")
	success := d.Responses[strconv.Itoa(e.Status)]
	success.Headers = map[string]*huma.Param{}
	for _, media := range e.media {
		if success.Content == nil {
			success.Content = map[string]*huma.MediaType{}
		}
		success.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	for _, name := range e.answerHeaders() {
		success.Headers[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	if e.versioned && e.Method == http.MethodGet {
		d.Responses["304"] = &huma.Response{Ref: "#/components/responses/304"}
		d.Parameters = append(d.Parameters, ifNoneMatch())
	}
	if e.form != nil { // huma would read the body that it describes.
		form := &huma.MediaType{Schema: e.registry.Schema(e.form, true, "Form")}
		d.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{mediaForm: form}}
	}
	for _, status := range e.failures(e.body != nil || e.form != nil) {
		d.Responses[strconv.Itoa(status)] = e.describedFailure(status)
	}
	if len(e.bodies) > 1 {
		d.RequestBody.Content[mediaEncoded] = &huma.MediaType{Schema: e.body}
	}
	if e.idempotent() {
		d.Parameters = append(d.Parameters, idempotencyKey())
	}
	d.Parameters = append(d.Parameters, requestID())
}

// describedFailure describes the answer of an error.
func (e *endpoint) describedFailure(status int) *huma.Response {
	if e.failure == nil {
		return &huma.Response{Ref: "#/components/responses/" + strconv.Itoa(status)}
	}
	shape := e.registry.Schema(e.failureType, true, "Failure")
	content := map[string]*huma.MediaType{mediaJSON: {Schema: shape}}
	return &huma.Response{Description: "The request is refused, and `error` says why.", Content: content}
}

// answerHeaders returns the names of the headers of a successful answer.
func (e *endpoint) answerHeaders() []string {
	names := []string{headerRequestID, "Cache-Control"}
	if e.versioned {
		names = append(names, "ETag")
	}
	if e.Status == http.StatusFound {
		names = append(names, "Location")
	}
	if e.idempotent() {
		names = append(names, headerReplayed)
	}
	if e.Bucket != ratelimit.None {
		names = append(names, limitHeaders...)
	}
	return names
}

func ifNoneMatch() *huma.Param {
	return &huma.Param{
		Name: "If-None-Match", In: "header",
		Description: "The record's ETag as last fetched. When the record is still the same, the answer is 304 without a body.",
		Schema:      &huma.Schema{Type: huma.TypeString},
	}
}

func requestID() *huma.Param {
	most := maxID
	return &huma.Param{
		Name: headerRequestID, In: "header",
		Description: "An id for the request, which the answer and the log repeat. Another one is made in place of one that is too " +
			"long or has other characters.",
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most, Pattern: `^[-_.:/+=@0-9A-Za-z]+$`},
	}
}

func idempotencyKey() *huma.Param {
	least, most := 1, idempotency.MaxKey
	return &huma.Param{
		Name: idempotency.Header, In: "header",
		Description: "Makes the request safe to repeat: for 24 hours a repetition writes nothing and shows what the first success " +
			"wrote, as it is now. Any text of printable ASCII.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: "^[ -~]+$"},
	}
}

// limitHeaders lists the headers of an answer that counts against a rate limit.
var limitHeaders = []string{"RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}

func textHeader(doc string) *huma.Header {
	return &huma.Header{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}

func numberHeader(doc string) *huma.Header {
	return &huma.Header{Description: doc, Schema: &huma.Schema{Type: huma.TypeInteger}}
}

// headers describes the headers of answers.
func headers() map[string]*huma.Header {
	return map[string]*huma.Header{
		headerRequestID: textHeader("The request's id: the one sent, or one made for it."),
		headerReplayed: textHeader("`true` when the request was done before under the same Idempotency-Key: the answer " +
			"shows what it wrote, as it is now."),
		"Cache-Control":    textHeader("Whether the client may keep the answer."),
		"Location":         textHeader("The address of the bytes, for five minutes."),
		"ETag":             textHeader("The record's version, for If-Match and If-None-Match."),
		"RateLimit":        textHeader("The bucket, what remains in it (`r`) and seconds until it is full again (`t`)."),
		"RateLimit-Policy": textHeader("The bucket, its size (`q`) and its window in seconds (`w`)."),
		"RateLimit-Limit":  numberHeader("Requests a window."),
		"RateLimit-Remaining": numberHeader("Requests left in this window, at least: of a high limit, each instance of the service " +
			"takes some in advance."),
		"RateLimit-Reset": numberHeader("When the window ends, in Unix seconds."),
		"Retry-After":     numberHeader("Seconds to wait before the next try."),
	}
}

// failureTexts has the description of each status except those of success.
var failureTexts = map[int]string{
	http.StatusNotModified:  "The client has this version already.",
	http.StatusBadRequest:   "The path, the query or the body is not valid; `details.field` names where.",
	http.StatusUnauthorized: "There is no valid token.",
	http.StatusForbidden:    "The token lacks the scope, or the event the feature.",
	http.StatusNotFound:     "There is no such thing for this caller.",
	http.StatusConflict: "The state of the record forbids this, it has changed since it was fetched, or there are as " +
		"many as there may be (LIMIT_REACHED).",
	http.StatusRequestEntityTooLarge: "The body is too large.",
	http.StatusUnsupportedMediaType:  "The body is not declared as the media type that the operation takes.",
	http.StatusUnprocessableEntity:   "The Idempotency-Key was used with another body, or the request cannot be carried out.",
	http.StatusTooManyRequests: "The token's requests in this bucket are used up, or what the organization may read in a " +
		"minute; `Retry-After` says when to go on.",
	http.StatusInternalServerError: "Something unexpected happened.",
	http.StatusServiceUnavailable:  "The service is busy; the same request may succeed later.",
}

// responses describes the answers of failureTexts.
func responses(r huma.Registry) map[string]*huma.Response {
	shape := r.Schema(reflect.TypeFor[apierr.Error](), true, "Error")
	all := map[string]*huma.Response{}
	for status, text := range failureTexts {
		response := &huma.Response{Description: text, Headers: map[string]*huma.Param{}}
		names := append([]string{headerRequestID}, limitHeaders...)
		switch status {
		case http.StatusNotModified:
			names = append(names, "ETag", "Cache-Control")
		case http.StatusTooManyRequests, http.StatusConflict, http.StatusServiceUnavailable:
			names = append(names, "Retry-After")
		}
		for _, name := range names {
			response.Headers[name] = &huma.Param{Ref: "#/components/headers/" + name}
		}
		if status != http.StatusNotModified {
			response.Content = map[string]*huma.MediaType{"application/json": {Schema: shape}}
		}
		all[strconv.Itoa(status)] = response
	}
	return all
}

func securitySchemes() map[string]*huma.SecurityScheme {
	scopes := map[string]string{}
	for _, scope := range auth.APIScopes {
		verb, what, _ := strings.Cut(string(scope), ":")
		scopes[string(scope)] = capitalize(verb) + " " + strings.ReplaceAll(what, "_", " ") + "."
	}
	flow := &huma.OAuthFlow{Scopes: scopes}
	flow.AuthorizationURL, flow.TokenURL, flow.RefreshURL = "/oauth/authorize", "/oauth/token", "/oauth/token"
	return map[string]*huma.SecurityScheme{
		schemeToken: {
			Type: "apiKey", In: "header", Name: "x-access-token",
			Description: "An API token of the organization.",
		},
		schemeBrowser: {
			Type: "apiKey", In: "cookie", Name: "__Host-lectern",
			Description: "The session of a browser in which a member has signed in. The name of the cookie ends with that of the region.",
		},
		schemeOAuth: {
			Type: "oauth2", Description: "OAuth 2.1 with PKCE, on behalf of a member.",
			Flows: &huma.OAuthFlows{AuthorizationCode: flow},
		},
	}
}

func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
