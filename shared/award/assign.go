package award

import (
	"context"
	"errors"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// In names the records of a program.
type In struct {
	resource.Store
	Owner resource.Owner
}

// decoded reads a record; the 404 of its absence names no record of the caller.
func decoded[R any](stored table.Item) (*R, error) {
	if stored.Version == 0 {
		return nil, apierr.NotFound("Award round")
	}
	return record.Decode[R](stored)
}

// Submit makes a submission of an entry, or changes the submission of an id. code is the promo code as it was sent.
func (in In) Submit(ctx context.Context, id string, d Entry, code wire.Opt[string]) (*Submission, error) {
	all := Submissions.Of(in.Store, in.Owner)
	var err error
	if d.promoCode, err = in.promoCode(ctx, code); err != nil {
		return nil, err
	}
	if id != "" {
		edit := SubmissionEdit(d)
		return all.Change(ctx, id, resource.Change[SubmissionEdit]{Verb: record.Updated, Draft: &edit})
	}
	rounds, err := Rounds.Of(in.Store, in.Owner).List(ctx)
	if err != nil {
		return nil, err
	}
	for _, round := range rounds {
		if round.IsDefault {
			d.round = round.ID
		}
	}
	return all.Create(ctx, d)
}

// promoCode returns the id of a promo code, whatever its case.
func (in In) promoCode(ctx context.Context, code wire.Opt[string]) (wire.Opt[string], error) {
	if !code.Has() {
		return code, nil
	}
	all, err := PromoCodes.Of(in.Store, in.Owner).List(ctx)
	for _, p := range all {
		if strings.EqualFold(p.Code, code.Value) {
			return wire.Some(p.ID), nil
		}
	}
	if err == nil {
		err = apierr.Invalid("promo_code", "There is no such promo code in this program.")
	}
	return code, err
}

// assignment makes a review.
type assignment struct {
	submission, round string
	reviewer          Reviewer
}

// Apply writes the assignment.
func (d assignment) Apply(e resource.Edit[*Review]) error {
	r := e.Record
	r.ProgramID, r.SubmissionID, r.RoundID, r.Reviewer = e.Parent, d.submission, d.round, d.reviewer
	r.Status, r.Scores, r.fresh = assigned, []Score{}, true
	return nil
}

// Assignment names a reviewer for a submission in a round.
type Assignment struct {
	SubmissionID string `json:"submission_id" format:"uuid"`
	RoundID      string `json:"round_id" format:"uuid"`
	Reviewer     struct {
		Name  string `json:"name" maxLength:"255" pattern:"\\S"`
		Email string `json:"email" maxLength:"255"`
	} `json:"reviewer"`
}

// Assign makes a review, and moves the submission into the round, in one transaction.
func (in In) Assign(ctx context.Context, d Assignment) (*Seen, error) {
	address := strings.TrimSpace(d.Reviewer.Email)
	if !isEmail(address) {
		return nil, apierr.Invalid("reviewer.email", "reviewer.email must be an e-mail address.")
	}
	reviewer := Reviewer{idOf(in.Owner.Parent, "reviewer "+strings.ToLower(address)), d.Reviewer.Name, address}
	made, _, err := Reviews.Of(in.Store, in.Owner).Creating(assignment{d.SubmissionID, d.RoundID, reviewer})
	if err != nil {
		return nil, err
	}
	move := SubmissionEdit(moving{d.RoundID})
	change := resource.Change[SubmissionEdit]{Verb: record.Updated, Draft: &move}
	moved, err := Submissions.Of(in.Store, in.Owner).Changing(d.SubmissionID, change)
	if err != nil {
		return nil, err
	}
	r, err := write.Run[*Review](ctx, in.Table, write.Together(made, moved))
	return in.seen(ctx, r, err)
}

// Edit changes a review.
func (in In) Edit(ctx context.Context, id string, edit ReviewEdit) (*Seen, error) {
	r, err := Reviews.Of(in.Store, in.Owner).Change(ctx, id, resource.Change[ReviewEdit]{Verb: record.Updated, Draft: &edit})
	return in.seen(ctx, r, err)
}

// Seen is a review with its submission as the reviewer sees it: in a blind review without the submitter.
type Seen struct {
	*Review
	Submission *Submission `json:"submission"`
}

func (in In) seen(ctx context.Context, r *Review, err error) (*Seen, error) {
	if err != nil {
		return nil, err
	}
	s, err := Submissions.Of(in.Store, in.Owner).Get(ctx, r.SubmissionID)
	if apierr.IsNotFound(err) {
		return &Seen{Review: r}, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := Programs.Of(in.Store, resource.Owner{Org: in.Owner.Org}).Get(ctx, in.Owner.Parent)
	if err == nil && p.BlindReview {
		s.Submitter = nil
	}
	return &Seen{r, s}, err
}

// Removed is a reviewer who was removed from a program, or from one of its rounds.
type Removed struct {
	Reviewer
	RoundID   *string   `json:"round_id" format:"uuid" doc:"The round; null for all rounds."`
	Reviews   int       `json:"removed_reviews" doc:"How many open reviews were deleted."`
	DeletedAt wire.Time `json:"deleted_at" doc:"When the reviewer was removed."`
}

// Remove deletes the open reviews of a reviewer, in a round or in all, one after the other, so that a repetition ends
// an interrupted removal. Completed and recused reviews stay.
func (in In) Remove(ctx context.Context, reviewer, round string) (*Removed, error) {
	all := Reviews.Of(in.Store, in.Owner)
	some, err := all.List(ctx)
	if err != nil {
		return nil, err
	}
	removed := &Removed{DeletedAt: wire.At(in.Now())}
	if round != "" {
		removed.RoundID = &round
	}
	for _, r := range some {
		if r.Reviewer.ID != reviewer || round != "" && r.RoundID != round {
			continue
		}
		removed.Reviewer = r.Reviewer
		if !r.Open() {
			continue
		}
		guard := write.Guard{UpdatedAt: wire.Some(r.UpdatedAt)}
		_, err := all.Change(ctx, r.ID, resource.Change[ReviewEdit]{Verb: record.Deleted, Guard: guard})
		if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status < 500 {
			continue // The review was completed or deleted meanwhile.
		}
		if err != nil {
			return nil, err
		}
		removed.Reviews++
	}
	if removed.ID == "" {
		return nil, apierr.NotFound("Reviewer")
	}
	return removed, nil
}
