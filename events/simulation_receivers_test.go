package events_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"lectern/shared/bus"
	"lectern/shared/resource"
	"lectern/shared/webhook"
)

// profile says how a receiver answers.
type profile string

// The profiles.
const (
	healthy    profile = "healthy"
	slow       profile = "slow"
	flaky      profile = "flaky"
	down       profile = "down"
	hanging    profile = "hanging"
	busy       profile = "busy"
	gone       profile = "gone"
	flapping   profile = "flapping"
	recovering profile = "recovering"
)

// profiles are those of a simulation's receivers, in turn.
var profiles = []profile{healthy, flaky, down, healthy, busy, healthy, gone, slow, flapping, recovering, hanging, healthy}

// receiver is an endpoint with its answers.
type receiver struct {
	*webhook.Endpoint
	org      int64
	profile  profile
	disabled time.Time
	reason   string
	sent     []sent
	// paused is the time in which the owner of the endpoint may read nothing.
	paused span
	// asking reports whether clients ask for deliveries of the receiver.
	asking bool
	asked
}

// sent is one request to a receiver.
type sent struct {
	id     string
	at     time.Time
	body   string
	status int
}

// wants reports whether the receiver takes the message.
func (r *receiver) wants(m bus.Message) bool {
	return r.org == m.Org && slices.Contains(r.Events, m.Kind) && (len(r.EventIDs) == 0 || slices.Contains(r.EventIDs, m.Event))
}

// receivers are all receivers of a simulation: the endpoints and the network.
type receivers struct {
	*crashes
	now   func() time.Time
	began time.Time
	seed  string
	mu    sync.Mutex
	all   map[string]*receiver
}

// Of returns the enabled endpoints that want a message.
func (r *receivers) Of(_ context.Context, _ int64, messages ...bus.Message) (found []*webhook.Endpoint, err error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if slices.ContainsFunc(messages, one.wants) && one.disabled.IsZero() && !one.isPaused(r.now()) {
			found = append(found, one.Endpoint)
		}
	}
	slices.SortFunc(found, func(a, b *webhook.Endpoint) int { return strings.Compare(a.ID, b.ID) })
	return found, nil
}

// IDs returns the ids of all endpoints of an organization.
func (r *receivers) IDs(_ context.Context, org int64) (ids []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, one := range r.all {
		if one.org == org {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, r.step()
}

// Takes reports whether an endpoint of Of takes a message.
func (r *receivers) Takes(e *webhook.Endpoint, m bus.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[e.ID].wants(m)
}

// Find returns an enabled endpoint.
func (r *receivers) Find(_ context.Context, org int64, id string) (*webhook.Endpoint, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[id]; one != nil && one.org == org && one.disabled.IsZero() {
		return one.Endpoint, nil
	}
	return nil, nil
}

// May reports whether the endpoint is not paused.
func (r *receivers) May(e *webhook.Endpoint, _ string, _ int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.all[e.ID].isPaused(r.now())
}

// isPaused reports whether the receiver is paused at a time.
func (r *receiver) isPaused(now time.Time) bool {
	return !now.Before(r.paused.begin) && now.Before(r.paused.end)
}

// ids returns the ids of all receivers, in order.
func (r *receivers) ids() []string { return slices.Sorted(maps.Keys(r.all)) }

// Disable disables an endpoint.
func (r *receivers) Disable(_ context.Context, e *webhook.Endpoint, _ int64, reason string) error {
	id := e.ID
	if err := r.step(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[id]; one.disabled.IsZero() {
		one.disabled, one.reason = r.now(), reason
	}
	return nil
}

// Send makes a request to a receiver.
func (r *receivers) Send(ctx context.Context, request webhook.Request) (webhook.Answer, error) {
	if err := r.step(); err != nil {
		return webhook.Answer{}, err
	}
	r.mu.Lock()
	one := r.all[request.Endpoint.ID]
	answer := one.answer(r.seed, request.ID, len(one.sent), r.now(), r.began)
	one.sent = append(one.sent, sent{request.ID, r.now(), string(request.Body), answer.Status})
	r.mu.Unlock()
	if err := r.step(); err != nil {
		return webhook.Answer{}, err
	}
	return answer, ctx.Err()
}

var (
	accepted = webhook.Answer{Status: http.StatusOK, Latency: 40 * time.Millisecond, Body: "ok"}
	broken   = webhook.Answer{Status: http.StatusInternalServerError, Latency: 30 * time.Millisecond, Body: "broken"}
	timeout  = webhook.Answer{Latency: 15 * time.Second, Error: "The endpoint did not answer in time."}
)

// answer returns the answer to the number-th request.
func (r *receiver) answer(seed, id string, number int, now, began time.Time) webhook.Answer {
	luck, age := chance(seed, r.ID, id, fmt.Sprint(number)), now.Sub(began)
	switch r.profile {
	case slow:
		return webhook.Answer{Status: http.StatusAccepted, Latency: 10 * time.Second}
	case flaky:
		if luck < 0.6 {
			return accepted
		}
		return []webhook.Answer{broken, timeout}[number%2]
	case down:
		return broken
	case hanging:
		return timeout
	case busy:
		if luck < 0.5 {
			wait := time.Duration(luck * 2 * float64(3*time.Hour))
			return webhook.Answer{Status: http.StatusServiceUnavailable, Latency: time.Millisecond, RetryAfter: wait}
		}
	case gone:
		if age > 3*time.Hour {
			return webhook.Answer{Status: http.StatusGone, Latency: time.Millisecond}
		}
	case flapping:
		if int(age.Hours())%2 == 1 {
			return broken
		}
	case recovering:
		if age < 9*time.Hour {
			return timeout
		}
	case healthy:
	}
	return accepted
}

// newReceiver returns the number-th receiver. One in five takes all kinds of all events.
func newReceiver(id string, number int, org int64, events []int64) *receiver {
	form, kinds := webhook.PayloadFull, webhook.Kinds
	if number%2 == 1 {
		form = webhook.PayloadThin
	}
	var only []int64
	if number%5 > 0 {
		first := number % len(webhook.Kinds)
		kinds = append(slices.Clone(webhook.Kinds[first:]), webhook.Kinds[:first]...)[:3]
		only = events[:1]
	}
	return &receiver{
		Endpoint: &webhook.Endpoint{Header: resource.Header{ID: id}, Events: kinds, EventIDs: only, Enabled: true, Payload: form},
		org:      org, profile: profiles[(number+5*int(org))%len(profiles)],
	}
}
