package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lectern/shared/api"
	"lectern/shared/outside"
)

const (
	// totalTime limits an attempt.
	totalTime = 15 * time.Second
	// readBytes are read of an answer, keptBytes are kept.
	readBytes = 20 << 10
	keptBytes = 2 << 10
)

// userAgent is the User-Agent of deliveries.
const userAgent = "Lectern/" + api.Version

// Request is what is sent to an endpoint.
type Request struct {
	Org      int64
	Endpoint *Endpoint
	// ID is the webhook-id, the same at each attempt. Kind and Attempt are told in headers of ours.
	ID      string
	Kind    string
	Attempt int
	Body    []byte
}

// Answer is the outcome of an attempt.
type Answer struct {
	// Status is the status of the answer; 0 without one.
	Status  int
	Latency time.Duration
	// Body is the beginning of the answer, at most 2 KB of valid text.
	Body string
	// Error says in plain words why there is no answer; empty with one.
	Error string
	// RetryAfter is what the receiver asks for with 429 or 503; 0 without.
	RetryAfter time.Duration
	// Signed is the signed text without the body.
	Signed string
}

// Sender signs and sends. It is safe for concurrent use.
type Sender struct {
	Sealer
	now       func() time.Time
	local     bool
	transport http.RoundTripper
	// total limits an attempt.
	total time.Duration
}

// NewSender returns the sender of a region on the network of this machine.
func NewSender(env api.Env) *Sender { return NewSenderOn(env, outside.NewNetwork()) }

// NewSenderOn returns the sender of a region on a network.
func NewSenderOn(env api.Env, n outside.Network) *Sender {
	return &Sender{Sealer{env.Keys}, env.Now, env.LocalReceivers, n.Transport(env.LocalReceivers), totalTime}
}

// Send makes one attempt. It returns an error only for a fault of ours, such as keys that cannot
// be read; whatever the receiver does is an Answer.
func (s *Sender) Send(ctx context.Context, r Request) (Answer, error) {
	at := s.now()
	signed := r.ID + "." + strconv.FormatInt(at.Unix(), 10) + "."
	header, err := s.header(ctx, r, at, signed)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Signed: signed}
	err = s.post(ctx, r, header, &a)
	a.Latency = s.now().Sub(at)
	if ctx.Err() != nil {
		return Answer{}, fmt.Errorf("webhook: attempt of %s: %w", r.ID, ctx.Err())
	}
	if err != nil {
		a.Error = plainError(err)
	}
	return a, nil
}

// post sends the request and notes the answer.
func (s *Sender) post(ctx context.Context, r Request, header http.Header, a *Answer) error {
	ctx, cancel := context.WithTimeout(ctx, s.total)
	defer cancel()
	if _, err := checkURL(r.Endpoint.URL, s.local); err != nil {
		return outside.ErrRefused
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Endpoint.URL, bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	req.Header = header
	res, err := s.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	a.Status = res.StatusCode
	if res.StatusCode < http.StatusOK { // The body of a 101 is the connection, which no time limits.
		return nil
	}
	a.RetryAfter = s.retryAfter(res)
	body, _ := io.ReadAll(io.LimitReader(res.Body, readBytes)) // The status decides, not the rest of the body.
	a.Body = beginning(body)
	return nil
}

// header returns the headers of a request. The headers of the endpoint come first, so that they
// never replace ours.
func (s *Sender) header(ctx context.Context, r Request, at time.Time, signed string) (http.Header, error) {
	p, err := r.Endpoint.private()
	if err != nil {
		return nil, err
	}
	plain, err := s.open(ctx, r.Org, r.Endpoint.ID, partHeaders, p.Headers)
	if err != nil {
		return nil, err
	}
	custom, err := decodeHeaders(plain)
	if err != nil {
		return nil, err
	}
	signature, err := s.signature(ctx, r, p, signed)
	if err != nil {
		return nil, err
	}
	// The header without a value is not sent. With it, Go sends the request again if a connection that
	// it reuses was closed: an instance of Lambda sleeps between invocations and does not see that.
	h := http.Header{"Idempotency-Key": {}}
	for name, value := range custom {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", userAgent)
	h.Set("Webhook-Id", r.ID)
	h.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("Webhook-Signature", signature)
	h.Set("Lectern-Event", r.Kind)
	h.Set("Lectern-Attempt", strconv.Itoa(r.Attempt))
	return h, nil
}

// signature returns the signatures of a request by the present secret and, for overlap after a
// rotation, by the former secret too.
func (s *Sender) signature(ctx context.Context, r Request, p private, signed string) (string, error) {
	secrets := [][]byte{p.Secret}
	if rotated := r.Endpoint.SecretRotatedAt; p.Former != nil && rotated != nil && s.now().Before(rotated.Add(overlap)) {
		secrets = append(secrets, p.Former)
	}
	all := make([]string, len(secrets))
	for i, sealed := range secrets {
		text, err := s.open(ctx, r.Org, r.Endpoint.ID, partSecret, sealed)
		if err != nil {
			return "", err
		}
		key, err := keyOf(text)
		if err != nil {
			return "", err
		}
		all[i] = sign(key, signed, r.Body)
	}
	return strings.Join(all, " "), nil
}

// sign returns a signature of the scheme Standard Webhooks, version 1. signed is the text before
// the body: id and timestamp, each with a full stop.
func sign(key []byte, signed string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(signed)) // A hash does not fail.
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// retryAfter returns what a receiver with too many requests asks for: seconds or a date.
func (s *Sender) retryAfter(res *http.Response) time.Duration {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	text := res.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(s.now()), 0)
	}
	return 0
}

// beginning returns the first 2 KB of an answer as valid text.
func beginning(body []byte) string {
	text := strings.ToValidUTF8(string(body), string(utf8.RuneError))
	if len(text) <= keptBytes {
		return text
	}
	end := keptBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// plainError says in plain words why there is no answer. It names no address: errors of the
// network do, and a query may have a secret.
func plainError(err error) string {
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, outside.ErrRefused):
		return refusedAddress
	case errors.As(err, &certificate):
		return "The certificate of the receiver is not valid for the url."
	case strings.Contains(err.Error(), "tls: "): // Most errors of TLS have no type.
		return "The receiver does not speak TLS 1.2 or later."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "The receiver did not answer in time: a connection may take 5 seconds, an answer 15."
	}
	return "The connection to the receiver failed."
}
