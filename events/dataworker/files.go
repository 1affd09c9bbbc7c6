package dataworker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/datarequest"
	"lectern/shared/feed"
	"lectern/shared/session"
	"lectern/shared/sessionfile"
	"lectern/shared/table"
)

// eraseFiles removes the files that are assigned to a contact, and notes their sessions. last is the id of the
// last change with values of the erased person: files that changed later belong to the next person.
func (w *Worker) eraseFiles(ctx context.Context, org int64, id, last string, found map[place]bool) error {
	callers, err := w.callers(ctx, org, id)
	if err != nil {
		return err
	}
	owner := sessionfile.Owner{Contact: id}
	if at, ok := feed.Time(last); ok {
		owner.Until = at
	} else if last != everyChange {
		return fmt.Errorf("dataworker: the change %s has no time", last)
	}
	for _, caller := range callers {
		sessions, err := w.Files.Erase(ctx, caller, owner)
		if err != nil {
			return err
		}
		for _, in := range sessions {
			found[place{caller.Event.ID, in}] = true
		}
	}
	return nil
}

// files collects the files that are assigned to a contact on the caller's event.
func (w *Worker) files(ctx context.Context, caller *auth.Caller, id string) ([]datarequest.CollectedFile, error) {
	owned, err := w.Files.Owned(ctx, caller, sessionfile.Owner{Contact: id})
	all := make([]datarequest.CollectedFile, len(owned))
	for i, b := range owned {
		all[i] = datarequest.CollectedFile{
			ID: b.File.ID, SessionID: b.SessionID, Title: b.File.Title, Filename: b.File.Filename, Size: b.File.Size,
			MIMEType: b.File.MIMEType, CreatedAt: b.CreatedAt, RemovedAt: b.Ends,
		}
	}
	return all, err
}

// slideTries are the looks at the holding slide of a session that changes meanwhile.
var slideTries = table.Retry{Tries: 8, First: 50 * time.Millisecond, Max: 2 * time.Second}

// slidesAtOnce is the number of sessions whose slides are looked at in parallel.
const slidesAtOnce = 8

// eraseSlides does eraseSlide for sessions.
func (w *Worker) eraseSlides(ctx context.Context, org int64, sessions map[place]bool) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(slidesAtOnce)
	for at := range sessions {
		g.Go(table.Safely(func() error { return w.eraseSlide(within, org, at) }))
	}
	return g.Wait()
}

// eraseSlide removes the holding slide of a session if it shows another state of the people than the present
// one, with the bytes of former slides and of slides that are being drawn. The worker of slides draws it again.
func (w *Worker) eraseSlide(ctx context.Context, org int64, at place) (err error) {
	for _, ended := range slideTries.Each(ctx) {
		if ended != nil {
			return errors.Join(err, ended)
		}
		if err = w.removeStale(ctx, org, at); !errors.Is(err, sessionfile.ErrChanged) {
			return err
		}
	}
	return err
}

// removeStale does eraseSlide once. It returns sessionfile.ErrChanged if the session changes meanwhile.
func (w *Worker) removeStale(ctx context.Context, org int64, at place) error {
	state, err := w.Slides.Look(ctx, session.Of(org, at.event), at.id)
	if err != nil || state == nil {
		return err
	}
	// A session without a slide has none to remove: a write would tell every endpoint of nothing.
	if state.Session.IsSlide(session.SlideID(state.Session.ID)) && !state.Current() {
		if err := w.Files.RemoveSlide(ctx, state.Caller, state.Session); err != nil {
			return err
		}
	}
	return w.Files.CleanSlide(ctx, state.Caller, state.Session, true)
}
