package outside

import (
	"net/http"
	"time"
)

// Client returns an HTTP client on a network. The client follows no redirect, and a call ends after total. Reading more than most bytes of
// an answer's body is an error. local allows LocalHost too.
func (n Network) Client(local bool, total time.Duration, most int64) *http.Client {
	return &http.Client{
		Transport: bounded{n.Transport(local), most}, CheckRedirect: keepRedirect, Timeout: total,
	}
}

// keepRedirect makes a redirect an answer.
func keepRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bounded limits the bodies of answers.
type bounded struct {
	http.RoundTripper
	most int64
}

// RoundTrip sends a request, and limits the body of the answer.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, b.most)
	}
	return answer, err
}
