package slides

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"lectern/shared/bus"
	"lectern/shared/metadata"
	"lectern/shared/session"
	"lectern/shared/slide"
	"lectern/shared/wire"
)

// scan looks for the sessions of an event that a change may touch. A long scan has several messages.
type scan struct {
	Org   int64 `json:"org"`
	Event int64 `json:"event"`
	// Room selects the sessions in a room; empty for all sessions.
	Room string `json:"room,omitempty"`
	// Bytes also lets the sessions be looked at for bytes that the bucket has lost.
	Bytes bool `json:"bytes,omitempty"`
	// After is the key of the row after which the scan goes on.
	After string `json:"after,omitempty"`
}

const (
	// sessionsAtOnce is the number of sessions that are read at once.
	sessionsAtOnce = 100
	// Part is about the number of sessions of a message: as many as the time of a message allows.
	Part = 5000
)

// roomOf returns the room of a change of a room; empty for every other change.
func roomOf(m bus.Message) string {
	if m.Type == string(metadata.Rooms) {
		return m.RecordID
	}
	return ""
}

// scan sends the sessions of a part of the event to the worker's own queue, and then the next part.
func (w *Worker) scan(ctx context.Context, s scan) error {
	config, err := w.Slides.Config(ctx, s.Org, s.Event)
	if err != nil || !config.Known() {
		return err
	}
	for more, seen := true, 0; more; seen += sessionsAtOnce {
		if seen >= w.Part {
			return w.sendNext(ctx, s)
		}
		if more, err = w.scanSome(ctx, &s, config.On); err != nil {
			return err
		}
	}
	return nil
}

// sendNext sends the next part of a scan to the worker's own queue.
func (w *Worker) sendNext(ctx context.Context, s scan) error {
	body, err := wire.Encode(task{Scan: &s})
	if err != nil {
		return fmt.Errorf("slides: encode a task: %w", err)
	}
	return w.Queue.Send(ctx, bus.Post{Body: body, Group: fmt.Sprint(s.Org)})
}

// scanSome sends some sessions of a scan to the worker's own queue, moves the scan behind them, and reports
// whether there may be more.
func (w *Worker) scanSome(ctx context.Context, s *scan, on bool) (more bool, err error) {
	of := session.Of(s.Org, s.Event)
	rows, more, last, err := w.Table.Some(ctx, of.Rows().Rows, cmp.Or(s.After, "0"), "~", sessionsAtOnce)
	if err != nil {
		return false, err
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.SK[strings.LastIndex(row.SK, "#")+1:]
	}
	found, err := w.touched(ctx, s, ids, on)
	if err != nil {
		return false, err
	}
	s.After = last + "~"
	return more, w.send(ctx, found)
}

// touched returns the sessions of ids that have a slide, or should have one where slides are on, and are in the room
// of the scan, if there is one.
func (w *Worker) touched(ctx context.Context, s *scan, ids []string, on bool) (all []place, err error) {
	of := session.Of(s.Org, s.Event)
	got, err := w.Table.GetMany(ctx, of.Bodies(ids))
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		item, stored := got[of.Body(id)]
		if !stored {
			continue
		}
		b, err := session.Decode(item)
		if err != nil {
			return nil, err
		}
		if (on && slide.Wanted(b) || b.IsSlide(session.SlideID(id))) && (s.Room == "" || session.Value(b.RoomID) == s.Room) {
			all = append(all, place{Org: of.Org, Event: of.Event, Session: id, Bytes: s.Bytes})
		}
	}
	return all, nil
}
