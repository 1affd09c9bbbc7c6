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

// absences has the codes of S3 for a missing object, version or upload.
var absences = []string{"NoSuchKey", "NoSuchVersion", "NoSuchUpload"}

// failed returns the error of a call with its meaning; nil for nil. S3 answers 403 for a missing key
// to a role that may not list the bucket, and no function that reads objects may.
func failed(doing string, err error) error {
	if status := statusOf(err); status == http.StatusNotFound || status == http.StatusForbidden {
		return fmt.Errorf("%w: %s: %w", ErrAbsent, doing, err)
	}
	return failedRemoval(doing, err)
}

// failedRemoval returns the error of a removal with its meaning; nil for nil. The error is ErrAbsent
// only if S3 names what is absent. After any other refusal the bytes are still there.
func failedRemoval(doing string, err error) error {
	status := statusOf(err)
	switch {
	case err == nil:
		return nil
	case hasCode(err, absences...):
		return fmt.Errorf("%w: %s: %w", ErrAbsent, doing, err)
	case hasCode(err, refusals...):
		return fmt.Errorf("%w: %s: %w", ErrRefused, doing, err)
	case status == noAnswer, status >= http.StatusInternalServerError, status == http.StatusConflict:
		return fmt.Errorf("%w: %s: %w", ErrBusy, doing, err)
	}
	return fmt.Errorf("blob: %s: %w", doing, err)
}

// noAnswer is the status of an error without an answer.
const noAnswer = 0

// statusOf returns the status of the answer of S3. The status of an answer that broke off is noAnswer.
func statusOf(err error) int {
	answer := (*smithyhttp.ResponseError)(nil)
	if !errors.As(err, &answer) || answer.HTTPStatusCode() < http.StatusMultipleChoices {
		return noAnswer
	}
	return answer.HTTPStatusCode()
}

// unlessAbsent returns nil for ErrAbsent, and every other error.
func unlessAbsent(err error) error {
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return err
}

// hasCode reports whether S3 answered with any of the error codes.
func hasCode(err error, codes ...string) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && slices.Contains(codes, answer.ErrorCode())
}
