// Package deliveries checks the items of webhooks of an organization: deliveries, bodies, due items and
// states of endpoints, each with its key, with each other and with the endpoints. It knows the order in
// which the service writes the items (decision 33): an item that a process leaves when it ends at any
// step is no problem.
//
// Read deliveries.go for the items, check.go for the comparison, sweeper.go for the due items of the
// region.
package deliveries

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

// dueBuckets is the number of partitions of a minute's due items.
const dueBuckets = 8

// Items has the items of webhooks of an organization. Add the items in any order, then call Check.
type Items struct {
	org     int64
	problem func(format string, args ...any)
	// stored has the deliveries and waiting the due items by key, bodies the keys of the bodies, and
	// states the endpoints with a state.
	stored  map[table.Key]summary
	waiting map[table.Key]due
	bodies  map[table.Key]bool
	states  map[string]bool
}

// New returns Items without an item. problem is called with each problem; no problem shows a value of a
// record.
func New(org int64, problem func(format string, args ...any)) *Items {
	return &Items{
		org: org, problem: problem,
		stored: map[table.Key]summary{}, waiting: map[table.Key]due{}, bodies: map[table.Key]bool{}, states: map[string]bool{},
	}
}

// summary has a delivery without attempts.
type summary struct {
	endpoint, record string
	at               time.Time
	body             table.Key
	// next and due are the time and the key of the due item of the next attempt; zero for a
	// delivery that needs none.
	next time.Time
	due  table.Key
}

// due has the endpoint of a due item, and the key of the delivery; a replay has no delivery.
type due struct {
	endpoint string
	delivery table.Key
	at       time.Time
}

// read decodes the data of an item. It reports false, and adds a problem, if the data has another form.
func (all *Items) read(item raw.Item, into any) bool {
	if err := json.Unmarshal([]byte(item.Data), into); err != nil {
		all.problem("a %s cannot be read", item.Pattern().Name)
		return false
	}
	return true
}

// AddDelivery adds a delivery, or the state of an endpoint. The id in the key of a delivery depends on
// the change, the kind, the sequence and the endpoint.
func (all *Items) AddDelivery(at raw.Partition, item raw.Item) {
	endpoint, _, found := strings.Cut(at.Rest, "#")
	if !found {
		all.read(item, &delivery.State{})
		all.states[endpoint] = true
		return
	}
	var w delivery.Work
	if !all.read(item, &w) {
		return
	}
	m := bus.Message{
		Change: w.Hidden.Change, At: w.CreatedAt, Org: w.Hidden.Org, Kind: w.Kind, Sequence: w.Sequence,
		Type: w.Hidden.Type, RecordID: w.RecordID,
	}
	if w.Hidden.Org != all.org || w.ID != delivery.ID(m, w.Endpoint) || item.Key != deliveryKey(all.org, w.Endpoint, w.ID, w.CreatedAt.Time) {
		all.problem("a delivery to %s stands in the wrong place", endpoint)
		return
	}
	if (w.Status == delivery.Pending) != (w.NextAttemptAt != nil) {
		all.problem("delivery %s to %s has a status that does not fit the time of its next attempt", w.ID, endpoint)
	}
	d := summary{
		endpoint: endpoint, record: m.Type + " " + m.RecordID, at: w.CreatedAt.Time,
		body: table.Key{
			PK: table.Org(all.org) + "#B#" + m.Type + "#" + m.RecordID, SK: fmt.Sprintf("%s#%s#%d#%s", m.Change, m.Kind, m.Sequence, w.Hidden.Form),
		},
	}
	if w.NextAttemptAt != nil && !w.Hidden.Queued {
		d.next, d.due = w.NextAttemptAt.Time, dueKey(w.ID, strconv.Itoa(w.Hidden.Made+1), w.NextAttemptAt.Time)
	}
	all.stored[item.Key] = d
}

// AddBody adds a body and checks the place for the id.
func (all *Items) AddBody(item raw.Item) {
	all.bodies[item.Key] = true
	var body map[string]any
	if all.read(item, &body) && !strings.HasSuffix(item.Data, delivery.Place) {
		all.problem("a webhook body has no place for its id")
	}
}

// AddDue adds a due item: an attempt of a delivery, or the next part of a replay.
func (all *Items) AddDue(item raw.Item) {
	var d delivery.DueItem
	if !all.read(item, &d) {
		return
	}
	one, name := due{endpoint: d.Endpoint}, string(d.Mode)+strconv.FormatInt(cmp.Or(d.Asked, int64(d.Attempt)), 10)
	if d.Replay != nil {
		name = string(delivery.Replayed) + strconv.Itoa(d.Replay.Part)
	} else {
		one.at = timeOf(d.ID)
		one.delivery = deliveryKey(all.org, d.Endpoint, d.ID, one.at)
	}
	if item.Key != dueKey(d.ID, name, d.At.Time) || d.Replay == nil && one.at.IsZero() {
		all.problem("a due item of %s stands in the wrong place", d.Endpoint)
	}
	all.waiting[item.Key] = one
}

// deliveryKey returns the key of a delivery. The day is that of the change.
func deliveryKey(org int64, endpoint, id string, at time.Time) table.Key {
	return table.Key{PK: table.Org(org) + "#W#" + endpoint + "#" + at.UTC().Format("20060102"), SK: id}
}

// dueKey returns the key of a due item. name is the number of a scheduled attempt, or the mode with the
// time of a call or the number of a part.
func dueKey(id, name string, at time.Time) table.Key {
	if id == "" {
		return table.Key{}
	}
	return table.Key{PK: fmt.Sprintf("D#%d#%d", at.Unix()/60, id[len(id)-1]%dueBuckets), SK: id + "#" + name}
}

// timeOf returns the time in the id of a delivery, which is that of the change; zero for another text.
func timeOf(id string) time.Time {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(parsed.Time().UnixTime())
}
