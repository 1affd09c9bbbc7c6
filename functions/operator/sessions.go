package operator

import (
	"context"

	"lectern/shared/session"
)

// InSession is the part of an input that names a session.
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

func (s *Service) linkSession(ctx context.Context, in *sessionLink) (*session.Session, error) {
	c, err := s.caller(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return s.sessions.Link(ctx, c, in.TargetID, in.SourceID, in.RelationshipType)
}

type sessionUnlink struct {
	InEvent
	SourceID string `json:"source_id" format:"uuid"`
}

func (s *Service) unlinkSession(ctx context.Context, in *sessionUnlink) (*session.Session, error) {
	c, err := s.caller(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return s.sessions.Unlink(ctx, c, in.SourceID)
}

type sessionWithdraw struct {
	InSession
	Who string `json:"who" pattern:"\\S" maxLength:"255"`
	Why string `json:"why" pattern:"\\S" maxLength:"5000"`
}

func (s *Service) withdrawSession(ctx context.Context, in *sessionWithdraw) (*session.Session, error) {
	c, err := s.caller(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return s.sessions.Withdraw(ctx, c, in.SessionID, in.Who, in.Why)
}

func (s *Service) unwithdrawSession(ctx context.Context, in *InSession) (*session.Session, error) {
	c, err := s.caller(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return s.sessions.Unwithdraw(ctx, c, in.SessionID)
}

// shownSession is a session with what only an operator sees of it.
type shownSession struct {
	Session    *session.Session    `json:"session"`
	Withdrawal *session.Withdrawal `json:"withdrawal"`
}

func (s *Service) showSession(ctx context.Context, in *InSession) (*shownSession, error) {
	c, err := s.caller(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	shown, err := s.sessions.Get(ctx, c, in.SessionID, session.Expand{Composition: true})
	if err != nil {
		return nil, err
	}
	withdrawal, err := s.sessions.Withdrawal(ctx, c, in.SessionID)
	return &shownSession{Session: shown, Withdrawal: withdrawal}, err
}

func (s *Service) duplicateSession(ctx context.Context, in *InSession) (*session.Session, error) {
	c, err := s.caller(ctx, in.InEvent)
	if err != nil {
		return nil, err
	}
	return s.sessions.Duplicate(ctx, c, in.SessionID)
}
