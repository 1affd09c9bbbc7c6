// Package idempotency does a write that is sent twice once (design.md section 5). It
// keeps the ids of the records that the first success wrote, and a repetition shows the
// records as they are now. A single write puts the key's item into its own transaction; a bulk is a job
// (shared/job) of the key. How writes are made is shared/write's; that the header counts
// only on writes by POST is shared/api's.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/job"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	// Header is the name of the header with the key.
	Header = "Idempotency-Key"
	// MaxKey is how many characters a key may have.
	MaxKey = 255
	// keep is how long a write is not done again.
	keep = 24 * time.Hour
)

// Codes of refused keys.
const (
	CodeReused = "IDEMPOTENCY_KEY_REUSED"
	CodeInUse  = "IDEMPOTENCY_KEY_IN_USE"
)

// ErrRaced is the error of a single write after another request under the same key was written
// first. The caller begins again and shows the record of the other request.
var ErrRaced = errors.New("idempotency: another request under the key came first")

// Keys are the patterns of the items under a key: a single write or the claim of a bulk, and
// the results of a part of a bulk. The hash is that of method, path and key. The error of a refused
// operation may repeat text that the client sent, such as the name of an unknown field. Only the
// time to live removes it: the keys name no contact.
var Keys = []keys.Pattern{
	{Name: "idempotency key", PK: "o#I#<token>#<hash>", SK: "-", Expires: true, Personal: keys.Person},
	{Name: "idempotency key", PK: "o#I#<token>#<hash>", SK: "P#<claim>#<index>", Expires: true, Personal: keys.Person},
}

// Store keeps the keys.
type Store struct {
	Table *table.Table
	Now   func() time.Time
}

// Request is a request with a key.
type Request struct {
	Org, Token        int64
	Method, Path, Key string
	Body              []byte
}

// Key is a request's idempotency key while the request is served.
type Key struct {
	job  *job.Job
	kept kept
}

// kept is the content of the key's item after a single write, beside the job's content.
type kept struct {
	// Body is the hex SHA-256 of the request's body.
	Body string `json:"body"`
	Done bool   `json:"done,omitempty"`
	// Version and Ref are the version and the id of the record that was written.
	Version int64  `json:"version,omitempty"`
	Ref     string `json:"ref,omitempty"`
	former
}

// Begin looks up the key of a request. It returns an apierr.Error with status 400 for a
// malformed key, 422 for a key that came with another body, and 409 while a bulk under
// the key is under way.
func (s Store) Begin(ctx context.Context, r Request) (*Key, error) {
	if err := checkKey(r.Key); err != nil {
		return nil, err
	}
	k := &Key{job: &job.Job{Table: s.Table, Now: s.Now, PK: r.partition(), Input: hash(r.Body), Keep: keep}}
	data, err := k.job.Load(ctx)
	switch {
	case errors.Is(err, job.ErrInput):
		return nil, apierr.Unprocessable(CodeReused, "This idempotency key was used with another request body.")
	case err != nil:
		return nil, err
	case data == nil:
		return k, nil
	}
	if err := json.Unmarshal(data, &k.kept); err != nil {
		return nil, fmt.Errorf("idempotency: decode %s: %w", k.job.PK, err)
	}
	if k.kept.Done {
		return k, k.kept.adopt()
	}
	return k, k.refused(k.job.Claimed())
}

// Replays reports whether the request was done before and must not be done again.
func (k *Key) Replays() bool { return k.kept.Done || k.job.Finished() }

// Ref returns the id of the record that an earlier single write under the key wrote;
// empty if there was none.
func (k *Key) Ref() string { return k.kept.Ref }

// Write returns the write of the key's item for the transaction of a single write, with the
// id and version of the record. The transaction fails with ErrRaced if the key was used
// meanwhile.
func (k *Key) Write(id string, version int64) (table.Write, error) {
	text, err := wire.Encode(kept{Body: k.job.Input, Done: true, Version: version, Ref: id})
	if err != nil {
		return table.Write{}, fmt.Errorf("idempotency: encode %s: %w", k.job.PK, err)
	}
	item := table.Item{Key: k.job.Key(), Version: 1, Data: text, Expires: k.job.Now().Add(keep).Unix()}
	return table.Insert(item).Or(ErrRaced), nil
}

// refused returns the error for an error of the job: the 409 that says when to come back, or
// ErrRaced.
func (k *Key) refused(err error) error {
	if errors.Is(err, job.ErrLost) {
		return ErrRaced
	}
	claimed := (*job.ClaimedError)(nil)
	if !errors.As(err, &claimed) {
		return err
	}
	wait := claimed.Until.Sub(k.job.Now())
	return apierr.Conflict(CodeInUse, "A request with this idempotency key is being served.").RetryAfter(wait)
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

func (r Request) partition() string {
	// No part contains a line end, so different parts give different texts.
	what := hash([]byte(r.Method + "\n" + r.Path + "\n" + r.Key))
	return table.Org(r.Org) + "#I#" + strconv.FormatInt(r.Token, 10) + "#" + what
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

type contextKey struct{}

// With returns the context of a request with the key.
func With(ctx context.Context, k *Key) context.Context {
	return context.WithValue(ctx, contextKey{}, k)
}

// From returns the key of the request; nil for a request without a key.
func From(ctx context.Context) *Key {
	k, _ := ctx.Value(contextKey{}).(*Key)
	return k
}
