package operator

import (
	"context"
	"encoding/base64"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/record"
	"lectern/shared/resource"
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

// InProgram names an award program.
type InProgram struct {
	InOrganization
	ProgramID string `json:"program_id" format:"uuid"`
}

// awards returns the records of a program, or the 404 of an organization that is not there.
func (s *Service) awards(ctx context.Context, in InProgram) (award.Records, error) {
	at := award.Records{Store: resource.NewStore(s.env), Owner: resource.Owner{Org: in.OrgID, Parent: in.ProgramID}}
	return at, s.haveOrganization(ctx, in.OrgID)
}

type awardSubmit struct {
	InProgram
	SubmissionID string           `json:"submission_id,omitempty" format:"uuid"`
	PromoCode    wire.Opt[string] `json:"promo_code,omitzero" maxLength:"64"`
	award.Entry
}

func (s *Service) submitAward(ctx context.Context, in *awardSubmit) (*award.Submission, error) {
	at, err := s.awards(ctx, in.InProgram)
	if err != nil {
		return nil, err
	}
	return at.Submit(ctx, in.SubmissionID, in.Entry, in.PromoCode)
}

type awardAssign struct {
	InProgram
	award.Assignment
}

func (s *Service) assignAward(ctx context.Context, in *awardAssign) (*award.Seen, error) {
	at, err := s.awards(ctx, in.InProgram)
	if err != nil {
		return nil, err
	}
	return at.Assign(ctx, in.Assignment)
}

// InReview names a review.
type InReview struct {
	InProgram
	ReviewID string `json:"review_id" format:"uuid"`
}

type awardReview struct {
	InReview
	award.Scoring
}

func (s *Service) reviewAward(ctx context.Context, in *awardReview) (*award.Seen, error) {
	return s.editReview(ctx, in.InReview, in.Scoring)
}

type awardRecuse struct {
	InReview
	award.Recusal
}

func (s *Service) recuseAward(ctx context.Context, in *awardRecuse) (*award.Seen, error) {
	return s.editReview(ctx, in.InReview, in.Recusal)
}

func (s *Service) editReview(ctx context.Context, in InReview, edit award.ReviewEdit) (*award.Seen, error) {
	at, err := s.awards(ctx, in.InProgram)
	if err != nil {
		return nil, err
	}
	return at.Edit(ctx, in.ReviewID, edit)
}

type awardWinner struct {
	InProgram
	SubmissionID string `json:"submission_id" format:"uuid"`
	award.Verdict
}

func (s *Service) tagAward(ctx context.Context, in *awardWinner) (*award.Submission, error) {
	at, err := s.awards(ctx, in.InProgram)
	if err != nil {
		return nil, err
	}
	edit := award.SubmissionEdit(in.Verdict)
	change := resource.Change[award.SubmissionEdit]{Verb: record.Updated, Draft: &edit}
	return award.Submissions.Of(at.Store, at.Owner).Change(ctx, in.SubmissionID, change)
}

type awardRestore struct {
	InProgram
	Kind string `json:"kind" enum:"program,category,round,promo_code,submission,review"`
	ID   string `json:"id,omitempty" format:"uuid"`
}

// restoreAward brings a deleted record of awards back. A program is named by program_id alone.
func (s *Service) restoreAward(ctx context.Context, in *awardRestore) (any, error) {
	at, err := s.awards(ctx, in.InProgram)
	if err != nil {
		return nil, err
	}
	if (in.Kind == "program") != (in.ID == "") {
		return nil, apierr.Invalid("id", "id names the record to restore; a program is named by program_id alone.")
	}
	if in.Kind == "program" {
		return restore(award.Programs)(ctx, award.Records{Store: at.Store, Owner: resource.Owner{Org: in.OrgID}}, in.ProgramID)
	}
	return restores[in.Kind](ctx, at, in.ID)
}

// restores has the restore of each kind of record below a program.
var restores = map[string]func(context.Context, award.Records, string) (any, error){
	"category": restore(award.Categories), "round": restore(award.Rounds), "promo_code": restore(award.PromoCodes),
	"submission": restore(award.Submissions), "review": restore(award.Reviews),
}

// restore returns the function that restores a record of a kind.
func restore[R any, P resource.Record[R], D resource.Draft[P]](
	kind *resource.Kind[R, P, D],
) func(context.Context, award.Records, string) (any, error) {
	return func(ctx context.Context, at award.Records, id string) (any, error) {
		return kind.Of(at.Store, at.Owner).Change(ctx, id, resource.Change[D]{Verb: record.Restored})
	}
}
