package requestlog

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// keepMark is how long the hash of ingested requests, and the number of wrong secrets of a minute,
// are kept. A source of requests repeats a delivery for less than a day, and the queue of failed
// deliveries keeps them for 14 days.
const keepMark = 15 * 24 * time.Hour

// Batch has requests of one organization, as they came from a source.
type Batch struct {
	Org     int64
	Entries []Entry
	// Hash is a hash of the requests as the source sent them. Store stores a hash once.
	Hash [sha256.Size]byte
	// Number orders the batches of one millisecond.
	Number uint16
}

// errStored is the error of a transaction with a hash that is stored already.
var errStored = errors.New("requestlog: the requests are stored")

// Store stores a batch as a pack, ingested at the time at. It reports false, and writes nothing,
// if a batch with the same hash was stored before. The item of the hour comes first, as with
// change records, so that a reader may leave out hours without an item.
func Store(ctx context.Context, t *table.Table, b Batch, at time.Time) (bool, error) {
	p := Pack{ID: packID(b, at), Org: b.Org, At: at, Entries: b.Entries}
	data, err := wire.Encode(p)
	if err != nil {
		return false, fmt.Errorf("requestlog: encode a pack: %w", err)
	}
	if err := t.Mark(ctx, feed.HourOf(p.Key())); err != nil {
		return false, err
	}
	mark := table.Item{
		Key: table.Key{PK: Root(b.Org) + "#" + hex.EncodeToString(b.Hash[:]), SK: "-"}, Version: 1, Data: []byte("{}"),
		Expires: at.Add(keepMark).Unix(),
	}
	pack := table.Item{Key: p.Key(), Version: 1, Data: data, Expires: at.Add(Keep).Unix()}
	err = t.Transact(ctx, table.Insert(mark).Or(errStored), table.Insert(pack))
	if errors.Is(err, errStored) {
		return false, nil
	}
	return err == nil, err
}

// maxNumber is the largest number of a batch in an id. Later batches of a delivery begin again.
const maxNumber = 0xfff

// packID returns a UUID of version 7: the millisecond of the ingestion, the number of the batch,
// and the hash instead of random bits.
func packID(b Batch, at time.Time) string {
	u := b.Hash
	binary.BigEndian.PutUint64(u[:8], uint64(at.UnixMilli())<<16|0x7000|uint64(b.Number&maxNumber))
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// MostWrongSecrets is the number of requests with a wrong secret that an organization's log
// stores for each minute. Everybody may send such requests, since the id of a token is no secret.
const MostWrongSecrets = 60

// ReserveWrongSecrets counts up to n requests with a wrong secret in a minute of an
// organization, and returns how many of them may be stored. Reservations never exceed
// MostWrongSecrets. A lost answer may count twice, and so may a delivery that is repeated, so
// fewer requests may be stored. more is false when the minute has no more reservations.
func ReserveWrongSecrets(ctx context.Context, t *table.Table, org int64, minute time.Time, n int64) (reserved int64, more bool, err error) {
	window := minute.Unix() / 60
	key := table.Key{PK: Root(org) + "#W#" + strconv.FormatInt(window, 10), SK: "-"}
	expires := minute.Add(keepMark).Unix()
	by := min(n, MostWrongSecrets)
	for by > 0 {
		count, ok, err := t.AddWithin(ctx, key, by, MostWrongSecrets, expires)
		if err != nil {
			return 0, true, err
		}
		if ok {
			return by, count < MostWrongSecrets, nil
		}
		by = min(by, MostWrongSecrets-count)
	}
	return 0, false, nil
}
