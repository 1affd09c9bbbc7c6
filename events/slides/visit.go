package slides

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lectern/shared/apierr"
	"lectern/shared/session"
	"lectern/shared/sessionfile"
	"lectern/shared/slide"
	"lectern/shared/slide/drawing"
)

// tries is the number of times that a message draws a slide of a session that changes meanwhile.
const tries = 5

// errUnsettled is the error of a session that changes faster than its slide is drawn. The message comes again.
var errUnsettled = errors.New("slides: the session keeps changing")

// errFull is the error of a session that has no room for a slide.
var errFull = errors.New("slides: the session has no room for a slide")

// visit looks at a session until it has the slide that it should have. After a drawing it looks again: what the
// slide shows may have changed while it was drawn, and the message of that change may have been handled before.
// clean also removes the bytes of former slides, which a call that ended has left.
func (w *Worker) visit(ctx context.Context, at place, clean bool) error {
	for range tries {
		done, err := w.look(ctx, at, clean)
		switch {
		case errors.Is(err, errFull):
			w.Log.ErrorContext(ctx, "a session has no room for a holding slide", "org", at.Org, "event", at.Event, "session", at.Session)
			return nil
		case done, err != nil && !isPassing(err):
			return err
		}
	}
	return errUnsettled
}

// isPassing reports whether another look may succeed: the session or a picture has changed meanwhile.
func isPassing(err error) bool {
	return errors.Is(err, sessionfile.ErrChanged) || errors.Is(err, slide.ErrReplaced) || apierr.IsNotFound(err)
}

// look looks at a session, and reports whether it has the slide that it should have; otherwise it renews the slide.
func (w *Worker) look(ctx context.Context, at place, clean bool) (done bool, err error) {
	state, err := w.Slides.Look(ctx, session.Of(at.Org, at.Event), at.Session)
	if err != nil || state == nil {
		return true, err
	}
	lost, err := w.hasLost(ctx, at, state)
	switch {
	case err != nil:
		return false, err
	case lost || !state.Current():
		if err = w.renew(ctx, state); err == nil {
			w.Log.InfoContext(ctx, "holding slide", "org", at.Org, "event", at.Event, "session", at.Session, "shown", state.Facts != nil)
		}
		return false, err
	case clean:
		return true, w.Files.CleanSlide(ctx, state.Caller, state.Session, false)
	}
	return true, nil
}

// hasLost reports whether the bytes of the slide are to be looked at, and are gone.
func (w *Worker) hasLost(ctx context.Context, at place, s *slide.State) (bool, error) {
	if !at.Bytes {
		return false, nil
	}
	has, err := w.Files.HasSlide(ctx, s.Caller, s.Session)
	return !has, err
}

// renew gives a session the slide that it should have, or takes the slide away. A session without room for the
// next slide loses the one that it has, since that shows a former state; errFull without one.
func (w *Worker) renew(ctx context.Context, s *slide.State) error {
	if s.Facts == nil {
		return w.Files.RemoveSlide(ctx, s.Caller, s.Session)
	}
	png, err := w.draw(ctx, s)
	if err != nil {
		return err
	}
	err = w.Files.PutSlide(ctx, s.Caller, sessionfile.Slide{Of: s.Session, PNG: png, Digest: s.Digest})
	if refused := (*apierr.Error)(nil); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
		return err
	}
	if !s.Session.IsSlide(session.SlideID(s.Session.ID)) {
		return errFull
	}
	return w.Files.RemoveSlide(ctx, s.Caller, s.Session)
}

// draw draws a slide. The pictures of the last event are kept: an event has many sessions.
func (w *Worker) draw(ctx context.Context, s *slide.State) ([]byte, error) {
	w.drawing.Lock()
	defer w.drawing.Unlock()
	if sums := [2]string{s.Facts.Background, s.Facts.Logo}; w.shown == nil || w.shownFor != sums {
		background, logo, err := w.Slides.Pictures(ctx, s.Caller.Org.ID, s.Caller.Event.ID, s.Config)
		if err != nil {
			return nil, err
		}
		shown, err := drawing.Decode(background, logo)
		if err != nil {
			return nil, fmt.Errorf("slides: event %d: %w", s.Caller.Event.ID, err)
		}
		w.shown, w.shownFor = shown, sums
	}
	return w.shown.PNG(s.Facts)
}
