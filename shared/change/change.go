// Package change holds the change record: what a write did to a record, put
// into the write's own transaction. It is at once the audit trail, the outbox
// and the feed (design.md section 6). Who acts travels in the context. What is
// published from a change record, and to whom, is not decided here.
package change

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// Sources a change can come from.
const (
	SourceAPI   = "public_api"
	SourceAdmin = "admin"
)

// Kinds of actors.
const (
	ActorToken    = "api_token"
	ActorOperator = "operator"
)

// Actor is who made a change: a member through a token, or the operator.
type Actor struct {
	// Type is one of the Actor constants.
	Type string `json:"type"`
	// ID is the member behind a token; 0 when there is none.
	ID int64 `json:"id,omitempty"`
	// Token is the token's id; 0 when there is none.
	Token int64 `json:"token,omitempty"`
}

// Kind is one thing a change publishes about its record.
type Kind struct {
	// Name is a published kind, such as session.updated.
	Name string `json:"name"`
	// Sequence is the record's next number of published kinds.
	Sequence int64 `json:"sequence"`
	// Fields names what changed. The last one is Others where not all fit.
	Fields []string `json:"fields,omitempty"`
}

// Value is one changed field. Old and New are JSON values; New leaves a Cut in the
// place of a long one.
type Value struct {
	Field string `json:"field"`
	Old   any    `json:"old"`
	New   any    `json:"new"`
}

// Record is what one write did to one record.
type Record struct {
	// ID is a UUID that is ordered by time.
	ID string `json:"id"`
	// At is the record's new updated_at.
	At wire.Time `json:"at"`
	// Org is the organization; Event is 0 for what belongs to no event.
	Org   int64 `json:"org"`
	Event int64 `json:"event,omitempty"`
	Actor Actor `json:"actor"`
	// RequestID is that of the request the write was made by.
	RequestID string `json:"request_id,omitempty"`
	// Action is the kind of record and what was done, such as session.updated.
	Action string `json:"action"`
	// Type is the kind of record, RecordID its id, Version the one it now has.
	Type     string `json:"type"`
	RecordID string `json:"record_id"`
	Version  int64  `json:"version"`
	// Kinds is what the change publishes, Values what it changed.
	Kinds  []Kind  `json:"kinds,omitempty"`
	Values []Value `json:"values,omitempty"`
	// Source is one of the Source constants.
	Source string `json:"source"`
}

// New completes a record: its id, which is the same whenever the same version
// of the same record is written at the same time, actor, request and source
// from the context, and values cut to size.
func New(ctx context.Context, r Record) Record {
	o := from(ctx)
	r.Actor, r.Source, r.RequestID = o.actor, o.source, o.request
	r.ID = id(r)
	r.Values = fitted(r.Values)
	r.Kinds = slices.Clone(r.Kinds)
	for i, k := range r.Kinds {
		r.Kinds[i].Fields = listed(k.Fields)
	}
	return r
}

// Buckets is how many partitions the changes of an organization's hour are
// spread over, since one takes about 500 writes a second.
const Buckets = 8

// Write puts the record into a transaction:
//
//	PK                             SK
//	O#<org>#H#<yyyymmddhh>#<0..7>  <id>
func (r Record) Write() table.Write {
	return table.Insert(table.Item{Key: r.Key(), Version: 1, Data: encode(r)})
}

// Pointer notes the record under pk, the partition of the person whose values it
// holds, so that they can be found and erased: the id says where it stands. Its data
// is that of this record alone, also where another write has claimed the same id.
//
//	PK    SK
//	<pk>  H#<id>
func (r Record) Pointer(pk string) table.Write {
	return table.Insert(table.Item{Key: table.Key{PK: pk, SK: "H#" + r.ID}, Version: 1, Data: fmt.Appendf(nil, `{"sha256":"%x"}`, sha256.Sum256(encode(r)))})
}

// Key is where the record stands.
func (r Record) Key() table.Key {
	bucket := int(r.ID[len(r.ID)-1]) % Buckets
	return table.Key{PK: Partition(r.Org, r.At.Time, bucket), SK: r.ID}
}

// Partition is where the changes of an organization in the hour of at stand
// that fall into a bucket, from 0 to Buckets-1.
func Partition(org int64, at time.Time, bucket int) string {
	return table.Org(org) + "#H#" + at.UTC().Format("2006010215") + "#" + strconv.Itoa(bucket)
}

// id makes a UUID of version 7: the time, then a hash of what was written in
// the place of random bits.
func id(r Record) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%d|%d|%s|%s|%d", r.Org, r.Event, r.Type, r.RecordID, r.Version))
	binary.BigEndian.PutUint64(u[:8], uint64(r.At.UnixMilli())<<16|uint64(u[6])<<8|uint64(u[7]))
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// encode writes JSON. What a change holds was JSON before or is about to be
// stored as such, so a failure is a mistake in the program.
func encode(v any) []byte {
	data, err := wire.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("change: encode %T: %v", v, err))
	}
	return data
}
