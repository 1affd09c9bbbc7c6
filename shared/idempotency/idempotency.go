// Package idempotency answers a repeated write with the answer of its first
// success (design.md section 5). A single write puts the key's item into its own
// transaction; a bulk claims its key first and leaves a note with every part it
// has written. How writes are made is shared/write's; that the header counts
// only on writes by POST, and what a replay looks like, is shared/api's.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/table"
)

const (
	// Header carries the key, and Field is its name in an error.
	Header = "Idempotency-Key"
	// MaxKey is how many characters a key may have.
	MaxKey = 255
	// keep is how long an answer is replayed.
	keep = 24 * time.Hour
	// lease is how long a bulk holds its key: longer than a request may last.
	lease = 60 * time.Second
	// leaseMargin is how long before the end of its lease a bulk begins no
	// further transaction: longer than one may take with all its tries.
	leaseMargin = 10 * time.Second
	// maxAnswer is the longest answer that is kept; an item ends at 400 KB.
	maxAnswer = 300 << 10
)

// Codes of refused keys.
const (
	CodeReused = "IDEMPOTENCY_KEY_REUSED"
	CodeInUse  = "IDEMPOTENCY_KEY_IN_USE"
)

// ErrRaced is what a single write fails with when another request under the same
// key was written first: begin again, and replay its answer.
var ErrRaced = errors.New("idempotency: another request under the key came first")

// Answer is what the first request was answered with.
type Answer struct {
	// Version is the answered record's, for the ETag; 0 for an answer without.
	Version int64
	// Body is the answer's JSON.
	Body json.RawMessage
}

// Store keeps the keys:
//
//	PK                                             SK
//	O#<org>#I#<token>#<hash of method, path, key>  -                   claim or answer
//	                                               P#<claim>#<index>   results of one part of a bulk
//
// All items have a TTL.
type Store struct {
	Table *table.Table
	Now   func() time.Time
}

// Key is a request's idempotency key while the request is served.
type Key struct {
	store Store
	pk    string
	// was is the key's item as it was found; its version is 0 if there was none.
	was     state
	version int64
	claimed bool
	settled []Result
	body    string
}

// state is what the key's item holds.
type state struct {
	// Body is the hex SHA-256 of the request's body.
	Body string `json:"body"`
	// Claim tells apart the requests that used the key one after the other, a day
	// or more between them: when the first of them began. A single write stores
	// none.
	Claim int64 `json:"claim,omitempty"`
	// Lease is when another may take over a claim, in Unix milliseconds.
	Lease int64 `json:"lease,omitempty"`
	// Done is whether the request has been answered.
	Done bool `json:"done,omitempty"`
	// Version and Answer are the answer. Where it was too long, Ref is the id of
	// the record it showed, and Results those of a bulk.
	Version int64           `json:"version,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	Ref     string          `json:"ref,omitempty"`
	Results []Result        `json:"results,omitempty"`
}

// Begin looks up the key that a request of a token carries. It returns the answer
// to replay, or the Key under which the request is to be served. It is an
// apierr.Error with status 400 for a key that is none, 422 for one that came
// with another body, and 409 while a bulk under the key is under way.
func (s Store) Begin(ctx context.Context, org, token int64, method, path, key string, body []byte) (*Key, *Answer, error) {
	if err := checkKey(key); err != nil {
		return nil, nil, err
	}
	k := &Key{store: s, pk: partition(org, token, method, path, key), body: hash(body)}
	item, err := s.Table.Get(ctx, k.item())
	if errors.Is(err, table.ErrNotFound) {
		k.was.Claim = s.Now().UnixNano()
		return k, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(item.Data, &k.was); err != nil {
		return nil, nil, fmt.Errorf("idempotency: decode %s: %w", k.pk, err)
	}
	k.version = item.Version
	answer, err := k.found()
	return k, answer, err
}

// found decides what an item means that was there already.
func (k *Key) found() (*Answer, error) {
	switch {
	case k.was.Body != k.body:
		return nil, apierr.Unprocessable(CodeReused, "This idempotency key was used with another request body.")
	case k.was.Done && k.was.Answer != nil:
		return &Answer{Version: k.was.Version, Body: k.was.Answer}, nil
	case !k.was.Done && k.store.Now().UnixMilli() < k.was.Lease:
		return nil, k.inUse()
	case !k.was.Done && k.ending():
		k.was.Lease = k.ends().UnixMilli()
		return nil, k.inUse()
	}
	return nil, nil
}

// ends is when a claim ends, with the results of its parts.
func (k *Key) ends() time.Time { return time.Unix(0, k.was.Claim).Add(keep) }

// ending is whether a claim would end before a request that takes it up now: the
// next one would then do everything again beside it.
func (k *Key) ending() bool { return k.store.Now().Add(2 * lease).After(k.ends()) }

// inUse is the 409 that says when to come back.
func (k *Key) inUse() error {
	wait := time.Duration(k.was.Lease-k.store.Now().UnixMilli()) * time.Millisecond
	e := apierr.Conflict(CodeInUse, "A request with this idempotency key is being served.")
	e.Header = http.Header{"Retry-After": {strconv.FormatInt(int64(max(wait, 0)/time.Second)+1, 10)}}
	return e
}

// checkKey refuses a key that is empty, too long or not printable ASCII.
func checkKey(key string) error {
	good := key != "" && len(key) <= MaxKey
	for _, c := range []byte(key) {
		good = good && c >= ' ' && c <= '~'
	}
	if !good {
		return apierr.Invalid(Header, "%s must have 1 to %d printable ASCII characters.", Header, MaxKey)
	}
	return nil
}

func partition(org, token int64, method, path, key string) string {
	// A line end stands in none of the three, so no two triples look alike.
	what := hash([]byte(method + "\n" + path + "\n" + key))
	return table.Org(org) + "#I#" + strconv.FormatInt(token, 10) + "#" + what
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

type contextKey struct{}

// With puts the key of a request into its context.
func With(ctx context.Context, k *Key) context.Context {
	return context.WithValue(ctx, contextKey{}, k)
}

// From gives the key of the request; nil if it has none.
func From(ctx context.Context) *Key {
	k, _ := ctx.Value(contextKey{}).(*Key)
	return k
}
