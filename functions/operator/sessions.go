package operator

import (
	"context"
	"encoding/base64"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/slide"
	"lectern/shared/stores"
	"lectern/shared/wire"
)

// InSession names a session.
type InSession struct {
	InEvent
	SessionID string `json:"session_id" format:"uuid"`
}

type sessionLink struct {
	InEvent
	TargetID         string `json:"target_id" format:"uuid"`
	SourceID         string `json:"source_id" format:"uuid"`
	RelationshipType string `json:"relationship_type" enum:"merged_session,merged_abstract,composed_into_session"`
}

func (s *Service) linkSession(ctx context.Context, c *auth.Caller, in *sessionLink) (*view.Session, error) {
	return s.sessions.Link(ctx, c, in.TargetID, in.SourceID, in.RelationshipType)
}

type sessionUnlink struct {
	InEvent
	SourceID string `json:"source_id" format:"uuid"`
}

func (s *Service) unlinkSession(ctx context.Context, c *auth.Caller, in *sessionUnlink) (*view.Session, error) {
	return s.sessions.Unlink(ctx, c, in.SourceID)
}

type sessionWithdraw struct {
	InSession
	Who string `json:"who" pattern:"\\S" maxLength:"255"`
	Why string `json:"why" pattern:"\\S" maxLength:"5000"`
}

func (s *Service) withdrawSession(ctx context.Context, c *auth.Caller, in *sessionWithdraw) (*view.Session, error) {
	return s.sessions.Withdraw(ctx, c, in.SessionID, in.Who, in.Why)
}

func (s *Service) unwithdrawSession(ctx context.Context, c *auth.Caller, in *InSession) (*view.Session, error) {
	return s.sessions.Unwithdraw(ctx, c, in.SessionID)
}

// shownSession is a session with the withdrawal, which no route shows.
type shownSession struct {
	Session    *view.Session       `json:"session"`
	Withdrawal *session.Withdrawal `json:"withdrawal"`
}

func (s *Service) showSession(ctx context.Context, c *auth.Caller, in *InSession) (*shownSession, error) {
	shown, err := s.sessions.Get(ctx, c, in.SessionID, view.Expand{Composition: true})
	if err != nil {
		return nil, err
	}
	withdrawal, err := s.sessions.Withdrawal(ctx, c, in.SessionID)
	return &shownSession{Session: shown, Withdrawal: withdrawal}, err
}

func (s *Service) duplicateSession(ctx context.Context, c *auth.Caller, in *InSession) (*view.Session, error) {
	return s.sessions.Duplicate(ctx, c, in.SessionID)
}

// holdingSlides has the pictures in base64. A picture that is sent as null is removed.
type holdingSlides struct {
	InEvent
	On         wire.Opt[bool]   `json:"on,omitzero" nullable:"false"`
	Background wire.Opt[string] `json:"background,omitzero" maxLength:"2796204"`
	Logo       wire.Opt[string] `json:"logo,omitzero" maxLength:"699052"`
}

// setHoldingSlides changes the holding slides of an event, or shows them if nothing is sent; 409 in a region
// whose deployment has no worker that draws them.
func (s *Service) setHoldingSlides(ctx context.Context, c *auth.Caller, in *holdingSlides) (*slide.Config, error) {
	if !s.env.HoldingSlides {
		return nil, apierr.Conflict("NO_HOLDING_SLIDES", "The deployment has no worker that draws holding slides. "+
			"Set the option holdingSlides to true, and deploy again.")
	}
	slides := stores.Slides(s.env)
	d := &slide.Draft{On: in.On}
	for _, p := range []struct {
		name string
		sent wire.Opt[string]
		into *wire.Opt[[]byte]
	}{{"background", in.Background, &d.Background}, {"logo", in.Logo, &d.Logo}} {
		content, err := base64.StdEncoding.DecodeString(p.sent.Value)
		if err != nil {
			return nil, apierr.Invalid(p.name, "%s must be a PNG or a JPEG in base64.", p.name)
		}
		*p.into = wire.Opt[[]byte]{Sent: p.sent.Sent, Null: p.sent.Null, Value: content}
	}
	if !d.Sent() {
		return slides.Config(ctx, c.Org.ID, c.Event.ID)
	}
	return slides.Set(ctx, c, d)
}
