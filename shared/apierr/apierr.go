// Package apierr has the errors that callers may see. The pipeline answers any other error as a
// 500 with a fixed text, and logs the cause.
package apierr

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Codes of errors, for programs (spec.md section 7). The packages of records define the codes
// of their own conflicts.
const (
	codeValidation   = "VALIDATION_ERROR"
	codeTypeMismatch = "TYPE_MISMATCH"
	codeReadOnly     = "FIELD_READ_ONLY"
	codeFieldUnknown = "FIELD_NOT_FOUND"
	codeStale        = "STALE_UPDATE"
	codeLimit        = "LIMIT_REACHED"

	codeNotFound         = "NOT_FOUND"
	codeUnauthorized     = "UNAUTHORIZED"
	codeScope            = "INSUFFICIENT_SCOPE"
	codeFeature          = "FEATURE_NOT_ENABLED"
	codeRateLimited      = "RATE_LIMITED"
	codeTooLarge         = "PAYLOAD_TOO_LARGE"
	codeMediaType        = "UNSUPPORTED_MEDIA_TYPE"
	codeMethodNotAllowed = "METHOD_NOT_ALLOWED"
	codeUnavailable      = "SERVICE_UNAVAILABLE"
	codeInternal         = "INTERNAL_ERROR"
)

// Error is the shape of all errors of the service (gaps.md section 1). Name and Err have the
// same value, since there are clients of both keys.
type Error struct {
	// Status is the HTTP status of the answer.
	Status int `json:"-"`
	// Name is the name of the error, for example NotFoundError.
	Name string `json:"name" doc:"The error's name, such as NotFoundError."`
	// Err repeats Name.
	Err string `json:"error" doc:"The same as name."`
	// Message is one sentence for a person.
	Message string `json:"message" doc:"One sentence for a person."`
	// Code is for a program.
	Code string `json:"code" doc:"What was refused, for a program, such as VALIDATION_ERROR or NOT_FOUND."`
	// Details has the field of the error, and in a 409 the current updated_at.
	Details map[string]any `json:"details,omitempty" doc:"Facts about the refusal, such as field."`
	// Reason distinguishes the kinds of 403, for example log_export_only.
	Reason string `json:"reason,omitempty" doc:"Why a scope check failed, where it has a name."`
	// ValidOptions lists the options of a dropdown field. Only the bulk operations of
	// sessions, sponsors and exhibitors show it.
	ValidOptions []string `json:"-"`
	// Header has additional headers of the answer, for example Allow.
	Header http.Header `json:"-"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// GetStatus returns the HTTP status.
func (e *Error) GetStatus() int { return e.Status }

func newError(status int, name, code, message string) *Error {
	return &Error{Status: status, Name: name, Err: name, Message: message, Code: code}
}

// Field sets details.field to the path of the wrong input, as the client wrote it, and returns
// the error. An empty name, for the whole body, sets nothing.
func (e *Error) Field(name string) *Error {
	if name == "" {
		return e
	}
	return e.With("field", name)
}

// With adds a detail to the error and returns the error.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// HeaderRetryAfter is the header of a refusal that says after how many seconds the request may succeed.
const HeaderRetryAfter = "Retry-After"

// RetryAfter sets the header Retry-After, in whole seconds and at least 1, and returns the error.
func (e *Error) RetryAfter(wait time.Duration) *Error {
	e.Header = http.Header{HeaderRetryAfter: {strconv.FormatInt(int64(max(wait, 0)/time.Second)+1, 10)}}
	return e
}

// Invalid returns the 400 for invalid input. field is the path of the input as the client wrote
// it, or empty for the whole body.
func Invalid(field, format string, args ...any) *Error {
	return newError(http.StatusBadRequest, "ValidationError", codeValidation, fmt.Sprintf(format, args...)).Field(field)
}

// OneOf returns the 400 for a value that is none of the options.
func OneOf[S ~string](field string, options ...S) *Error {
	names := make([]string, len(options))
	for i, option := range options {
		names[i] = string(option)
	}
	return Invalid(field, "%s must be one of %s.", field, strings.Join(names, ", "))
}

// TypeMismatch returns the 400 for a value that does not match the type of a custom field. For
// a dropdown field, options lists the valid values.
func TypeMismatch(field, message string, options ...string) *Error {
	e := newError(http.StatusBadRequest, "ValidationError", codeTypeMismatch, message).Field(field)
	e.ValidOptions = options
	return e
}

// ReadOnly returns the 400 for a write of a field that a connector owns.
func ReadOnly(field string) *Error {
	return newError(http.StatusBadRequest, "ValidationError", codeReadOnly,
		fmt.Sprintf("Field %q is owned by a connector and cannot be written.", field)).Field(field)
}

// FieldNotFound returns the 400 for a custom field that the event does not have.
func FieldNotFound(field string) *Error {
	return newError(http.StatusBadRequest, "ValidationError", codeFieldUnknown,
		fmt.Sprintf("There is no custom field %q.", field)).With("field", field) // The client may have sent an empty name.
}

// NotFound returns the 404 for a thing that does not exist for this caller.
func NotFound(thing string) *Error {
	return newError(http.StatusNotFound, "NotFoundError", codeNotFound, thing+" not found")
}

// IsNotFound reports whether an error is a 404.
func IsNotFound(err error) bool {
	return hasStatus(err, http.StatusNotFound)
}

// IsInvalid reports whether an error is a 400.
func IsInvalid(err error) bool { return hasStatus(err, http.StatusBadRequest) }

func hasStatus(err error, status int) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Status == status
}

// Conflict returns the 409 for a write that the state of a record forbids.
func Conflict(code, message string) *Error {
	return newError(http.StatusConflict, "ConflictError", code, message)
}

// LimitReached returns the 409 for a record that exceeds a limit. The details have the name and
// the value of the limit.
func LimitReached(limit string, most int64, message string) *Error {
	return Conflict(codeLimit, message).With("limit", limit).With("maximum", most)
}

// DeleteSome is the advice of TooMany for records that a client can delete.
const DeleteSome = "Delete some first."

// TooMany returns the 409 for a record too many: there are number of a kind, and most allowed. The message
// ends with the advice.
func TooMany(kind string, number, most int, advice string) *Error {
	return LimitReached(kind, int64(most), fmt.Sprintf("There are %d %s already, which is the limit. %s", number, kind, advice))
}

// Stale returns the 409 for a write based on an older version. The details have the current
// updatedAt. etag is the current ETag, or empty.
func Stale(updatedAt any, etag string) *Error {
	e := Conflict(codeStale, "The record has changed since it was fetched. Fetch it again and retry with its current updated_at.").
		With("updated_at", updatedAt)
	if etag != "" {
		e.Header = http.Header{"Etag": {etag}}
	}
	return e
}

// OAuth returns an error with a code of OAuth (RFC 6749 section 5.2), for the routes whose errors have that shape.
func OAuth(status int, code, description string) *Error {
	return newError(status, code, code, description)
}

// Unauthorized returns the 401. The text is the same for every cause, so that a caller cannot
// find out which tokens exist.
func Unauthorized() *Error {
	return newError(http.StatusUnauthorized, "UnauthorizedError", codeUnauthorized, "A valid access token is required.")
}

// Forbidden returns the 403 for a token without the needed scope; reason may be empty.
func Forbidden(reason, message string) *Error {
	e := newError(http.StatusForbidden, "ForbiddenError", codeScope, message)
	e.Reason = reason
	return e
}

// FeatureNeeded returns the 403 for a feature that is not enabled on the event.
func FeatureNeeded(message string) *Error {
	return newError(http.StatusForbidden, "ForbiddenError", codeFeature, message)
}

// TooManyRequests returns the 429. The rate limiter adds the headers.
func TooManyRequests(message string) *Error {
	return newError(http.StatusTooManyRequests, "TooManyRequestsError", codeRateLimited, message)
}

// TooLarge returns the 413 for a body over limit bytes.
func TooLarge(limit int64) *Error {
	return newError(http.StatusRequestEntityTooLarge, "PayloadTooLargeError", codeTooLarge,
		fmt.Sprintf("The request body is larger than %d bytes.", limit))
}

// Advise adds a sentence to the message, if it is not empty, and returns the error.
func (e *Error) Advise(sentence string) *Error {
	e.Message = strings.TrimSpace(e.Message + " " + sentence)
	return e
}

// directly is the advice for a form that is too large for the gateway.
const directly = "A file of a session can be uploaded directly: POST .../files."

// TooLargeForGateway returns the 413 for a body that the gateway refuses. The message has no
// number, since the limit of the gateway applies to its encoded form of the body.
func TooLargeForGateway() *Error {
	return newError(http.StatusRequestEntityTooLarge, "PayloadTooLargeError", codeTooLarge,
		"The request body is too large. "+directly)
}

// UnsupportedMediaType returns the 415 for a body with another Content-Type than the route takes.
func UnsupportedMediaType(taken string) *Error {
	return newError(http.StatusUnsupportedMediaType, "UnsupportedMediaTypeError", codeMediaType,
		"The request body must be sent as "+taken+".")
}

// MethodNotAllowed returns the 405; allow is the Allow header.
func MethodNotAllowed(allow string) *Error {
	e := newError(http.StatusMethodNotAllowed, "MethodNotAllowedError", codeMethodNotAllowed, "This method is not allowed for this path.")
	e.Header = http.Header{"Allow": {allow}}
	return e
}

// Unprocessable returns the 422 for a valid request that cannot be executed.
func Unprocessable(code, message string) *Error {
	return newError(http.StatusUnprocessableEntity, "UnprocessableError", code, message)
}

// Unavailable returns the 503 for a request that may succeed later, with a Retry-After of one
// second.
func Unavailable() *Error {
	e := newError(http.StatusServiceUnavailable, "ServiceUnavailableError", codeUnavailable,
		"The service is busy. Please try again.")
	e.Header = http.Header{"Retry-After": {"1"}}
	return e
}

// Unscanned returns the 503 for a request that needs the verdict of a scanner on bytes, with a
// Retry-After of half a minute.
func Unscanned() *Error {
	e := Unavailable()
	e.Message = "The file is being scanned, or the scanner is not there. Please repeat the request."
	e.Header = http.Header{"Retry-After": {"30"}}
	return e
}

// Internal returns the 500. It has no argument, since the cause is only logged.
func Internal() *Error {
	return newError(http.StatusInternalServerError, "InternalServerError", codeInternal, "An unexpected error occurred.")
}
