package verify

import (
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
	"lectern/shared/webhook"
)

const (
	// expiryTime is longer than a check takes. An item whose least time ends within expiryTime may be
	// absent.
	expiryTime = time.Hour
	// sweepTime is longer than the clocks of sweeper and check differ. The sweeper may have removed a
	// due item whose time is earlier than sweepTime from now.
	sweepTime = time.Minute
	// dueBuckets is the number of partitions of a minute's due items.
	dueBuckets = 8
)

// deliveries has the items of webhooks of an organization.
type deliveries struct {
	// stored has the deliveries and waiting the due items by key, bodies the keys of the bodies, and
	// states the endpoints with a state.
	stored  map[table.Key]deliverySummary
	waiting map[table.Key]dueSummary
	bodies  map[table.Key]bool
	states  map[string]bool
}

// newDeliveries returns deliveries without items.
func newDeliveries() deliveries {
	return deliveries{map[table.Key]deliverySummary{}, map[table.Key]dueSummary{}, map[table.Key]bool{}, map[string]bool{}}
}

// deliverySummary has a delivery without attempts.
type deliverySummary struct {
	endpoint, record string
	at               time.Time
	body             table.Key
	// next and due are the time and the key of the due item of the next attempt; zero for a
	// delivery that needs none.
	next time.Time
	due  table.Key
}

// dueSummary has the endpoint of a due item, and the key of the delivery; a replay has no delivery.
type dueSummary struct {
	endpoint string
	delivery table.Key
	at       time.Time
}

// OrganizationOf returns the id of the organization of an item: from the partition, or from the
// content of a due item. It returns 0 for an item of the region, and for a due item that cannot be
// read.
func OrganizationOf(item raw.Item) int64 {
	at := raw.ParsePartition(item.PK)
	if at.Org != 0 || item.Pattern() != delivery.Due {
		return at.Org
	}
	var d delivery.DueItem
	if json.Unmarshal([]byte(item.Data), &d) != nil {
		return 0
	}
	return max(d.Org, 0)
}

// deliveryKey returns the key of a delivery. The day is that of the change.
func deliveryKey(org int64, endpoint, id string, at time.Time) table.Key {
	return table.Key{PK: table.Org(org) + "#W#" + endpoint + "#" + at.UTC().Format("20060102"), SK: id}
}

// dueKey returns the key of a due item. name is the mode with the number of the attempt or part.
func dueKey(id, name string, at time.Time) table.Key {
	if id == "" {
		return table.Key{}
	}
	return table.Key{PK: fmt.Sprintf("D#%d#%d", at.Unix()/60, id[len(id)-1]%dueBuckets), SK: id + "#" + name}
}

// addDelivery adds a delivery, or the state of an endpoint. The id in the key of a delivery depends on
// the change, the kind, the sequence and the endpoint.
func (o *Organization) addDelivery(at raw.Partition, item raw.Item) {
	endpoint, _, found := strings.Cut(at.Rest, "#")
	if !found {
		o.read(item, "state of a webhook endpoint", &delivery.State{})
		o.deliveries.states[endpoint] = true
		return
	}
	var w delivery.Work
	if !o.read(item, "delivery", &w) {
		return
	}
	m := bus.Message{
		Change: w.Hidden.Change, At: w.CreatedAt, Org: w.Hidden.Org, Kind: w.Kind, Sequence: w.Sequence, Type: w.Hidden.Type, RecordID: w.RecordID,
	}
	if w.Hidden.Org != o.id || w.ID != delivery.ID(m, w.Endpoint) || item.Key != deliveryKey(o.id, w.Endpoint, w.ID, w.CreatedAt.Time) {
		o.problemf("a delivery to %s stands in the wrong place", endpoint)
		return
	}
	if (w.Status == delivery.Pending) != (w.NextAttemptAt != nil) {
		o.problemf("delivery %s to %s has a status that does not fit the time of its next attempt", w.ID, endpoint)
	}
	d := deliverySummary{
		endpoint: endpoint, record: m.Type + " " + m.RecordID, at: w.CreatedAt.Time,
		body: table.Key{
			PK: o.key + "#B#" + m.Type + "#" + m.RecordID, SK: fmt.Sprintf("%s#%s#%d#%s", m.Change, m.Kind, m.Sequence, w.Hidden.Form),
		},
	}
	if w.NextAttemptAt != nil && !w.Hidden.Queued {
		d.next, d.due = w.NextAttemptAt.Time, dueKey(w.ID, strconv.Itoa(w.Hidden.Made+1), w.NextAttemptAt.Time)
	}
	o.deliveries.stored[item.Key] = d
}

// addWebhookBody adds a body and checks the place for the id.
func (o *Organization) addWebhookBody(_ raw.Partition, item raw.Item) {
	o.deliveries.bodies[item.Key] = true
	var all map[string]any
	if o.read(item, "webhook body", &all) && !strings.HasSuffix(item.Data, delivery.Place) {
		o.problemf("a webhook body has no place for its id")
	}
}

// addDue adds a due item: an attempt of a delivery, or the next part of a replay.
func (o *Organization) addDue(_ raw.Partition, item raw.Item) {
	var d delivery.DueItem
	if !o.read(item, "due item", &d) {
		return
	}
	summary, name := dueSummary{endpoint: d.Endpoint}, string(d.Mode)+strconv.Itoa(d.Attempt)
	if d.Replay != nil {
		name = string(delivery.Replayed) + strconv.Itoa(d.Replay.Part)
	} else {
		summary.at = timeOf(d.ID)
		summary.delivery = deliveryKey(o.id, d.Endpoint, d.ID, summary.at)
	}
	if item.Key != dueKey(d.ID, name, d.At.Time) || d.Replay == nil && summary.at.IsZero() {
		o.problemf("a due item of %s stands in the wrong place", d.Endpoint)
	}
	o.deliveries.waiting[item.Key] = summary
}

// timeOf returns the time in the id of a delivery, which is that of the change; zero for another text.
func timeOf(id string) time.Time {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(parsed.Time().UnixTime())
}

// checkDeliveries compares deliveries, bodies, due items and states with each other and with the
// endpoints. A message in a queue is no item: a delivery whose next attempt is due may wait there.
func (o *Organization) checkDeliveries(now time.Time) {
	all := o.deliveries
	for key, d := range all.stored {
		if !o.knowsEndpoint(d.endpoint) {
			o.problemf("delivery %s belongs to the endpoint %s, which is not there", key.SK, d.endpoint)
		}
		if !all.bodies[d.body] && !o.purged[d.record] && isKept(d.at, now) {
			o.problemf("delivery %s to %s has no body", key.SK, d.endpoint)
		}
		if _, found := all.waiting[d.due]; !found && d.next.After(now.Add(sweepTime)) {
			o.problemf("delivery %s to %s waits for its next attempt and has no due item", key.SK, d.endpoint)
		}
	}
	for key, d := range all.waiting {
		if !o.knowsEndpoint(d.endpoint) {
			o.problemf("due item %s belongs to the endpoint %s, which is not there", key.SK, d.endpoint)
			continue
		}
		// Maintenance removes the deliveries of a deleted endpoint, and leaves the due items to the sweeper.
		_, found := all.stored[d.delivery]
		if deleted := o.small[d.endpoint].DeletedAt != nil || o.purged[webhook.Kind+" "+d.endpoint]; !found && !deleted && isKept(d.at, now) {
			o.problemf("due item %s is of a delivery to %s that is not there", key.SK, d.endpoint)
		}
	}
	for _, endpoint := range sortedKeys(all.states) {
		if !o.knowsEndpoint(endpoint) {
			o.problemf("a state belongs to the endpoint %s, which is not there", endpoint)
		}
	}
}

// knowsEndpoint reports whether a webhook endpoint is present, deleted or purged: deliveries outlive
// their endpoint until maintenance removes them, or until they expire.
func (o *Organization) knowsEndpoint(id string) bool {
	return o.small[id].kind == webhook.Kind || o.purged[webhook.Kind+" "+id]
}

// isKept reports whether a delivery of a change, and the body, cannot have expired. Both are kept for
// delivery.Keep after they are written, which is after the change. The zero time is not kept.
func isKept(at, now time.Time) bool { return now.Sub(at) < delivery.Keep-expiryTime }
