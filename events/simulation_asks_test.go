package events_test

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/delivery"
)

// span is a time, from begin on and before end.
type span struct{ begin, end time.Time }

// overlaps reports whether two spans have a moment in common.
func (s span) overlaps(other span) bool {
	return s.begin.Before(other.end) && other.begin.Before(s.end)
}

// asked is what clients have asked of the deliveries of a receiver. Whether a call without an answer was
// done is not known.
type asked struct {
	// again has the times of the calls that make a delivery again, by id.
	again map[string][]time.Time
	// cancelled has the time of the call that ended a delivery, and mayEnd the deliveries of calls
	// without an answer.
	cancelled map[string]time.Time
	mayEnd    map[string]bool
	// touched has the deliveries that may have attempts beside the schedule, and replays the times of
	// the changes of such deliveries.
	touched map[string]bool
	replays []span
}

// plan plans the pauses of a receiver. One in four is paused, once for some hours. Clients ask for
// deliveries of one in three.
func (r *receiver) plan(number int, random *rand.Rand, began time.Time, whole time.Duration) {
	r.asked = asked{again: map[string][]time.Time{}, cancelled: map[string]time.Time{}, mayEnd: map[string]bool{}, touched: map[string]bool{}}
	r.asking = number%3 == 0
	if number%4 == 0 {
		begin := began.Add(time.Duration(random.Int64N(int64(whole / 3))))
		r.paused = span{begin, begin.Add(time.Hour + time.Duration(random.Int64N(int64(3*time.Hour))))}
	}
}

// isTouched reports whether a delivery may have attempts beside the schedule.
func (r *receiver) isTouched(d delivery.Delivery) bool {
	for _, replay := range r.replays {
		if !d.CreatedAt.Before(replay.begin) && d.CreatedAt.Before(replay.end) {
			return true
		}
	}
	return r.touched[d.ID]
}

// ask lets a client cancel or redeliver a delivery of the last hours, or replay all of them.
func (s *simulation) ask() {
	ids := s.receivers.ids()
	r := s.receivers.all[ids[s.random.IntN(len(ids))]]
	if !r.asking {
		return
	}
	f := delivery.Filter{Since: s.Now().Add(-6 * time.Hour), Until: s.Now()}
	act := s.random.IntN(3)
	if act == 0 {
		f.Status = delivery.Pending
	}
	all, more, err := s.store().List(s.Context(), r.org, r.ID, f, delivery.Page{Limit: 4000})
	require.NoError(s, err)
	require.False(s, more)
	if len(all) == 0 {
		return
	}
	one := all[s.random.IntN(len(all))].ID
	ctx := s.arm(s.Context(), s.crash())
	switch act {
	case 0:
		_, err = s.store().Cancel(ctx, r.org, r.ID, one)
	case 1:
		_, err = s.store().Redeliver(ctx, r.org, r.ID, one)
	default:
		err = s.store().Replay(ctx, r.org, r.ID, f)
	}
	s.disarm()
	refused := (*apierr.Error)(nil)
	require.False(s, errors.As(err, &refused) && refused.Status != http.StatusServiceUnavailable, "%v", err)
	r.note(call{act, one, s.Now(), err == nil}, all)
	if act == 2 {
		r.replays = append(r.replays, span{f.Since, f.Until})
	}
}

// call is a call of a client about a delivery. done is false for a call without an answer.
type call struct {
	act  int
	one  string
	now  time.Time
	done bool
}

// note notes a call. A replay makes all deliveries again.
func (a *asked) note(c call, all []delivery.Delivery) {
	switch {
	case c.act == 0 && c.done:
		a.cancelled[c.one] = c.now
	case c.act == 0:
		a.mayEnd[c.one] = true
	case c.act == 1:
		a.touched[c.one] = true
	}
	if !c.done || c.act == 0 {
		return
	}
	for _, d := range all {
		if c.act == 2 || d.ID == c.one {
			a.again[d.ID] = append(a.again[d.ID], c.now)
		}
	}
}

// longestHold is longer than the attempt of a replay waits for a paused endpoint and for the breaker.
const longestHold = 8 * time.Hour

// checkAsked: what clients asked to be made again was attempted once more after each call, and a cancelled
// delivery gets no attempt by itself. An attempt answers the calls before its beginning.
func (s *simulation) checkAsked(end time.Time) {
	s.Helper()
	attempted, cancelled := 0, 0
	for _, id := range s.receivers.ids() {
		r := s.receivers.all[id]
		for one, calls := range r.again {
			w, err := s.store().Open(s.Context(), delivery.Task{Org: r.org, Endpoint: r.ID, ID: one})
			require.NoError(s, err)
			for _, at := range calls {
				if at.Add(longestHold).After(end) {
					continue
				}
				require.GreaterOrEqual(s, w.Hidden.Began, at.UnixNano(),
					"%s to %s (%s) was asked for again at %s, and no attempt began since", one, r.ID, r.profile, at)
				attempted++
			}
		}
		for one, at := range r.cancelled {
			w, err := s.store().Open(s.Context(), delivery.Task{Org: r.org, Endpoint: r.ID, ID: one})
			require.NoError(s, err)
			require.NotEqual(s, delivery.Pending, w.Status)
			cancelled++
			if r.isTouched(w.Delivery) {
				continue
			}
			require.Equal(s, delivery.Cancelled, w.Status)
			for _, sent := range r.sent {
				require.False(s, sent.id == one && sent.at.After(at), "%s to %s was cancelled at %s", one, r.ID, at)
			}
		}
	}
	require.Positive(s, attempted)
	require.Positive(s, cancelled)
	s.Logf("%d deliveries were asked for again, %d cancelled", attempted, cancelled)
}
