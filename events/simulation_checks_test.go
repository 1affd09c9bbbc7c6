package events_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/deliverer"
	"lectern/shared/bus"
	"lectern/shared/delivery"
)

// checkCommitted: each committed change has a delivery to each endpoint that takes it and was
// enabled and not paused, and each record has all its sequences. The store has given the sequences, and
// the change records of the table have them.
func (s *simulation) checkCommitted(end time.Time) {
	s.Helper()
	sequences := map[string][]int64{}
	for _, m := range s.committed {
		sequences[m.RecordID] = append(sequences[m.RecordID], m.Sequence)
		for _, r := range s.receivers.all {
			soon := span{m.At.Time, m.At.Add(late)}
			if !r.wants(m) || !r.disabled.IsZero() && r.disabled.Before(soon.end) || end.Before(soon.end) || r.paused.overlaps(soon) {
				continue
			}
			w, err := s.store().Open(s.Context(), delivery.Task{Org: m.Org, Endpoint: r.ID, ID: delivery.ID(m, r.ID)})
			require.NoError(s, err)
			require.NotNil(s, w, "%s %d has no delivery to %s (%s)", m.Kind, m.Sequence, r.ID, r.profile)
		}
	}
	for id, all := range sequences {
		slices.Sort(all)
		for i, sequence := range all {
			require.EqualValues(s, i+1, sequence, "no gap in the sequence of the record %s: %v", id, all)
		}
	}
	require.Greater(s, len(s.committed), 3*len(sequences), "records are written often")
}

func (s *simulation) store() delivery.Store {
	return delivery.Store{Table: s.table, Now: s.Now, NewID: s.newID}
}

// newID returns the id of a replay, which decides its place among what is due: the same in each run.
func (s *simulation) newID() string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, s.random.Int64())).String()
}

// checkDeliveries reads all deliveries: none is without a commit, each has ended or is due, and the
// attempts keep the schedule.
func (s *simulation) checkDeliveries(end time.Time) {
	s.Helper()
	byID := map[string]bus.Message{}
	for _, m := range s.committed {
		for _, r := range s.receivers.all {
			byID[delivery.ID(m, r.ID)] = m
		}
	}
	statuses := map[string]int{}
	for _, r := range s.receivers.all {
		ended := 0
		all := s.deliveriesTo(r, end)
		for _, d := range all {
			m, ok := byID[d.ID]
			require.True(s, ok, "a delivery without a commit")
			require.Equal(s, []any{m.Kind, m.Sequence, m.RecordID}, []any{d.Kind, d.Sequence, d.RecordID})
			require.True(s, r.wants(m))
			s.checkEnd(r, d, end)
			if !r.isTouched(d) {
				s.checkSchedule(r, d)
			}
			statuses[d.Status]++
			if d.Status != delivery.Pending {
				ended++
			}
		}
		if r.profile == healthy {
			require.GreaterOrEqual(s, ended, len(all)-1, "a healthy receiver has all")
		}
	}
	s.checkPunctuality()
	s.Logf("deliveries: %v", statuses)
	require.Positive(s, statuses[delivery.Delivered], "the checks have seen the deliveries")
}

// deliveriesTo reads all deliveries to a receiver, some hours at a time: a list looks at 5,000 at most.
func (s *simulation) deliveriesTo(r *receiver, end time.Time) (all []delivery.Delivery) {
	s.Helper()
	const hours = 6 * time.Hour
	for since := end.Add(-s.whole - hours); !since.After(end); since = since.Add(hours) {
		some, more, err := s.store().List(s.Context(), r.org, r.ID, delivery.Filter{Since: since, Until: since.Add(hours)},
			delivery.Page{Limit: 1_000_000})
		require.NoError(s, err)
		require.False(s, more)
		all = append(all, some...)
	}
	return all
}

// checkEnd: a delivery has ended for a reason, or is due.
func (s *simulation) checkEnd(r *receiver, d delivery.Delivery, end time.Time) {
	s.Helper()
	answered := func(statuses ...int) bool {
		return slices.ContainsFunc(d.Attempts, func(a delivery.Attempt) bool {
			return a.Status != nil && (slices.Contains(statuses, *a.Status) || len(statuses) == 0 && *a.Status/100 == http.StatusOK/100)
		})
	}
	switch d.Status {
	case delivery.Delivered:
		require.True(s, answered(), r.profile)
		require.Nil(s, d.NextAttemptAt)
	case delivery.Cancelled:
		require.True(s, !r.disabled.IsZero() || !r.cancelled[d.ID].IsZero() || r.mayEnd[d.ID], r.profile)
	case delivery.Failed:
		require.True(s, len(d.Attempts) >= delivery.MostAttempts || answered(http.StatusGone), r.profile)
	case delivery.Pending:
		require.NotNil(s, d.NextAttemptAt)
		require.WithinRange(s, d.NextAttemptAt.Time, end.Add(-late), end.Add(48*time.Hour), "%s to %s after %d attempts", d.ID, r.profile, len(d.Attempts))
		require.True(s, s.isDue(r, d), "%s to %s (%s) is due at %s, and nothing says so", d.ID, r.ID, r.profile, d.NextAttemptAt)
	default:
		require.Fail(s, "unknown status", d.Status)
	}
}

// isDue reports whether a message in the queue or a due item has the next scheduled attempt of a delivery. At
// the end no message is with a worker.
func (s *simulation) isDue(r *receiver, d delivery.Delivery) bool {
	w, err := s.store().Open(s.Context(), delivery.Task{Org: r.org, Endpoint: r.ID, ID: d.ID})
	require.NoError(s, err)
	next := delivery.Task{Org: r.org, Endpoint: r.ID, ID: d.ID, Attempt: w.Hidden.Made + 1}
	for _, waits := range s.deliveries.waiting {
		var t delivery.Task
		require.NoError(s, json.Unmarshal(waits.body, &t))
		if t.Same(next) {
			return true
		}
	}
	later := delivery.Store{Table: s.table, Now: func() time.Time { return d.NextAttemptAt.Time }}
	items, err := later.DueIn(s.Context(), d.NextAttemptAt.Unix()/60)
	require.NoError(s, err)
	return slices.ContainsFunc(items, func(item delivery.DueItem) bool { return item.Replay == nil && item.Same(next) })
}

// bases are the delays of the schedule (gaps.md section 10).
var bases = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// checkSchedule: an attempt follows the one before after the delay of the schedule, and the next attempt of
// a pending delivery is planned so. An attempt is late by a crash or by the sweeper; checkPunctuality says
// how many may be.
func (s *simulation) checkSchedule(r *receiver, d delivery.Delivery) {
	s.Helper()
	require.LessOrEqual(s, len(d.Attempts), delivery.MostAttempts)
	for i, before := range d.Attempts {
		next := d.NextAttemptAt
		if i+1 < len(d.Attempts) {
			next = &d.Attempts[i+1].At
		} else if next == nil {
			return
		}
		wait := next.Sub(before.At.Add(time.Duration(before.LatencyMS) * time.Millisecond))
		least, most := time.Duration(0.8*float64(bases[i])), time.Duration(1.2*float64(bases[i]))+time.Second
		if before.Status != nil && *before.Status == http.StatusServiceUnavailable { // It asks for a time.
			most = 2 * bases[i]
		}
		require.GreaterOrEqual(s, wait, least, "%s attempt %d to %s", d.ID, i+1, r.profile)
		switch {
		case r.paused.overlaps(span{before.At.Time, next.Time}):
			require.LessOrEqual(s, wait, most+late+r.paused.end.Sub(r.paused.begin)+2*time.Hour, "%s attempt %d to %s", d.ID, i+1, r.profile)
		case i+1 == len(d.Attempts):
			require.LessOrEqual(s, wait, most, "%s has attempt %d to %s planned", d.ID, i+1, r.profile)
		default:
			require.LessOrEqual(s, wait, most+late, "%s attempt %d to %s", d.ID, i+1, r.profile)
			if i < len(s.waits) && (before.Error == nil || *before.Error != delivery.NotSent) {
				s.waits[i] = append(s.waits[i], wait-most)
			}
		}
	}
}

// soon is the time after which a message of the queue has an attempt, without a crash.
const soon = time.Minute

// checkPunctuality: of the attempts after one of the first delays, whose jitter is short, nine in ten come in
// time: soon, where the queue waits, and with the next sweep, where a due item does.
func (s *simulation) checkPunctuality() {
	s.Helper()
	for i, all := range s.waits {
		allowed := soon
		if bases[i] > bus.MaxDelay {
			allowed += sweepEvery
		}
		require.NotEmpty(s, all, "attempts after the delay of %s", bases[i])
		in := 0
		for _, late := range all {
			if late <= allowed {
				in++
			}
		}
		require.GreaterOrEqual(s, 10*in, 9*len(all), "attempts after the delay of %s come late", bases[i])
	}
}

// checkReceivers: each body is sent under one webhook-id and unchanged; a receiver that is gone, or
// fails for 5 days, gets nothing more; the breaker bounds the requests to a receiver that fails.
func (s *simulation) checkReceivers() {
	s.Helper()
	for _, r := range s.receivers.all {
		ids, bodies := map[string]string{}, map[string]string{}
		for _, one := range r.sent {
			change, _, _ := strings.Cut(one.body, `"random"`)
			if id, ok := ids[change]; ok {
				require.Equal(s, id, one.id, "two ids for a change")
			}
			if body, ok := bodies[one.id]; ok {
				require.Equal(s, body, one.body, "another body under the same id")
			}
			require.True(s, strings.HasSuffix(one.body, `"id":"`+one.id+`"}}`))
			ids[change], bodies[one.id] = one.id, one.body
			if !r.disabled.IsZero() {
				require.False(s, one.at.After(r.disabled), "a disabled receiver gets nothing")
			}
		}
		switch {
		case r.profile == gone && len(r.sent) > 0 && r.sent[len(r.sent)-1].status == http.StatusGone:
			require.Equal(s, deliverer.ReasonGone, r.reason)
		case r.profile == down || r.profile == hanging:
			s.checkFailing(r)
		case r.profile != gone:
			require.Zero(s, r.disabled, "%s: %s", r.profile, r.reason)
		}
	}
	if s.whole > delivery.MostFailing+24*time.Hour {
		require.Positive(s, s.exhausted, "receivers that were disabled since they always failed")
	}
}

// mostInAnHour bounds the requests to a receiver that always fails: ten open the breaker, and with
// them come those of the same batch and of batches whose results a crash has lost. Later, one tests
// the receiver each time.
const mostInAnHour = 60

// checkFailing checks a receiver that always fails: the service disables it when it fails for 5 days. The attempts of
// the changes of an organization may end before that.
func (s *simulation) checkFailing(r *receiver) {
	s.Helper()
	for i, one := range r.sent {
		if i >= mostInAnHour {
			require.Greater(s, one.at.Sub(r.sent[i-mostInAnHour].at), time.Hour, "%d requests in an hour", mostInAnHour)
		}
	}
	if len(r.sent) == 0 {
		return
	}
	failing := r.sent[len(r.sent)-1].at.Sub(r.sent[0].at)
	require.Less(s, failing, delivery.MostFailing+24*time.Hour, "a receiver that fails goes on to get requests")
	if !r.disabled.IsZero() {
		require.Equal(s, deliverer.ReasonFailing, r.reason)
		require.Greater(s, failing, delivery.MostFailing-time.Hour, "a receiver is disabled too soon")
		s.exhausted++
	}
}
