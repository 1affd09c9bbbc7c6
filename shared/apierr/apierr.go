// Package apierr holds the errors a caller may see. An error that is not an
// *Error never reaches a caller: the pipeline answers it as a 500 with a fixed
// text and logs the cause.
package apierr

import (
	"fmt"
	"net/http"
)

// Codes that tell a program what was refused (spec.md section 7). Every error
// has one; those of a record's own conflicts stand in its package.
const (
	CodeValidation   = "VALIDATION_ERROR"
	CodeTypeMismatch = "TYPE_MISMATCH"
	CodeReadOnly     = "FIELD_READ_ONLY"
	CodeFieldUnknown = "FIELD_NOT_FOUND"
	CodeStale        = "STALE_UPDATE"
	CodeLimit        = "LIMIT_REACHED"

	CodeNotFound         = "NOT_FOUND"
	CodeUnauthorized     = "UNAUTHORIZED"
	CodeScope            = "INSUFFICIENT_SCOPE"
	CodeFeature          = "FEATURE_NOT_ENABLED"
	CodeRateLimited      = "RATE_LIMITED"
	CodeTooLarge         = "PAYLOAD_TOO_LARGE"
	CodeMediaType        = "UNSUPPORTED_MEDIA_TYPE"
	CodeMethodNotAllowed = "METHOD_NOT_ALLOWED"
	CodeUnavailable      = "SERVICE_UNAVAILABLE"
	CodeInternal         = "INTERNAL_ERROR"
)

// Error is the one error shape of the service (gaps.md section 1). Name and Err
// hold the same error name, since clients of either key exist.
type Error struct {
	// Status is the HTTP status the error is answered with.
	Status int `json:"-"`
	// Name is the error's name, such as NotFoundError.
	Name string `json:"name" doc:"The error's name, such as NotFoundError."`
	// Err repeats Name.
	Err string `json:"error" doc:"The same as name."`
	// Message is one sentence for a person.
	Message string `json:"message" doc:"One sentence for a person."`
	// Code is for a program.
	Code string `json:"code" doc:"What was refused, for a program, such as VALIDATION_ERROR or NOT_FOUND."`
	// Details carries field, and with a 409 the current updated_at.
	Details map[string]any `json:"details,omitempty" doc:"Facts about the refusal, such as field."`
	// Reason tells apart the kinds of 403, such as log_export_only.
	Reason string `json:"reason,omitempty" doc:"Why a scope check failed, where it has a name."`
	// ValidOptions lists the options of a dropdown field. It is shown by the
	// bulk operations of sessions, sponsors and exhibitors alone.
	ValidOptions []string `json:"-"`
	// Header holds headers that go with the answer, such as Allow.
	Header http.Header `json:"-"`
}

// Error gives the message, so that an *Error is an error.
func (e *Error) Error() string { return e.Message }

// GetStatus gives the HTTP status.
func (e *Error) GetStatus() int { return e.Status }

func newError(status int, name, code, message string) *Error {
	return &Error{Status: status, Name: name, Err: name, Message: message, Code: code}
}

// detail adds a fact to the error and returns it.
func (e *Error) detail(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// Field names the input the error is about, as the client wrote it. An empty
// name, for an error about the whole body, adds nothing.
func (e *Error) Field(name string) *Error {
	if name == "" {
		return e
	}
	return e.detail("field", name)
}

// With adds a fact under key to the error's details and returns the error.
func (e *Error) With(key string, value any) *Error { return e.detail(key, value) }

// Invalid is the 400 for input that breaks a rule of shape or meaning. field is
// the input's name as the client wrote it, or empty for the whole body.
func Invalid(field, format string, args ...any) *Error {
	return newError(http.StatusBadRequest, "ValidationError", CodeValidation, fmt.Sprintf(format, args...)).Field(field)
}

// TypeMismatch is the 400 for a custom field's value of the wrong kind. For a
// dropdown, options lists what the field accepts.
func TypeMismatch(field, message string, options ...string) *Error {
	e := newError(http.StatusBadRequest, "ValidationError", CodeTypeMismatch, message).Field(field)
	e.ValidOptions = options
	return e
}

// ReadOnly is the 400 for writing a field that a connector owns.
func ReadOnly(field string) *Error {
	return newError(http.StatusBadRequest, "ValidationError", CodeReadOnly,
		fmt.Sprintf("Field %q is owned by a connector and cannot be written.", field)).Field(field)
}

// FieldNotFound is the 400 for a custom field that the event does not have.
func FieldNotFound(field string) *Error {
	return newError(http.StatusBadRequest, "ValidationError", CodeFieldUnknown,
		fmt.Sprintf("There is no custom field %q.", field)).With("field", field) // An empty name is one that was sent.
}

// NotFound is the 404 for a thing that does not exist, or not for this caller.
func NotFound(thing string) *Error {
	return newError(http.StatusNotFound, "NotFoundError", CodeNotFound, thing+" not found")
}

// Conflict is the 409 for a write that the state of a record forbids.
func Conflict(code, message string) *Error {
	return newError(http.StatusConflict, "ConflictError", code, message)
}

// LimitReached returns the 409 for a record over a bound. The details name the bound
// and its value.
func LimitReached(limit string, most int64, message string) *Error {
	return Conflict(CodeLimit, message).With("limit", limit).With("maximum", most)
}

// Stale is the 409 for a write based on an older version; updatedAt is the
// current one, for the client to fetch and try again. etag goes into a header.
func Stale(updatedAt any, etag string) *Error {
	e := Conflict(CodeStale, "The record has changed since it was fetched. Fetch it again and retry with its current updated_at.").
		With("updated_at", updatedAt)
	if etag != "" {
		e.Header = http.Header{"Etag": {etag}}
	}
	return e
}

// Unauthorized is the 401. Its text is the same for every cause, so that it
// tells nothing about which tokens exist.
func Unauthorized() *Error {
	return newError(http.StatusUnauthorized, "UnauthorizedError", CodeUnauthorized, "A valid access token is required.")
}

// Forbidden is the 403 for what the caller's token does not reach; reason may be
// empty.
func Forbidden(reason, message string) *Error {
	e := newError(http.StatusForbidden, "ForbiddenError", CodeScope, message)
	e.Reason = reason
	return e
}

// FeatureNeeded is the 403 for what the event has not switched on, whatever the
// token.
func FeatureNeeded(message string) *Error {
	return newError(http.StatusForbidden, "ForbiddenError", CodeFeature, message)
}

// TooManyRequests is the 429; its headers come from the limiter's verdict.
func TooManyRequests(message string) *Error {
	return newError(http.StatusTooManyRequests, "TooManyRequestsError", CodeRateLimited, message)
}

// TooLarge is the 413 for a body over limit bytes.
func TooLarge(limit int64) *Error {
	return newError(http.StatusRequestEntityTooLarge, "PayloadTooLargeError", CodeTooLarge,
		fmt.Sprintf("The request body is larger than %d bytes.", limit))
}

// TooLargeForGateway is the 413 for a body that does not come as far as a route. It names
// no number, since the limit is one of what the gateway makes of the body.
func TooLargeForGateway() *Error {
	return newError(http.StatusRequestEntityTooLarge, "PayloadTooLargeError", CodeTooLarge, "The request body is too large.")
}

// UnsupportedMediaType is the 415 for a body that is not declared as JSON.
func UnsupportedMediaType() *Error {
	return newError(http.StatusUnsupportedMediaType, "UnsupportedMediaTypeError", CodeMediaType,
		"The request body must be sent as application/json.")
}

// MethodNotAllowed is the 405; allow is the Allow header.
func MethodNotAllowed(allow string) *Error {
	e := newError(http.StatusMethodNotAllowed, "MethodNotAllowedError", CodeMethodNotAllowed, "This method is not allowed here.")
	e.Header = http.Header{"Allow": {allow}}
	return e
}

// Unprocessable is the 422 for a request that is well formed and cannot be
// carried out.
func Unprocessable(code, message string) *Error {
	return newError(http.StatusUnprocessableEntity, "UnprocessableError", code, message)
}

// Unavailable returns the 503 for a request that could not be served just now. Its
// Retry-After asks for a pause of a second.
func Unavailable() *Error {
	e := newError(http.StatusServiceUnavailable, "ServiceUnavailableError", CodeUnavailable,
		"The service is busy. Please try again.")
	e.Header = http.Header{"Retry-After": {"1"}}
	return e
}

// Internal is the 500. It has no argument because its cause is for the log.
func Internal() *Error {
	return newError(http.StatusInternalServerError, "InternalServerError", CodeInternal, "An unexpected error occurred.")
}
