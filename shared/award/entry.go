package award

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// wishes are what an edit asks of the rules that need other records.
type wishes struct {
	// enter asks the program and the round to take the submission, and pay says that its fee is paid.
	enter, pay bool
	// left is the round that the submission leaves.
	left string
}

// Entry is what a submitter sends: a new submission, or a change of one.
type Entry struct {
	CategoryID wire.Opt[string]    `json:"category_id,omitzero" format:"uuid"`
	Submitter  wire.Opt[Submitter] `json:"submitter,omitzero" create:"required" nullable:"false"`
	Form       []FormAnswer        `json:"answers,omitempty" maxItems:"100"`
	Status     string              `json:"status,omitempty" enum:"draft,submitted,withdrawn"`
	Paid       bool                `json:"paid,omitempty"`

	// round is the default round of the program. promoCode is the id of the code that was sent.
	round     string
	promoCode wire.Opt[string]
}

// FormAnswer is an answer with its question. The label and the type come with the first answer.
type FormAnswer struct {
	InternalName string `json:"internal_name" pattern:"^[a-z][a-z0-9_]{0,63}$" patternDescription:"a name of small letters, digits and underscores"`
	Label        string `json:"label" maxLength:"500" pattern:"\\S"`
	Type         string `json:"type" enum:"text,textarea,number,checkbox,date,email,url"`
	Value        any    `json:"value,omitempty"`
}

// Apply writes the entry into the submission. Only a draft changes its form, and every step has its order.
func (d Entry) Apply(e resource.Edit[*Submission]) error {
	s := e.Record
	if e.New {
		if !d.Submitter.Sent {
			return apierr.Invalid("submitter", "submitter is required.")
		}
		s.ProgramID, s.CurrentRoundID, s.Status, s.Answers = e.Parent, d.round, StatusDraft, []Answer{}
	}
	if d.Status == withdrawn {
		return s.withdraw(e.New)
	}
	s.wants.pay = d.Paid
	switch s.Status {
	case pendingPayment:
		if !d.Paid || d.Status == StatusDraft {
			return cannot(s.Status, "changed by its submitter")
		}
	case StatusDraft:
		s.wants.enter = true
		if err := d.write(e.Parent, s); err != nil {
			return err
		}
	default:
		return cannot(s.Status, "changed by its submitter")
	}
	if d.Status != StatusDraft {
		s.Status = submitted
	}
	return nil
}

func (s *Submission) withdraw(fresh bool) error {
	if fresh || s.Status == withdrawn {
		return cannot(s.Status, "withdrawn")
	}
	s.Status = withdrawn
	return nil
}

// cannot returns the 409 of a step that the state of a submission does not have.
func cannot(status, step string) error {
	return apierr.Conflict("SUBMISSION_STATUS", fmt.Sprintf("A submission that is %s cannot be %s.", status, step)).With("status", status)
}

// write writes the form of a draft.
func (d Entry) write(program string, s *Submission) error {
	d.CategoryID.IntoPointer(&s.CategoryID)
	d.promoCode.IntoPointer(&s.PromoCodeID)
	if d.Submitter.Sent {
		submitter := d.Submitter.Value
		if submitter.Email = strings.TrimSpace(submitter.Email); !isEmail(submitter.Email) {
			return apierr.Invalid("submitter.email", "submitter.email must be an e-mail address.")
		}
		s.Submitter = &submitter
	}
	for i, sent := range d.Form {
		answer := Answer{idOf(program, sent.InternalName), sent.InternalName, sent.Label, sent.Type, sent.Value}
		if at := fmt.Sprintf("answers[%d].value", i); !answer.fits() {
			return apierr.TypeMismatch(at, fmt.Sprintf("%s must be of the type %s.", at, sent.Type))
		}
		if at := slices.IndexFunc(s.Answers, func(a Answer) bool { return a.InternalName == sent.InternalName }); at >= 0 {
			s.Answers[at] = answer
			continue
		}
		s.Answers = append(slices.Clip(s.Answers), answer)
	}
	return nil
}

// isEmail reports whether a text is an address alone.
func isEmail(text string) bool {
	at, err := mail.ParseAddress(text)
	return err == nil && at.Address == text
}

// moving moves a submission into a round to be reviewed.
type moving struct{ round string }

// Apply moves the submission.
func (m moving) Apply(e resource.Edit[*Submission]) error {
	s := e.Record
	if s.Status != submitted && s.Status != inReview {
		return cannot(s.Status, "reviewed")
	}
	if s.CurrentRoundID != m.round {
		s.wants.left, s.CurrentRoundID = s.CurrentRoundID, m.round
	}
	s.Status = inReview
	return nil
}

// Verdict is the end of a submission: a winner with a tag, rejected, or back in review.
type Verdict struct {
	Outcome string           `json:"outcome" enum:"winner,rejected,in_review"`
	Tag     wire.Opt[string] `json:"winner_tag,omitzero" maxLength:"100" pattern:"\\S"`
}

// Apply writes the outcome.
func (o Verdict) Apply(e resource.Edit[*Submission]) error {
	s := e.Record
	if !slices.Contains([]string{submitted, inReview, winner, rejected}, s.Status) {
		return cannot(s.Status, "judged")
	}
	if (o.Outcome == winner) != o.Tag.Has() {
		return apierr.Invalid("winner_tag", "winner_tag belongs to the outcome winner, and to no other.")
	}
	s.Status, s.WinnerTag = o.Outcome, nil
	o.Tag.IntoPointer(&s.WinnerTag)
	return nil
}

// admitSubmission applies the rules that need other records: program and round take the submission, the category
// is there, the promo code can be used, the fee is paid, and a round is not behind the last one.
func admitSubmission(a resource.Admission[*Submission]) error {
	s := a.Record
	if a.Verb == record.Deleted {
		return nil
	}
	if a.Verb == record.Restored && s.redeems() {
		_, err := s.promoCode(a)
		return err
	}
	if s.wants.left != "" {
		return s.mayMove(a)
	}
	if !s.wants.enter {
		if s.wants.pay && s.Status == submitted {
			s.submittedAt(a)
		}
		return nil
	}
	program, err := record.Decode[Program](a.Parent)
	if err != nil {
		return err
	}
	if err := s.mayEnter(a, program); err != nil {
		return err
	}
	return s.charge(a, program)
}

// mayEnter refuses a submission to a program or round that takes none, or in a category that is not there.
func (s *Submission) mayEnter(a resource.Admission[*Submission], p *Program) error {
	if p.Status != StatusOpen || p.OpensAt != nil && a.Now.Before(p.OpensAt.Time) || p.ClosesAt != nil && !a.Now.Before(p.ClosesAt.Time) {
		return apierr.Conflict("PROGRAM_NOT_OPEN", "The program takes no submissions at this time.")
	}
	round, err := decoded[Round](a.Found[a.Key(roundKind, s.CurrentRoundID)])
	if err != nil {
		return err
	}
	if err := round.mustBeActive(a.Now); err != nil {
		return err
	}
	if s.CategoryID == nil {
		return nil
	}
	if _, found := a.Found[a.Key(categoryKind, *s.CategoryID)]; !found {
		return apierr.Invalid("category_id", "There is no such category in this program.")
	}
	return nil
}

// charge sets the fee, and leaves a submission with an unpaid fee pending.
func (s *Submission) charge(a resource.Admission[*Submission], p *Program) error {
	s.FeeCents = 0
	if p.Payment.Collect == onSubmission {
		s.FeeCents = p.Payment.BaseFee
	}
	if s.PromoCodeID != nil {
		code, err := s.promoCode(a)
		if err == nil {
			err = code.checkTime(a.Now)
		}
		if err != nil {
			return err
		}
		s.FeeCents = code.discounted(s.FeeCents)
	}
	if s.Status != submitted {
		return nil
	}
	if s.FeeCents > 0 && !s.wants.pay {
		s.Status = pendingPayment
		return nil
	}
	s.submittedAt(a)
	return nil
}

func (s *Submission) submittedAt(a resource.Admission[*Submission]) {
	at := wire.At(a.Now)
	s.SubmittedAt = &at
}

// promoCode returns the promo code of the submission, unless it is used up.
func (s *Submission) promoCode(a resource.Admission[*Submission]) (*PromoCode, error) {
	stored, found := a.Found[a.Key(promoCodeKind, *s.PromoCodeID)]
	if !found {
		return nil, apierr.Invalid("promo_code", "There is no such promo code in this program.")
	}
	code, err := record.Decode[PromoCode](stored)
	if err != nil {
		return nil, err
	}
	numbers, err := resource.Numbers(a.Found[a.SumKey(*s.PromoCodeID, submissionKind)])
	if err != nil {
		return nil, err
	}
	return code, code.checkUses(numbers[uses])
}

// mayMove refuses to move a submission to a round that stands before the one it leaves. A round that was deleted
// stands before all.
func (s *Submission) mayMove(a resource.Admission[*Submission]) error {
	to, err := decoded[Round](a.Found[a.Key(roundKind, s.CurrentRoundID)])
	if err != nil {
		return err
	}
	stored, found := a.Found[a.Key(roundKind, s.wants.left)]
	if !found {
		return nil
	}
	from, err := record.Decode[Round](stored)
	if err == nil && to.Order < from.Order {
		err = apierr.Conflict("ROUND_PASSED", "The submission is in a later round already.").With("round_id", from.ID)
	}
	return err
}
