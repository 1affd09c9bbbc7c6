package change

import (
	"context"
	"strings"
	"time"

	"lectern/shared/table"
)

// hourForm is the form of an hour in keys.
const hourForm = "2006010215"

// Hour returns the key of the item of an hour in which an organization has change
// records. A reader of the feed leaves out hours without an item:
//
//	PK         SK
//	O#<org>#H  <yyyymmddhh>
func Hour(org int64, at time.Time) table.Key {
	return table.Key{PK: table.Org(org) + "#H", SK: at.UTC().Format(hourForm)}
}

// Commit does all writes or none, as table.Transact does. It first puts the items of the
// hours of the change records, so that no change record stands in an hour without its
// item. The item of a transaction that then fails only costs a reader a read.
func Commit(ctx context.Context, t *table.Table, writes ...table.Write) error {
	for _, w := range writes {
		if w.Kind() != table.KindChange {
			continue
		}
		if err := t.Mark(ctx, hourOf(w.Key())); err != nil {
			return err
		}
	}
	return t.Transact(ctx, writes...)
}

// hourOf returns the key of the hour's item for the key of a change record.
func hourOf(key table.Key) table.Key {
	hour := key.PK[:strings.LastIndexByte(key.PK, '#')]
	last := strings.LastIndexByte(hour, '#')
	return table.Key{PK: hour[:last], SK: hour[last+1:]}
}
