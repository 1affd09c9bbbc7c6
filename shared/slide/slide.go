// Package slide has the holding slides of an event (spec.md section 4.6, gaps.md section 6.1, decision 45):
// whether the sessions have slides, the pictures on them, and what a slide shows. A slide is a file of its
// session (package sessionfile), package drawing draws it, and the worker events/slides keeps it up to date.
//
// Read slide.go, config.go, picture.go.
package slide

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/session/view"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Store reads and sets up the holding slides of events, and says what a slide shows.
type Store struct {
	Table    *table.Table
	Now      func() time.Time
	Sessions *store.Store
}

// layout is the version of the drawing. A higher number lets each slide be drawn again when its session is
// looked at next.
const layout = 1

// Facts are what a slide shows.
type Facts struct {
	Title    string     `json:"title"`
	StartsAt *wire.Time `json:"starts_at"`
	EndsAt   *wire.Time `json:"ends_at"`
	// Zone is the event's time zone; empty for UTC.
	Zone     string   `json:"zone"`
	Room     string   `json:"room"`
	Speakers []string `json:"speakers"`
	// Background and Logo are the sums of the pictures; empty without one.
	Background string `json:"background"`
	Logo       string `json:"logo"`
	Layout     int    `json:"layout"`
}

// Digest returns a text that differs for other facts.
func (f *Facts) Digest() (string, error) {
	text, err := wire.Encode(f)
	if err != nil {
		return "", fmt.Errorf("slide: encode facts: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// scopes are the scopes of the service that reads a session.
var scopes = auth.Scopes{auth.ReadSessions}

// State is a session with the slide that it should have.
type State struct {
	// Caller is the service on the event, Config how the event's slides are set up.
	Caller  *auth.Caller
	Config  *Config
	Session *session.Body
	// Facts are nil for a session that should have no slide; then Digest is empty.
	Facts  *Facts
	Digest string
}

// Current reports whether the session has exactly the slide that it should have.
func (s *State) Current() bool {
	f := s.Session.File(session.SlideID(s.Session.ID))
	if s.Facts == nil {
		return f == nil
	}
	return f != nil && f.Digest == s.Digest
}

// Wanted reports whether a session has a slide where slides are on: each accepted session, and no abstract.
func Wanted(b *session.Body) bool {
	return b.DeletedAt == nil && !b.IsAbstract && session.Value(b.Status) == accepted
}

// accepted is the status of the sessions with slides.
const accepted = "accepted"

// Look returns a session of an event with the slide that it should have; nil without the event or the session, and
// where no operator has set slides up. The session is composed as the API composes it.
func (st *Store) Look(ctx context.Context, in session.Place, id string) (*State, error) {
	config, err := st.Config(ctx, in.Org, in.Event)
	if err != nil || !config.Known() {
		return nil, err
	}
	caller, err := auth.Service(ctx, st.Table, in.Org, in.Event, scopes)
	if err != nil || caller == nil {
		return nil, err
	}
	shown, err := st.Sessions.Stored(ctx, caller, id, view.Expand{})
	if apierr.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &State{Caller: caller, Config: config, Session: shown.Stored()}
	if config.On && Wanted(s.Session) {
		err = s.compose(shown)
	}
	return s, err
}

// compose sets the facts of the session as the API shows it.
func (s *State) compose(shown *view.Session) (err error) {
	s.Facts = &Facts{Title: shown.Title, StartsAt: shown.StartsAt, EndsAt: shown.EndsAt, Zone: s.Caller.Event.Timezone, Layout: layout}
	if shown.Room.Value != nil {
		s.Facts.Room = shown.Room.Value.Name
	}
	for _, speaker := range shown.Speakers {
		if name := speaker.Name(); name != "" {
			s.Facts.Speakers = append(s.Facts.Speakers, name)
		}
	}
	if s.Config.Background != nil {
		s.Facts.Background = s.Config.Background.Sum
	}
	if s.Config.Logo != nil {
		s.Facts.Logo = s.Config.Logo.Sum
	}
	s.Digest, err = s.Facts.Digest()
	return err
}
