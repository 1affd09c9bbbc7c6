package blob

import (
	"context"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

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
