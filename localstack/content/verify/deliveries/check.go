package deliveries

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/shared/delivery"
	"lectern/shared/table"
)

const (
	// expiryTime is longer than a check takes. An item whose least time ends within expiryTime may be
	// absent.
	expiryTime = time.Hour
	// sweepTime is more than the clocks of sweeper and check differ. The sweeper may have removed a
	// due item whose time is earlier than sweepTime from now.
	sweepTime = time.Minute
)

// Records has the records of an organization.
type Records struct {
	// Endpoints has the webhook endpoints that were not purged, and reports whether each is present and
	// not deleted.
	Endpoints map[string]bool
	// Purged has the purged records, by kind and id.
	Purged map[string]bool
}

// endpointKind begins the purged endpoints.
const endpointKind = "webhook "

// knows reports whether a webhook endpoint is present, deleted or purged: deliveries outlive their
// endpoint until maintenance removes them, or until they expire.
func (r Records) knows(endpoint string) bool {
	_, found := r.Endpoints[endpoint]
	return found || r.Purged[endpointKind+endpoint]
}

// Check compares the items with each other and with the endpoints.
func (all *Items) Check(r Records, now time.Time) {
	for _, key := range sorted(all.stored) {
		all.checkDelivery(key, r, now)
	}
	for _, key := range sorted(all.waiting) {
		all.checkDue(key, r, now)
	}
	for _, endpoint := range slices.Sorted(maps.Keys(all.states)) {
		if !r.knows(endpoint) {
			all.problem("a state belongs to the endpoint %s, which is not there", endpoint)
		}
	}
}

// checkDelivery checks the endpoint, the body and the due item of a delivery. A message in a queue is
// no item: a delivery whose next attempt is due may wait there.
func (all *Items) checkDelivery(key table.Key, r Records, now time.Time) {
	d := all.stored[key]
	if !r.knows(d.endpoint) {
		all.problem("delivery %s belongs to the endpoint %s, which is not there", key.SK, d.endpoint)
	}
	if !all.bodies[d.body] && !r.Purged[d.record] && isKept(d.at, now) {
		all.problem("delivery %s to %s has no body", key.SK, d.endpoint)
	}
	if _, found := all.waiting[d.due]; !found && d.next.After(now.Add(sweepTime)) {
		all.problem("delivery %s to %s waits for its next attempt and has no due item", key.SK, d.endpoint)
	}
}

// checkDue checks the endpoint and the delivery of a due item. Maintenance removes the deliveries of a
// deleted endpoint, and leaves the due items to the sweeper.
func (all *Items) checkDue(key table.Key, r Records, now time.Time) {
	d := all.waiting[key]
	if !r.knows(d.endpoint) {
		all.problem("due item %s belongs to the endpoint %s, which is not there", key.SK, d.endpoint)
		return
	}
	if _, found := all.stored[d.delivery]; !found && r.Endpoints[d.endpoint] && isKept(d.at, now) {
		all.problem("due item %s is of a delivery to %s that is not there", key.SK, d.endpoint)
	}
}

// isKept reports whether a delivery of a change, and the body, cannot have expired. Both are kept for
// delivery.Keep after the change. The zero time is not kept.
func isKept(at, now time.Time) bool { return now.Sub(at) < delivery.Keep-expiryTime }

// sorted returns the keys of items in their order.
func sorted[V any](all map[table.Key]V) []table.Key {
	return slices.SortedFunc(maps.Keys(all), func(a, b table.Key) int {
		return cmp.Or(strings.Compare(a.PK, b.PK), strings.Compare(a.SK, b.SK))
	})
}
