package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/bus"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Target is an endpoint that takes a message, and the form of the body that it takes.
type Target struct {
	Endpoint, Form string
	// OpenUntil is the time until which the breaker of the endpoint is open. Add withholds the first
	// attempt before it, and the second one, as the deliverer would.
	OpenUntil time.Time
}

// Renderer renders the body of a message in a form. The body ends with a place for the id of a
// delivery, as Place describes.
type Renderer interface {
	Render(ctx context.Context, m bus.Message, form string) ([]byte, error)
}

// Place is the end of a rendered body: the place for the id of a delivery, which is the last
// property of the metadata. The place has the length of the id, so that all bodies of a message
// are equal but for the id.
const Place = `"id":"00000000-0000-0000-0000-000000000000"}}`

// placeEnd follows the id.
const placeEnd = `"}}`

// errPlace is the error of a body without a place for the id.
var errPlace = errors.New("delivery: the body has no place for the id")

// Addressed returns a rendered body with the id of a delivery.
func Addressed(body []byte, id string) ([]byte, error) {
	start := len(body) - len(placeEnd) - len(id)
	if len(body) < len(Place) || string(body[len(body)-len(Place):]) != Place {
		return nil, errPlace
	}
	return slices.Concat(body[:start], []byte(id), []byte(placeEnd)), nil
}

// tries are the tries of a write that others overtake.
var tries = table.Retry{Tries: 10, First: 5 * time.Millisecond, Max: 200 * time.Millisecond}

// Added is the result of Add.
type Added struct {
	// Tasks are the next attempts of the deliveries of which the queue may have no message. They are
	// to be sent, also those of deliveries that were there before: an earlier Add may have ended
	// before its tasks were sent, or the queue may have lost them.
	Tasks []Task
	// New counts the deliveries that were not there before, and Withheld those of them whose first attempt
	// is not sent.
	New, Withheld int
}

// lostAfter is longer after the time of an attempt than its message waits in a queue that is not lost.
const lostAfter = time.Hour

// fresh is the age of a change up to which Add expects that nothing is stored of its message. A message of
// an older change may have come before.
const fresh = 3 * time.Minute

// Add stores the deliveries of a message and the bodies that they need. A body is rendered once: Add keeps a
// body that is stored. Add may be repeated. It stores nothing of a message that is older than a delivery is
// kept: the delivery may have ended, and have expired. For a fresh message Add inserts first, and reads only
// if something is stored.
func (s Store) Add(ctx context.Context, m bus.Message, targets []Target, r Renderer) (added Added, err error) {
	if len(targets) == 0 || s.Now().Sub(m.At.Time) >= Keep {
		return Added{}, nil
	}
	a := &addition{Store: s, message: m, targets: targets, renderer: r, rendered: map[string][]byte{}}
	for try, err := range tries.Each(ctx) {
		if err != nil {
			return Added{}, err
		}
		var stored map[table.Key]table.Item
		if try > 0 || s.Now().Sub(m.At.Time) > fresh {
			if stored, err = a.stored(ctx); err != nil {
				return Added{}, err
			}
		}
		added, err = a.add(ctx, stored)
		if !errors.Is(err, table.ErrStale) {
			return added, err
		}
	}
	return Added{}, fmt.Errorf("delivery: others keep adding the deliveries of %s: %w", m.Change, table.ErrBusy)
}

// Matched is a message with the endpoints that take it.
type Matched struct {
	bus.Message
	// Arrival is the id of the message in the queue.
	Arrival string
	Targets []Target
}

// writes is the highest number of writes for the message: a body in each of two forms, and the
// deliveries.
func (m Matched) writes() int { return 2 + len(m.Targets) }

// Portions divides messages into portions that fit into a transaction together, but for long bodies.
func Portions(all []Matched) (portions [][]Matched) {
	room := 0
	for _, m := range all {
		if room -= m.writes(); room < 0 {
			portions, room = append(portions, nil), table.MaxWrites-m.writes()
		}
		last := len(portions) - 1
		portions[last] = append(portions[last], m)
	}
	return portions
}

// AddTogether stores the deliveries of messages that come the first time and their bodies in one
// transaction. After an error nothing is stored, unless the outcome is in doubt: table.ErrStale if
// something is stored of a message, table.ErrTooBig if the messages do not fit together. Add stores each
// by itself then.
func (s Store) AddTogether(ctx context.Context, all []Matched, r Renderer) (Added, error) {
	added, writes := make([]Added, len(all)), make([][]table.Write, len(all))
	g, within := errgroup.WithContext(ctx)
	for i, m := range all {
		g.Go(table.Safely(func() (err error) {
			a := &addition{Store: s, message: m.Message, targets: m.Targets, renderer: r, rendered: map[string][]byte{}}
			added[i], writes[i], err = a.plan(within, nil)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return Added{}, err
	}
	var sum Added
	var together []table.Write
	for i, one := range added {
		sum.Tasks, sum.New, sum.Withheld = append(sum.Tasks, one.Tasks...), sum.New+one.New, sum.Withheld+one.Withheld
		together = append(together, writes[i]...)
	}
	return sum, s.Table.Transact(ctx, together...)
}

// addition is one Add.
type addition struct {
	Store
	message  bus.Message
	targets  []Target
	renderer Renderer
	// rendered has the bodies by form.
	rendered map[string][]byte
}

// stored reads the bodies and deliveries that are stored.
func (a *addition) stored(ctx context.Context) (map[table.Key]table.Item, error) {
	var keys []table.Key
	for _, t := range a.targets {
		keys = append(keys, bodyKey(a.message, t.Form), a.key(t))
	}
	return a.Table.GetMany(ctx, keys)
}

// add adds to the stored items the missing items; table.ErrStale if more is stored.
func (a *addition) add(ctx context.Context, got map[table.Key]table.Item) (Added, error) {
	added, writes, err := a.plan(ctx, got)
	if err != nil {
		return Added{}, err
	}
	return added, a.Table.Transact(ctx, writes...)
}

// plan returns the writes that add to the stored items the missing items, and what they add.
func (a *addition) plan(ctx context.Context, got map[table.Key]table.Item) (added Added, writes []table.Write, err error) {
	written := map[table.Key]bool{}
	for _, t := range a.targets {
		w, err := a.work(got, t)
		if err != nil {
			return Added{}, nil, err
		}
		if w.version > 0 {
			added.resume(w, a.Now())
			continue
		}
		if at := bodyKey(a.message, t.Form); got[at].Version == 0 && !written[at] {
			written[at] = true
			body, err := a.body(ctx, t.Form)
			if err != nil {
				return Added{}, nil, err
			}
			writes = append(writes, table.Insert(table.Item{Key: at, Version: 1, Data: body, Expires: w.expires}))
		}
		if t.OpenUntil.After(a.Now()) {
			w = w.withheld(a.Now(), t.OpenUntil)
			added.Withheld++
		}
		item, err := w.item(1)
		if err != nil {
			return Added{}, nil, err
		}
		writes = append(writes, table.Insert(item))
		added.Tasks = append(added.Tasks, w.waiting(a.Now()))
		added.New++
	}
	return added, writes, nil
}

// resume adds the next task of a stored delivery without an attempt by the deliverer, or whose next
// attempt should have come from the queue long ago. A delivery that waits for a paused endpoint has a
// due item.
func (a *Added) resume(w *Work, now time.Time) {
	lost := w.Hidden.Queued && now.Sub(w.next()) > lostAfter
	if w.Status == Pending && (w.Hidden.Made == w.Hidden.Withheld && !w.Hidden.Postponed || lost) {
		a.Tasks = append(a.Tasks, w.waiting(now))
	}
}

// withheld returns a new delivery after a first attempt that is not sent, and after a second one if its
// time comes before the breaker closes. The next attempt waits in the queue.
func (w *Work) withheld(now, until time.Time) *Work {
	after := made{w.task(), Outcome{At: now, Error: NotSent}}.after(*w)
	if second := after.next(); second.Before(until) {
		after = made{after.task(), Outcome{At: second, Error: NotSent}}.after(after)
	}
	after.Hidden.Withheld = after.Hidden.Made
	return &after
}

// Unsent returns the next tasks of the deliveries of a message to endpoints of which the queue may have
// no message.
func (s Store) Unsent(ctx context.Context, m bus.Message, endpoints []string) ([]Task, error) {
	keys := make([]table.Key, len(endpoints))
	for i, endpoint := range endpoints {
		keys[i] = key(m.Org, endpoint, ID(m, endpoint))
	}
	got, err := s.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	var stored Added
	for _, at := range keys {
		if got[at].Version == 0 {
			continue
		}
		w, err := decodeWork(got[at])
		if err != nil {
			return nil, err
		}
		stored.resume(w, s.Now())
	}
	return stored.Tasks, nil
}

// key returns the key of the delivery to a target.
func (a *addition) key(t Target) table.Key {
	return key(a.message.Org, t.Endpoint, ID(a.message, t.Endpoint))
}

// work returns the delivery to a target: as stored, or a new one with version 0.
func (a *addition) work(got map[table.Key]table.Item, t Target) (*Work, error) {
	if item, ok := got[a.key(t)]; ok {
		return decodeWork(item)
	}
	m, now := a.message, wire.At(a.Now())
	w := &Work{
		Delivery: Delivery{
			ID: ID(m, t.Endpoint), Endpoint: t.Endpoint, Kind: m.Kind, RecordID: m.RecordID, Sequence: m.Sequence,
			Status: Pending, CreatedAt: m.At, NextAttemptAt: &now, Attempts: []Attempt{},
		},
		Hidden:  Hidden{Org: m.Org, Type: m.Type, Change: m.Change, Form: t.Form},
		expires: m.At.Add(Keep).Unix(),
	}
	if m.Event != 0 {
		w.Event = &m.Event
	}
	return w, nil
}

// body returns the body in a form, rendered once.
func (a *addition) body(ctx context.Context, form string) (body []byte, err error) {
	if body = a.rendered[form]; body != nil {
		return body, nil
	}
	if body, err = a.renderer.Render(ctx, a.message, form); err != nil {
		return nil, fmt.Errorf("delivery: render %s of change %s: %w", form, a.message.Change, err)
	}
	if _, err = Addressed(body, ID(a.message, "")); err != nil {
		return nil, err
	}
	a.rendered[form] = body
	return body, nil
}
