package blob

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	smithy "github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Errors of the store. Every other error is a mistake of the service.
var (
	// ErrAbsent reports a key without bytes, or an upload in parts that has ended.
	ErrAbsent = errors.New("blob: there is no such object or upload")
	// ErrRefused reports parts that S3 does not join, or a key in use.
	ErrRefused = errors.New("blob: the parts do not fit the upload")
	// ErrBusy reports a call that may succeed when it is repeated.
	ErrBusy = errors.New("blob: the store is busy")
)

// refusals has the codes of S3 for calls that the client's values made fail.
var refusals = []string{
	"InvalidPart", "InvalidPartOrder", "InvalidPartNumber", "EntityTooSmall", "EntityTooLarge", "PreconditionFailed", "MalformedXML",
}

// failed returns the error of a call with its meaning; nil for nil. S3 answers 403 for a missing key
// to a role that may not list the bucket, and no function may.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	meaning, status := error(nil), 0 // No answer has the status 0.
	if answer := (*smithyhttp.ResponseError)(nil); errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	switch {
	case slices.ContainsFunc(refusals, func(code string) bool { return hasCode(err, code) }):
		meaning = ErrRefused
	case status == 0, status >= http.StatusInternalServerError, status == http.StatusConflict:
		meaning = ErrBusy
	case status == http.StatusNotFound, status == http.StatusForbidden:
		meaning = ErrAbsent
	}
	if meaning == nil {
		return fmt.Errorf("blob: %s: %w", doing, err)
	}
	return fmt.Errorf("%w: %s: %w", meaning, doing, err)
}

// unlessAbsent returns nil for ErrAbsent, and every other error.
func unlessAbsent(err error) error {
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return err
}

// hasCode reports whether S3 answered with an error code.
func hasCode(err error, code string) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && answer.ErrorCode() == code
}
