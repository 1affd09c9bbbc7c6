package award

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// needs are the rules that an edit needs and that read other records.
type needs struct {
	// entry is for a submission that enters the program and the round, paid for a paid fee.
	entry, paid bool
	// category and promoCode are for a category and a promo code that the submission takes: a draft takes another one,
	// a submission that is submitted takes both.
	category, promoCode bool
	// left is the id of the round that the submission leaves.
	left string
}

// Entry is a new submission from a submitter, or a change of a submission.
type Entry struct {
	CategoryID wire.Opt[string]         `json:"category_id,omitzero" format:"uuid"`
	Submitter  wire.Opt[SubmitterDraft] `json:"submitter,omitzero" create:"required" nullable:"false"`
	Form       []FormAnswer             `json:"answers,omitempty" maxItems:"100"`
	Status     string                   `json:"status,omitempty" enum:"draft,submitted,withdrawn"`
	Paid       bool                     `json:"paid,omitempty"`

	// promoCode is the id of the code that was sent, contact the hidden id of the contact with the address.
	promoCode wire.Opt[string]
	contact   json.RawMessage
}

// SubmitterDraft is a submitter in an entry.
type SubmitterDraft struct {
	Name      string  `json:"name" maxLength:"255" pattern:"\\S"`
	Email     string  `json:"email" maxLength:"255" format:"email"`
	ContactID *string `json:"contact_id,omitempty" format:"uuid" nullable:"true"`
}

// FormAnswer is an answer with its question. The label and the type come with the first answer.
type FormAnswer struct {
	InternalName string `json:"internal_name" pattern:"^[a-z][a-z0-9_]{0,63}$" patternDescription:"a name of small letters, digits and underscores"`
	Label        string `json:"label" maxLength:"500" pattern:"\\S"`
	Type         string `json:"type" enum:"text,textarea,number,checkbox,date,email,url"`
	Value        any    `json:"value"`
}

// Apply writes the entry into the submission. Only a draft changes its form, and every step has its order.
func (d Entry) Apply(e resource.Edit[*Submission]) error {
	s := e.Record
	if e.New {
		s.ProgramID, s.CurrentRoundID, s.Status, s.Answers = e.Parent, defaultRoundID(e.Parent), StatusDraft, []Answer{}
	}
	if d.Status == withdrawn {
		return d.withdraw(s, e.New)
	}
	switch s.needs.paid = d.Paid; {
	case d.Paid && d.Status == StatusDraft:
		return apierr.Invalid("paid", "paid is for a submission that is submitted, not for a draft.")
	case s.Status == StatusDraft:
		s.needs.entry = true
		if err := d.write(e.Parent, s); err != nil {
			return err
		}
		if s.Submitter == nil { // An erasure takes the submitter of a draft.
			return apierr.Invalid("submitter", "submitter is required.")
		}
	case s.Status != pendingPayment || !d.Paid:
		return cannot(s.Status, "changed by its submitter")
	case d.changes() != "":
		return apierr.Invalid(d.changes(), "%s of a submission that waits for its fee cannot change.", d.changes())
	}
	if d.Status != StatusDraft {
		s.Status = submitted
	}
	return nil
}

// changes returns the name of a property of the form that was sent; empty if none was.
func (d Entry) changes() string {
	switch {
	case d.CategoryID.Sent:
		return "category_id"
	case d.Submitter.Sent:
		return "submitter"
	case d.promoCode.Sent:
		return "promo_code"
	case d.Form != nil:
		return "answers"
	}
	return ""
}

// withdraw withdraws a submission, also a winner, which loses its tag.
func (d Entry) withdraw(s *Submission, created bool) error {
	switch name := d.changes(); {
	case created:
		return apierr.Invalid("status", "A new submission cannot be withdrawn; send submission_id.")
	case s.Status == withdrawn:
		return cannot(s.Status, "withdrawn")
	case d.Paid:
		return apierr.Invalid("paid", "A withdrawal takes no fee.")
	case name != "":
		return apierr.Invalid(name, "A withdrawal does not change %s.", name)
	}
	s.Status, s.WinnerTag = withdrawn, nil
	return nil
}

// cannot returns the 409 of a step that the state of a submission does not have.
func cannot(status, step string) error {
	return apierr.Conflict("SUBMISSION_STATUS", fmt.Sprintf("A submission that is %s cannot be %s.", status, step)).With("status", status)
}

// write writes the form of a draft.
func (d Entry) write(program string, s *Submission) error {
	category, promoCode, ends := refer(s.CategoryID), refer(s.PromoCodeID), d.Status != StatusDraft
	d.CategoryID.IntoPointer(&s.CategoryID)
	d.promoCode.IntoPointer(&s.PromoCodeID)
	s.needs.category, s.needs.promoCode = ends || refer(s.CategoryID) != category, ends || refer(s.PromoCodeID) != promoCode
	if d.Submitter.Sent {
		submitter := Submitter(d.Submitter.Value)
		if submitter.Email = strings.TrimSpace(submitter.Email); !field.IsEmail(submitter.Email) {
			return apierr.Invalid("submitter.email", "submitter.email must be an e-mail address.")
		}
		s.Submitter = &submitter
		s.Hide(d.contact)
	}
	return d.writeForm(program, s)
}

// writeForm writes the answers of a draft.
func (d Entry) writeForm(program string, s *Submission) error {
	written := map[string]bool{}
	for i, sent := range d.Form {
		if written[sent.InternalName] {
			return apierr.Invalid(fmt.Sprintf("answers[%d].internal_name", i), "The field is answered twice.")
		}
		written[sent.InternalName] = true
		answer := Answer{idOf(program, sent.InternalName), sent.InternalName, sent.Label, sent.Type, sent.Value}
		if err := answer.check(fmt.Sprintf("answers[%d].value", i)); err != nil {
			return err
		}
		if at := indexOf(s.Answers, sent.InternalName); at >= 0 {
			s.Answers[at] = answer
			continue
		}
		s.Answers = append(slices.Clip(s.Answers), answer)
	}
	return s.checkForm()
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
		s.needs.left, s.CurrentRoundID = s.CurrentRoundID, m.round
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
	switch {
	case !slices.Contains([]string{submitted, inReview, winner, rejected}, s.Status):
		return cannot(s.Status, "judged")
	case o.Outcome == inReview && s.Status == submitted: // No reviewer has the submission yet.
		return cannot(s.Status, "taken back into review")
	}
	if (o.Outcome == winner) != o.Tag.Has() {
		return apierr.Invalid("winner_tag", "winner_tag belongs to the outcome winner, and to no other.")
	}
	s.Status, s.WinnerTag = o.Outcome, nil
	o.Tag.IntoPointer(&s.WinnerTag)
	return nil
}

// admitSubmission applies the rules that need other records: program and round take the submission, the category
// is there and the promo code can be used unless a draft keeps them, the fee is paid, and a round is not behind the last one.
func admitSubmission(a resource.Admission[*Submission]) error {
	switch s := a.Record; {
	case a.Verb == record.Deleted:
	case a.Verb == record.Restored:
		return s.mayRedeem(a)
	case s.needs.left != "":
		return s.mayMove(a)
	case s.needs.entry:
		program, err := record.Decode[Program](a.Parent)
		if err == nil {
			err = s.mayEnter(a, program)
		}
		if err != nil {
			return err
		}
		return s.charge(a, program)
	case s.needs.paid:
		s.submittedAt(a)
	}
	return nil
}

// mayRedeem refuses to restore a submission whose promo code is used up. A deleted code is refused later, by its sum.
func (s *Submission) mayRedeem(a resource.Admission[*Submission]) error {
	if !s.redeems() || a.Found[a.Key(promoCodeKind, *s.PromoCodeID)].Version == 0 {
		return nil
	}
	code, err := s.promoCode(a)
	if err != nil {
		return err
	}
	return s.checkUses(a, code)
}

// mayEnter refuses a submission to a program or round that takes none, or in a category that is not there. A draft keeps
// a category that was deleted.
func (s *Submission) mayEnter(a resource.Admission[*Submission], p *Program) error {
	if p.Status != StatusOpen || p.OpensAt != nil && a.Now.Before(p.OpensAt.Time) || p.ClosesAt != nil && !a.Now.Before(p.ClosesAt.Time) {
		return apierr.Conflict("PROGRAM_NOT_OPEN", "The program takes no submissions at this time.")
	}
	round, err := roundIn(a.Found, a.Key(roundKind, s.CurrentRoundID))
	if err == nil {
		err = round.mustBeActive(a.Now)
	}
	if err != nil {
		return err
	}
	if s.CategoryID == nil || !s.needs.category {
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
		if err := s.discount(a); err != nil {
			return err
		}
	}
	if s.Status != submitted {
		return nil
	}
	if s.FeeCents > 0 && !s.needs.paid {
		s.Status = pendingPayment
		return nil
	}
	s.submittedAt(a)
	return nil
}

// discount lowers the fee by the promo code. A draft keeps a code that cannot be used any more; a deleted code lowers no
// fee.
func (s *Submission) discount(a resource.Admission[*Submission]) error {
	if _, found := a.Found[a.Key(promoCodeKind, *s.PromoCodeID)]; !found && !s.needs.promoCode {
		return nil
	}
	code, err := s.promoCode(a)
	if err == nil && s.needs.promoCode {
		err = s.checkUses(a, code)
		if err == nil {
			err = code.checkTime(a.Now)
		}
	}
	if err != nil {
		return err
	}
	s.FeeCents = code.discounted(s.FeeCents)
	return nil
}

func (s *Submission) submittedAt(a resource.Admission[*Submission]) {
	at := wire.At(a.Now)
	s.SubmittedAt = &at
}

// promoCode returns the promo code of the submission.
func (s *Submission) promoCode(a resource.Admission[*Submission]) (*PromoCode, error) {
	stored, found := a.Found[a.Key(promoCodeKind, *s.PromoCodeID)]
	if !found {
		return nil, apierr.Invalid("promo_code", "There is no such promo code in this program.")
	}
	return record.Decode[PromoCode](stored)
}

// checkUses refuses a promo code that is used up.
func (s *Submission) checkUses(a resource.Admission[*Submission], code *PromoCode) error {
	numbers, err := resource.DecodeNumbers(a.Found[a.SumKey(code.ID, submissionKind)])
	if err != nil {
		return err
	}
	return code.checkUses(numbers[uses])
}

// mayMove refuses to move a submission to a round that comes before the one that it leaves. A round that was deleted
// comes before all.
func (s *Submission) mayMove(a resource.Admission[*Submission]) error {
	to, err := roundIn(a.Found, a.Key(roundKind, s.CurrentRoundID))
	if err != nil {
		return err
	}
	stored, found := a.Found[a.Key(roundKind, s.needs.left)]
	if !found {
		return nil
	}
	from, err := record.Decode[Round](stored)
	if err == nil && Rounds.Compare(to, from) < 0 {
		err = apierr.Conflict("ROUND_PASSED", "The submission is in a later round already.").With("round_id", from.ID)
	}
	return err
}
