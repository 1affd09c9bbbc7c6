package aws_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/functions/contacts"
	"lectern/functions/metadatawrites"
	"lectern/functions/sessions"
	"lectern/functions/sessionwrites"
	"lectern/localstack/local/faulty"
)

// again is after how long a client asks again that got a 503.
const again = time.Second

// contactRows and sessionRows fill the table.
func contactRows(ctx context.Context, w *world, s sizes) error {
	_, err := w.fill(ctx, "contacts", s.rows)
	return err
}

func sessionRows(ctx context.Context, w *world, s sizes) (err error) {
	if err = w.addPeople(ctx, s.sessions/10); err == nil {
		w.sessions, err = w.fill(ctx, "sessions", s.sessions)
	}
	return err
}

// slack is by how much the last of a herd may be later than the partition can serve it.
const slack = 1.3

// herd lets n new instances search the organization's contacts at once. Each client asks
// until it is answered; its instance has then loaded all rows.
func herd(ctx context.Context, w *world, s sizes, n int) ([]figure, error) {
	path := fmt.Sprintf("/v1/organization/%d/contacts?pageSize=1", w.org)
	w.pages.keep()
	first := w.instance(contacts.Group).past()
	if _, err := first.must(ctx, http.MethodPost, path, map[string]any{}); err != nil {
		return nil, err
	}
	needed, _ := first.client.units()

	w.serve(faulty.Partitions{Reads: s.reads})
	all := make([]*instance, n)
	for i := range all {
		all[i] = w.instance(contacts.Group)
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	loads, err := searchAll(ctx, all, path)
	if err != nil {
		return nil, err
	}
	read, twice := 0.0, 0.0
	for _, one := range all {
		r, t := one.client.units()
		read, twice = read+r, twice+t
	}
	return []figure{
		loads.figure(n, s, slack*needed*float64(n)/s.reads), count("503s", float64(loads.refused), -1),
		count("units needed", needed*float64(n), -1), count("units read", read, -1), count("units read twice", twice, 0),
	}, nil
}

// figure returns when the last of n instances was loaded, or how many were.
func (l *loads) figure(n int, s sizes, target float64) figure {
	const name = "last loaded after, s"
	if l.done < n {
		return figure{name, s.patience.Seconds(), target, fmt.Sprintf("%d of %d after %.0f", l.done, n, s.patience.Seconds())}
	}
	return figure{name, l.last.Seconds(), target, fmt.Sprintf("%.1f", l.last.Seconds())}
}

// loads is what became of searches at many instances.
type loads struct {
	sync.Mutex
	done, refused int
	last          time.Duration
}

// searchAll searches at all instances at once until each is answered or ctx ends.
func searchAll(ctx context.Context, all []*instance, path string) (*loads, error) {
	l, began := &loads{}, time.Now()
	var g errgroup.Group
	for _, one := range all {
		g.Go(func() error {
			for ctx.Err() == nil {
				status, _, err := one.send(ctx, http.MethodPost, path, map[string]any{})
				if err != nil || l.answered(ctx, status, time.Since(began)) {
					return err
				}
				select {
				case <-time.After(again):
				case <-ctx.Done():
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return l, err
}

// answered notes an answer, and reports whether it was a good one.
func (l *loads) answered(ctx context.Context, status int, after time.Duration) bool {
	l.Lock()
	defer l.Unlock()
	switch {
	case status == http.StatusOK:
		l.done++
		l.last = max(l.last, after)
	case ctx.Err() == nil:
		l.refused++
	}
	return status == http.StatusOK
}

// settings lets n writers, each at an instance of its own, create tags of one event side
// by side.
func settings(ctx context.Context, w *world, s sizes, n int) ([]figure, error) {
	var g errgroup.Group
	l := &loads{}
	for writer := range n {
		at := w.instance(metadatawrites.Group)
		g.Go(func() error {
			for i := range s.each {
				name := map[string]any{"name": fmt.Sprint("Tag ", writer, " ", i)}
				status, _, err := at.send(ctx, http.MethodPost, w.path("tags/create"), name)
				if err != nil {
					return err
				}
				l.answered(ctx, status, 0)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return append([]figure{share("answered with 503", l.refused, n*s.each, 0)}, w.cancelled(-1)...), nil
}

// cancelled returns how often transactions were tried and cancelled for a conflict.
func (w *world) cancelled(target float64) []figure {
	c := w.conflicts.Counts()
	return []figure{
		count("transactions", float64(c.Transactions), -1),
		share("tries cancelled for a conflict", c.Cancelled, c.Tries, target),
	}
}

// sessionBulks and contactBulks create a hundred records in each of n bulks, one after
// the other, while nobody else writes.
func sessionBulks(ctx context.Context, w *world, _ sizes, n int) ([]figure, error) {
	return w.loneBulks(ctx, "sessions", n)
}

func contactBulks(ctx context.Context, w *world, _ sizes, n int) ([]figure, error) {
	return w.loneBulks(ctx, "contacts", n)
}

func (w *world) loneBulks(ctx context.Context, collection string, n int) ([]figure, error) {
	at := w.instance(writing(collection))
	for i := range n {
		if _, err := w.bulk(ctx, at, collection, i*batch, batch); err != nil {
			return nil, err
		}
	}
	return w.cancelled(0), nil
}

// putBeside lets n instances that have loaded an event's sessions search it, and again
// after one PUT. What the second round reads more is what the PUT causes.
func putBeside(ctx context.Context, w *world, _ sizes, n int) ([]figure, error) {
	path := w.path("sessions?pageSize=1")
	w.pages.keep()
	all := make([]*instance, n)
	for i := range all {
		all[i] = w.instance(sessions.Group).past()
		if _, err := all[i].must(ctx, http.MethodPost, path, map[string]any{}); err != nil {
			return nil, err
		}
	}
	w.pages.forget()
	for _, one := range all {
		one.client.Client = w.partitions
	}
	before, err := w.round(ctx, all, path)
	if err != nil {
		return nil, err
	}
	writer, change := w.instance(sessionwrites.Group).past(), map[string]any{"capacity": 7}
	if _, err := writer.must(ctx, http.MethodPut, w.path("sessions/"+w.sessions[0]), change); err != nil {
		return nil, err
	}
	after, err := w.round(ctx, all, path)
	if err != nil {
		return nil, err
	}
	return []figure{
		count("units of a search by each, before", before, -1),
		count("units that the PUT adds", after-before, 2*float64(n)),
	}, nil
}

// round searches once at each instance and returns the read units of all.
func (w *world) round(ctx context.Context, all []*instance, path string) (float64, error) {
	was := w.partitions.Total().Reads
	l, err := searchAll(ctx, all, path)
	if err == nil && l.done < len(all) {
		err = ctx.Err()
	}
	return w.partitions.Total().Reads - was, err
}
