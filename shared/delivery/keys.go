package delivery

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"lectern/shared/bus"
	"lectern/shared/feed"
	"lectern/shared/keys"
	"lectern/shared/table"
)

// Due is the pattern of the due items, and Swept that of the sweeper's progress. Body is the pattern
// of the rendered bodies: the partition names the record, so that an erasure finds those of a contact and of its sessions.
var (
	Due  = keys.Pattern{Name: "due item", PK: "D#<minute>#<0..7>", SK: "<id>#<attempt>", Expires: true, Personal: keys.Nothing}
	Body = keys.Pattern{Name: "webhook body", PK: "o#B#<kind>#<record>", SK: "<published>", Expires: true, Personal: keys.Person}

	Swept = keys.Pattern{Name: "progress of the sweeper", PK: markKey.PK, SK: markKey.SK, Personal: keys.Nothing}
)

// Keys are the patterns of the items of deliveries. A delivery keeps the answers of the
// receiver, which may repeat data of a contact.
var Keys = []keys.Pattern{
	{Name: "delivery", PK: "o#W#<endpoint>#<yyyymmdd>", SK: "<id>", Expires: true, Personal: keys.Person},
	{Name: "state of a webhook endpoint", PK: "o#W#<endpoint>", SK: "S", Expires: true, Personal: keys.Nothing},
	Body, Due, Swept,
}

// dueBuckets is the number of partitions of a minute's due items.
const dueBuckets = 8

// dayForm is the form of a day in keys.
const dayForm = "20060102"

// ID returns the id of the delivery of a message to an endpoint. The id depends on change, kind,
// sequence and endpoint alone: a UUID of version 7 with a hash instead of random bits.
func ID(m bus.Message, endpoint string) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%d|%s|%s|%d|%s", m.Org, m.Change, m.Kind, m.Sequence, endpoint))
	binary.BigEndian.PutUint64(u[:8], uint64(m.At.UnixMilli())<<16|uint64(u[6])<<8|uint64(u[7]))
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// root returns the partition of an endpoint's state, which begins the partitions of its deliveries.
func root(org int64, endpoint string) string { return table.Org(org) + "#W#" + endpoint }

// dayKey returns the partition of the deliveries of a day.
func dayKey(org int64, endpoint string, day time.Time) string {
	return root(org, endpoint) + "#" + day.UTC().Format(dayForm)
}

// key returns the key of a delivery. The day is in the id.
func key(org int64, endpoint, id string) table.Key {
	at, _ := feed.Time(id) // An id without a time has no delivery.
	return table.Key{PK: dayKey(org, endpoint, at), SK: id}
}

// stateKey returns the key of the state of an endpoint.
func stateKey(org int64, endpoint string) table.Key {
	return table.Key{PK: root(org, endpoint), SK: "S"}
}

// bodyKey returns the key of a body.
func bodyKey(m bus.Message, form string) table.Key {
	return table.Key{
		PK: fmt.Sprintf("%s#B#%s#%s", table.Org(m.Org), m.Type, m.RecordID),
		SK: fmt.Sprintf("%s#%s#%d#%s", m.Change, m.Kind, m.Sequence, form),
	}
}

// bodyKey returns the key of the delivery's body.
func (w *Work) bodyKey() table.Key {
	return bodyKey(bus.Message{
		Org: w.Hidden.Org, Type: w.Hidden.Type, RecordID: w.RecordID, Change: w.Hidden.Change, Kind: w.Kind, Sequence: w.Sequence,
	}, w.Hidden.Form)
}

// minuteOf returns the number of the minute of a time.
func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// duePartition returns a partition of the due items of a minute.
func duePartition(minute int64, bucket int) string {
	return "D#" + strconv.FormatInt(minute, 10) + "#" + strconv.Itoa(bucket)
}

// dueKey returns the key of a due item. name makes items of one id distinct.
func dueKey(at time.Time, id, name string) table.Key {
	return table.Key{PK: duePartition(minuteOf(at), int(id[len(id)-1])%dueBuckets), SK: id + "#" + name}
}
