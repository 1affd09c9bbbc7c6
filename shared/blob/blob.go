// Package blob stores bytes in the bucket of a region. Clients send and fetch the bytes at signed
// addresses, so no function holds them, but for the parts of a form (Send). Read blob.go first, then
// upload.go for bytes in one request, parts.go for bytes in parts, object.go for stored bytes, try.go, and
// errors.go.
package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lectern/shared/table"
)

// MaxExpiry is the longest life of a signed address. An address ends with the session of the
// role that signs, too.
const MaxExpiry = 15 * time.Minute

// The tries of a call. All tries of a call end before the request of a client does, so that the
// client gets a 503 and not the gateway's timeout.
const (
	tries = 3
	// maxPause is the longest pause between two tries.
	maxPause = 200 * time.Millisecond
	// tryTime limits a try, but for a try that sends or joins parts: S3 needs long for many parts.
	tryTime = 3 * time.Second
	// callTime limits a call with all tries, and completeTime a call that sends or joins parts.
	callTime, completeTime = 10 * time.Second, 20 * time.Second
)

var (
	// errUnnamed reports that the configuration names no bucket.
	errUnnamed = errors.New("blob: the configuration names no bucket")
	// errUnnamedObject reports that a record names no object: the empty key begins all keys.
	errUnnamedObject = errors.New("blob: an object to remove has no key")
)

// Place is a bucket with the configuration of its clients.
type Place struct {
	Bucket string
	// Config has the region and the credentials. With a BaseEndpoint, the bucket is in the path
	// of an address and not in the host.
	Config aws.Config
}

// Store is the bucket of a region. A Store is safe for concurrent use.
type Store struct {
	// Find returns the place. The store calls Find again after a failure only.
	Find func(context.Context) (Place, error)

	mu     sync.Mutex
	opened *opened
}

// opened has the clients of a found place.
type opened struct {
	bucket *string
	client *s3.Client
	// patient sends and joins parts: a try has the whole time of the call.
	patient *s3.Client
	sign    *s3.PresignClient
}

// Request is a request that a client sends itself. A request with other values of Headers, or
// without them, is refused.
type Request struct {
	Method, URL string
	Headers     map[string]string
}

// Named returns the Find of a bucket with the configuration of the environment.
func Named(bucket string) func(context.Context) (Place, error) {
	return func(ctx context.Context) (Place, error) {
		if bucket == "" {
			return Place{}, errUnnamed
		}
		loaded, err := config.LoadDefaultConfig(ctx)
		if err != nil {
			return Place{}, fmt.Errorf("blob: load AWS configuration: %w", err)
		}
		loaded.HTTPClient = table.HTTPClient(loaded.HTTPClient)
		return Place{Bucket: bucket, Config: loaded}, nil
	}
}

// open returns the clients of the place.
func (s *Store) open(ctx context.Context) (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return s.opened, nil
	}
	place, err := s.Find(ctx)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(place.Config, options, limit)
	s.opened = &opened{
		bucket: &place.Bucket, client: client, patient: s3.NewFromConfig(place.Config, options), sign: s3.NewPresignClient(client),
	}
	return s.opened, nil
}

// options puts the bucket into the path at an engine or emulator. A checksum by default would be
// signed into an address, and the client's bytes are not known there.
func options(o *s3.Options) {
	o.UsePathStyle = o.BaseEndpoint != nil
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	o.Retryer = retry.NewStandard(soon)
}

// soon sets the tries and the pauses of a call.
func soon(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = tries, maxPause }

// expires limits the life of an address.
func expires(life time.Duration) func(*s3.PresignOptions) {
	return s3.WithPresignExpires(min(life, MaxExpiry))
}

// request returns a signed request without the headers that every client sends by itself.
func request(signed *signer.PresignedHTTPRequest) Request {
	r := Request{Method: signed.Method, URL: signed.URL, Headers: map[string]string{}}
	for name := range signed.SignedHeader {
		if key := http.CanonicalHeaderKey(name); key != "Host" && key != "Content-Length" {
			r.Headers[key] = signed.SignedHeader.Get(name)
		}
	}
	return r
}
