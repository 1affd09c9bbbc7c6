package award

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Records are the records of a program.
type Records struct {
	resource.Store
	Owner resource.Owner
}

// roundIn returns the round of a key. The 404 of a missing round names no record of the caller.
func roundIn(found write.Items, key table.Key) (*Round, error) {
	stored, ok := found[key]
	if !ok {
		return nil, apierr.NotFound("Award round")
	}
	return record.Decode[Round](stored)
}

// program returns the program, without its numbers; an empty program for a missing one, which every write refuses.
func (rs Records) program(ctx context.Context) (*Program, error) {
	stored, err := rs.Table.Get(ctx, resource.Owner{Org: rs.Owner.Org}.Key(programKind, rs.Owner.Parent))
	if errors.Is(err, table.ErrNotFound) {
		return &Program{BlindReview: true}, nil // A reviewer sees no submitter where no program allows it.
	}
	if err != nil {
		return nil, err
	}
	return Programs.Decode(stored)
}

// Submit makes a submission of an entry, or changes the submission of an id. code is the promo code as it was sent.
func (rs Records) Submit(ctx context.Context, id string, d Entry, code wire.Opt[string]) (*Submission, error) {
	all := Submissions.Of(rs.Store, rs.Owner)
	var err error
	if d.promoCode, err = rs.promoCode(ctx, code); err != nil {
		return nil, err
	}
	if d.Submitter.Sent {
		if d.contact, err = rs.contact(ctx, Submitter(d.Submitter.Value)); err != nil {
			return nil, err
		}
	}
	if id != "" {
		edit := SubmissionEdit(d)
		return all.Change(ctx, id, resource.Change[SubmissionEdit]{Verb: record.Updated, Draft: &edit})
	}
	return all.Create(ctx, d)
}

// promoCode returns the id of a promo code, whatever its case.
func (rs Records) promoCode(ctx context.Context, code wire.Opt[string]) (wire.Opt[string], error) {
	if !code.Has() {
		return code, nil
	}
	id, err := rs.Holder(ctx, rs.Owner.HoldKey(promoCodeKind, strings.ToLower(code.Value)))
	if err == nil && id == "" {
		err = apierr.Invalid("promo_code", "There is no such promo code in this program.")
	}
	return wire.Some(id), err
}

// contact returns the id of the contact that has the address of a person now, for the hidden part of a record: an erasure
// finds the record by the contact when the contact has another address. It returns nil without a contact, and the 400 of a
// contact_id that the organization does not have.
func (rs Records) contact(ctx context.Context, s Submitter) (json.RawMessage, error) {
	hold, named := contact.ByEmail(rs.Owner.Org, s.Email), contact.Kind.Body(rs.Owner.Org, refer(s.ContactID))
	keys := []table.Key{hold}
	if s.ContactID != nil {
		keys = append(keys, named)
	}
	got, err := rs.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	if _, found := got[named]; s.ContactID != nil && !found {
		return nil, apierr.Invalid("submitter.contact_id", "The organization has no contact %s.", *s.ContactID)
	}
	stored, found := got[hold]
	if !found {
		return nil, nil
	}
	held, err := record.Decode[resource.Stored](stored)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(strconv.Quote(held.ID)), nil
}

// assignment makes a review.
type assignment struct {
	submission, round string
	reviewer          Reviewer
	contact           json.RawMessage
}

// Apply writes the assignment.
func (d assignment) Apply(e resource.Edit[*Review]) error {
	r := e.Record
	r.ProgramID, r.SubmissionID, r.RoundID, r.Reviewer = e.Parent, d.submission, d.round, d.reviewer
	r.Status, r.Scores, r.unchecked = assigned, []Score{}, true
	r.Hide(d.contact)
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

// Assign makes a review, and moves the submission into the round unless it is there, in one transaction.
func (rs Records) Assign(ctx context.Context, d Assignment) (*Seen, error) {
	address := strings.TrimSpace(d.Reviewer.Email)
	if !field.IsEmail(address) {
		return nil, apierr.Invalid("reviewer.email", "reviewer.email must be an e-mail address.")
	}
	program, err := rs.program(ctx)
	if err != nil {
		return nil, err
	}
	reviewer := Reviewer{program.reviewerID(address), d.Reviewer.Name, address}
	hidden, err := rs.contact(ctx, Submitter{Email: address})
	if err != nil {
		return nil, err
	}
	made, err := Reviews.Of(rs.Store, rs.Owner).Creating(assignment{d.SubmissionID, d.RoundID, reviewer, hidden})
	if err != nil {
		return nil, err
	}
	move := SubmissionEdit(moving{d.RoundID})
	change := resource.Change[SubmissionEdit]{Verb: record.Updated, Draft: &move}
	moved, err := Submissions.Of(rs.Store, rs.Owner).Changing(d.SubmissionID, change)
	if err != nil {
		return nil, err
	}
	r, err := write.Run[*Review](ctx, rs.Table, write.Together(made, unlessThere{moved, d, rs.Owner}))
	return rs.seen(ctx, r, err)
}

// unlessThere moves a submission into a round unless the submission is in review there.
type unlessThere struct {
	write.Op
	to Assignment
	in resource.Owner
}

// Plan moves the submission, or requires that a submission that is in review in the round does not change.
func (op unlessThere) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	stored, found := got[op.in.Key(submissionKind, op.to.SubmissionID)]
	if !found {
		return op.Op.Plan(ctx, got)
	}
	s, err := record.Decode[Submission](stored)
	if err != nil || s.Status != inReview || s.CurrentRoundID != op.to.RoundID {
		return op.Op.Plan(ctx, got)
	}
	return &write.Plan{Writes: []table.Write{table.Version(stored.Key, stored.Version)}}, nil
}

// Edit changes a review.
func (rs Records) Edit(ctx context.Context, id string, edit ReviewEdit) (*Seen, error) {
	r, err := Reviews.Of(rs.Store, rs.Owner).Change(ctx, id, resource.Change[ReviewEdit]{Verb: record.Updated, Draft: &edit})
	return rs.seen(ctx, r, err)
}

// Seen is a review with its submission as the reviewer sees it: in a blind review without the submitter and
// without addresses.
type Seen struct {
	*Review
	Submission *Submission `json:"submission"`
}

func (rs Records) seen(ctx context.Context, r *Review, err error) (*Seen, error) {
	if err != nil {
		return nil, err
	}
	s, err := Submissions.Of(rs.Store, rs.Owner).Get(ctx, r.SubmissionID)
	if apierr.IsNotFound(err) {
		return &Seen{Review: r}, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := rs.program(ctx)
	if err == nil && p.BlindReview {
		s.Submitter = nil
		s.Answers = slices.DeleteFunc(s.Answers, func(a Answer) bool { return a.Type == "email" })
	}
	return &Seen{r, s}, err
}

// Removed is the answer of the removal of a reviewer from a program, or from a round.
type Removed struct {
	Reviewer
	RoundID   *string   `json:"round_id" format:"uuid" doc:"The round; null for all rounds."`
	Reviews   int       `json:"removed_reviews" doc:"How many open reviews were deleted."`
	DeletedAt wire.Time `json:"deleted_at" doc:"When the reviewer was removed."`
}

// removal refuses to delete a review that has ended.
type removal struct{}

// Apply checks the review and changes nothing.
func (removal) Apply(e resource.Edit[*Review]) error {
	if !e.Record.Open() {
		return ended(e.Record)
	}
	return nil
}

// removeOpen deletes a review, and reports false for a review that has ended or is gone.
func (rs Records) removeOpen(ctx context.Context, r *Review) (done bool, err error) {
	edit := ReviewEdit(removal{})
	_, err = Reviews.Of(rs.Store, rs.Owner).Change(ctx, r.ID, resource.Change[ReviewEdit]{Verb: record.Deleted, Draft: &edit})
	if refused := (*apierr.Error)(nil); apierr.IsNotFound(err) || errors.As(err, &refused) && refused.Code == codeEnded {
		return false, nil
	}
	return err == nil, err
}

// Remove deletes the open reviews of a reviewer, in a round or in all, one after the other. It is a 503 if the request has no
// time for all; a repetition deletes the rest. Completed and recused reviews stay, also those that end meanwhile. A reviewer
// without any review is a 404, unless the reviews were removed before.
func (rs Records) Remove(ctx context.Context, reviewer, round string) (*Removed, error) {
	named := func(r *Review) bool { return r.Reviewer.ID == reviewer && (round == "" || r.RoundID == round) }
	all, err := Reviews.Of(rs.Store, rs.Owner).Some(ctx, named)
	if err != nil {
		return nil, err
	}
	removed := &Removed{DeletedAt: wire.At(rs.Now())}
	if round != "" {
		removed.RoundID = &round
	}
	for _, r := range all {
		if removed.Reviewer = r.Reviewer; !r.Open() {
			continue
		}
		if write.Late(ctx) {
			return nil, apierr.Unavailable()
		}
		done, err := rs.removeOpen(ctx, r)
		if err != nil {
			return nil, err
		}
		if done {
			removed.Reviews++
		}
	}
	if removed.ID == "" {
		return removed, rs.removedBefore(ctx, removed, named)
	}
	return removed, nil
}

// removedBefore finds the reviewer of a removal in the deleted reviews: the answer of an earlier request may be lost. The
// deleted reviews of all programs are read; damaged reviews are passed over. It is a 503 if the request has no time for all.
func (rs Records) removedBefore(ctx context.Context, removed *Removed, named func(*Review) bool) error {
	from := rs.Owner.DeletedKey(reviewKind, "")
	for stored, err := range rs.Table.Lenient().Between(ctx, from.PK, from.SK, from.SK+"~") {
		if err != nil {
			return err
		}
		if write.Late(ctx) {
			return apierr.Unavailable()
		}
		r, err := Reviews.Decode(stored)
		if err == nil && r.ProgramID == rs.Owner.Parent && named(r) {
			removed.Reviewer, removed.DeletedAt = r.Reviewer, *r.DeletedAt
			return nil
		}
	}
	return apierr.NotFound("Reviewer")
}
