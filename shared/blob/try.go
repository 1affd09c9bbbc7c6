package blob

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lectern/shared/table"
)

// repeats are the tries of Again.
var repeats = table.Retry{Tries: 4, First: 50 * time.Millisecond, Max: time.Second}

// Again does a call until its error is not ErrBusy, or for the last of a few tries. The client of S3 tries again after
// most failures, but neither after an answer that breaks off nor after a conflict: the server of one machine answers
// 409 to a write beside the removal of a folder.
func Again(ctx context.Context, call func() error) (err error) {
	for _, ended := range repeats.Each(ctx) {
		if ended != nil {
			return errors.Join(err, ended)
		}
		if err = call(); !errors.Is(err, ErrBusy) {
			return err
		}
	}
	return err
}

// limited gives each try of a call the same time, so that a try without an answer leaves time for the
// next one.
type limited struct{ client s3.HTTPClient }

// limit limits the tries of a client.
func limit(o *s3.Options) { o.HTTPClient = limited{o.HTTPClient} }

// Do sends a try. The time of the try includes reading the answer.
func (l limited) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), tryTime)
	answer, err := l.client.Do(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	answer.Body = body{answer.Body, cancel}
	return answer, nil
}

// body is the body of an answer whose try ends with Close.
type body struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close closes the body and ends the try.
func (b body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
