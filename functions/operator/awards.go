package operator

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/award"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

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
