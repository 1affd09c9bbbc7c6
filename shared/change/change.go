// Package change stores a change record with each write of a record, in the same
// transaction. Change records are the audit trail, the outbox and the feed (design.md
// section 6, decision 16). The context carries the actor. Publishing is not part of
// this package. Read change.go, hours.go, values.go, context.go.
package change

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/feed"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Sources of a change.
const (
	SourceAPI   = "public_api"
	SourceAdmin = "admin"
	// SourceService is the source of a change that the service makes by itself.
	SourceService = "service"
)

// Kinds of actors.
const (
	ActorToken    = "api_token"
	ActorOAuth    = "oauth"
	ActorUser     = "user"
	ActorOperator = "operator"
	ActorSystem   = "system"
)

// Actor made a change: a member through a token, the operator, or the service itself.
type Actor struct {
	// Type is one of the Actor constants.
	Type string `json:"type"`
	// ID is the member of the token; 0 for other actors.
	ID int64 `json:"id,omitempty"`
	// Token is the token's id; 0 for other actors.
	Token int64 `json:"token,omitempty"`
}

// Kind is one published kind of a change.
type Kind struct {
	// Name is such as session.updated.
	Name string `json:"name"`
	// Sequence is the record's next number of published kinds.
	Sequence int64 `json:"sequence"`
	// Fields names the changed fields. The last name is Others where not all fit.
	Fields []string `json:"fields,omitempty"`
}

// Value is one changed field. Old and New are JSON values; New has a Cut instead
// of a long value.
type Value struct {
	Field string `json:"field"`
	Old   any    `json:"old"`
	New   any    `json:"new"`
}

// Record is the change record of one write of one record.
type Record struct {
	// ID is a UUID that is ordered by time.
	ID string `json:"id"`
	// At is the record's new updated_at.
	At wire.Time `json:"at"`
	// Org is the organization; Event is 0 for a record of the organization.
	Org   int64 `json:"org"`
	Event int64 `json:"event,omitempty"`
	Actor Actor `json:"actor"`
	// RequestID is the id of the request.
	RequestID string `json:"request_id,omitempty"`
	// Action is the kind of record with a verb, such as session.updated.
	Action string `json:"action"`
	// Type is the kind of record, RecordID its id, Version its new version.
	Type     string `json:"type"`
	RecordID string `json:"record_id"`
	Version  int64  `json:"version"`
	// Parent is the kind and the id of the record that the record belongs to, where a purge of
	// the parent removes the record without a change record.
	Parent string `json:"parent,omitempty"`
	// Kinds are published, Values are the changed fields. A first version has no values:
	// the record has them, and later changes have the old ones.
	Kinds  []Kind  `json:"kinds,omitempty"`
	Values []Value `json:"values,omitempty"`
	// Source is one of the Source constants.
	Source string `json:"source"`
	// Nonce is random, so that no two tries write the same bytes: a try that was never
	// done must not find its own change record. Older records have no nonce.
	Nonce string `json:"nonce,omitempty"`
}

// nonceBytes is how many random bytes a nonce has.
const nonceBytes = 8

// New completes a change record: the id, which depends on record, version and time
// alone; actor, request and source from the context; the nonce; and values cut to size.
// It drops the values of a first version.
func New(ctx context.Context, r Record) Record {
	o := OriginOf(ctx)
	r.Actor, r.Source, r.RequestID = o.Actor, o.Source, o.Request
	r.ID, r.Nonce = id(r), nonce()
	if r.Version == 1 {
		r.Values = nil
	}
	r.Values = fitted(r.Values)
	r.Kinds = slices.Clone(r.Kinds)
	for i, k := range r.Kinds {
		r.Kinds[i].Fields = listed(k.Fields)
	}
	return r
}

// nonce returns random text.
func nonce() string {
	random := make([]byte, nonceBytes)
	_, _ = rand.Read(random) // It never fails.
	return hex.EncodeToString(random)
}

// Buckets is the number of partitions for the changes of an organization's hour.
const Buckets = feed.Buckets

// Feed are the keys of the change records. The records of contacts have no values in the feed
// (PersonalWrites). The values of sessions, settings and small records may be text about a person
// that others wrote.
var Feed = keys.Pattern{Name: "change record", PK: "o#H#<yyyymmddhh>#<0..7>", SK: "<change>", Personal: keys.Outside}

// Keys are the patterns of the items of the feed.
var Keys = []keys.Pattern{Feed, {Name: "hour of change records", PK: "o#H", SK: "<yyyymmddhh>", Personal: keys.Nothing}}

// Write returns the write that puts the record into the feed.
func (r Record) Write() table.Write {
	return table.Insert(table.Item{Key: r.Key(), Version: 1, Data: encode(r), Kind: table.KindChange})
}

// PersonalWrites returns the writes of a change record about a person or company, whose
// partition is pk. The whole record is in pk, so that a purge of the person finds and
// erases it; the feed gets the record without values.
func (r Record) PersonalWrites(pk string) []table.Write {
	thin := r
	thin.Values = nil
	whole := table.Item{Key: PersonalKey(pk, r.ID), Version: 1, Data: encode(r)}
	return []table.Write{thin.Write(), table.Insert(whole)}
}

// PersonalKey returns the key of the whole record of an id in the partition pk.
func PersonalKey(pk, id string) table.Key { return table.Key{PK: pk, SK: "H#" + id} }

// ParentID returns the id of the record that the record belongs to; empty without one.
func (r Record) ParentID() string {
	_, id, _ := strings.Cut(r.Parent, " ")
	return id
}

// Key returns the key of the record in the feed.
func (r Record) Key() table.Key { return feed.Key(Root(r.Org), r.ID, r.At.Time) }

// Root returns the beginning of the partitions of an organization's changes, and the partition of
// the hours with changes.
func Root(org int64) string { return table.Org(org) + "#H" }

// Partition returns the partition of an organization's changes in the hour of at, for a
// bucket from 0 to Buckets-1.
func Partition(org int64, at time.Time, bucket int) string {
	return feed.Partition(Root(org), at, bucket)
}

// id returns a UUID of version 7, with a hash of record and version instead of
// random bits.
func id(r Record) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%d|%d|%s|%s|%d", r.Org, r.Event, r.Type, r.RecordID, r.Version))
	binary.BigEndian.PutUint64(u[:8], uint64(r.At.UnixMilli())<<16|uint64(u[6])<<8|uint64(u[7]))
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// encode writes JSON. All values of a change are stored as JSON anyway, so a failure is
// a mistake in the program.
func encode(v any) []byte {
	data, err := wire.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("change: encode %T: %v", v, err))
	}
	return data
}
