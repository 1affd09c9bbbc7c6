// Package award owns the award programs of an organization: programs, categories, rounds, promo codes,
// submissions and reviews (gaps.md section 8). All are small records (package resource): a program belongs to
// the organization, everything else to a program.
//
// Read program.go, category.go, round.go, scorecard.go, promocode.go; then submission.go, entry.go, review.go,
// assign.go, erase.go.
package award

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// The names of the kinds.
const (
	programKind    = "award_program"
	categoryKind   = "award_category"
	roundKind      = "award_round"
	promoCodeKind  = "award_promo_code"
	submissionKind = "award_submission"
	reviewKind     = "award_review"
)

// inProgram is the parent of all records below a program.
var inProgram = resource.ParentNames{Name: programKind, Title: "Award program"}

// Program is an award program of an organization.
type Program struct {
	resource.Header
	Name            string     `json:"name" doc:"The program's name."`
	Type            string     `json:"type" enum:"awards,grants,scholarships" doc:"What the program gives."`
	Status          string     `json:"status" enum:"draft,open,archived" doc:"Only an open program takes submissions."`
	Description     *string    `json:"description" doc:"What the program is about."`
	Labels          Labels     `json:"labels" doc:"The words that submitters see."`
	OpensAt         *wire.Time `json:"opens_at" doc:"From when on the program takes submissions."`
	ClosesAt        *wire.Time `json:"closes_at" doc:"Until when the program takes submissions."`
	BlindReview     bool       `json:"blind_review" doc:"Whether reviewers do not see the submitter."`
	Payment         Payment    `json:"payment" doc:"The fee of a submission."`
	SubmissionCount int        `json:"submission_count" doc:"How many submissions there are that are not deleted."`
	AdminURL        *string    `json:"admin_url" doc:"The program in the admin application, where one is configured."`
}

// Labels are the words of a program.
type Labels struct {
	Submitter string `json:"submitter" doc:"The word for a submitter."`
	Entry     string `json:"entry" doc:"The word for a submission."`
	Action    string `json:"action" doc:"The text of the button."`
}

// Payment is the fee of a submission.
type Payment struct {
	Collect  string `json:"collect" enum:"none,on_submission" doc:"When the fee is collected."`
	BaseFee  int    `json:"base_fee_cents" doc:"The fee without a promo code, in cents."`
	Currency string `json:"currency" doc:"The currency by ISO 4217."`
}

// Values of a program.
const (
	StatusDraft  = "draft"
	StatusOpen   = "open"
	onSubmission = "on_submission"
)

// ProgramDraft has the properties of a program that a client may write.
type ProgramDraft struct {
	Name        wire.Opt[string]       `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The program's name."`
	Type        wire.Opt[string]       `json:"type,omitzero" enum:"awards,grants,scholarships" nullable:"false" doc:"What the program gives; awards by default."`
	Status      wire.Opt[string]       `json:"status,omitzero" enum:"draft,open,archived" nullable:"false" doc:"draft by default."`
	Description wire.Opt[string]       `json:"description,omitzero" maxLength:"5000" doc:"What the program is about."`
	Labels      wire.Opt[LabelsDraft]  `json:"labels,omitzero" nullable:"false" doc:"The words that submitters see; those that are sent change."`
	OpensAt     wire.Opt[wire.Time]    `json:"opens_at,omitzero" doc:"From when on the program takes submissions."`
	ClosesAt    wire.Opt[wire.Time]    `json:"closes_at,omitzero" doc:"Until when, after opens_at."`
	BlindReview wire.Opt[bool]         `json:"blind_review,omitzero" nullable:"false" doc:"Whether reviewers do not see the submitter; false by default."`
	Payment     wire.Opt[PaymentDraft] `json:"payment,omitzero" nullable:"false" doc:"The fee of a submission; the properties that are sent change."`
}

// LabelsDraft has the words that change.
type LabelsDraft struct {
	Submitter wire.Opt[string] `json:"submitter,omitzero" minLength:"1" maxLength:"20" nullable:"false" doc:"Submitter by default."`
	Entry     wire.Opt[string] `json:"entry,omitzero" minLength:"1" maxLength:"20" nullable:"false" doc:"Entry by default."`
	Action    wire.Opt[string] `json:"action,omitzero" minLength:"1" maxLength:"15" nullable:"false" doc:"Submit by default."`
}

// PaymentDraft has the properties of the fee that change.
type PaymentDraft struct {
	Collect  wire.Opt[string] `json:"collect,omitzero" enum:"none,on_submission" nullable:"false" doc:"none by default."`
	BaseFee  wire.Opt[int]    `json:"base_fee_cents,omitzero" minimum:"0" maximum:"100000000" nullable:"false" doc:"0 by default."`
	Currency wire.Opt[string] `json:"currency,omitzero" pattern:"^[A-Z]{3}$" patternDescription:"three capital letters such as USD" nullable:"false" doc:"USD by default."`
}

// MaxPrograms is how many programs an organization may have in all; the plan of an organization has fewer.
const MaxPrograms = 1000

// Programs is the kind of the programs.
var Programs = &resource.Kind[Program, *Program, ProgramDraft]{
	Name: programKind, Title: "Award program", Many: "award programs", Max: MaxPrograms, Children: []string{submissionKind},
	MayDelete: keepSubmissions, Named: (*Program).plan, Admit: admitProgram, Also: defaultRound,
	Counts: func(p *Program, n map[string]int) { p.SubmissionCount = n[submissionKind] },
	Show:   (*Program).link,
}

// Apply writes the draft into the program.
func (d ProgramDraft) Apply(e resource.Edit[*Program]) error {
	p := e.Record
	if e.New {
		p.Type, p.Status = "awards", StatusDraft
		p.Labels = Labels{Submitter: "Submitter", Entry: "Entry", Action: "Submit"}
		p.Payment = Payment{Collect: "none", Currency: "USD"}
		p.Hide(json.RawMessage(strconv.Quote(uuid.NewString())))
	}
	d.Name.Into(&p.Name)
	d.Type.Into(&p.Type)
	d.Status.Into(&p.Status)
	d.Description.IntoPointer(&p.Description)
	d.Labels.Value.Submitter.Into(&p.Labels.Submitter)
	d.Labels.Value.Entry.Into(&p.Labels.Entry)
	d.Labels.Value.Action.Into(&p.Labels.Action)
	d.OpensAt.IntoPointer(&p.OpensAt)
	d.ClosesAt.IntoPointer(&p.ClosesAt)
	d.BlindReview.Into(&p.BlindReview)
	d.Payment.Value.Collect.Into(&p.Payment.Collect)
	d.Payment.Value.BaseFee.Into(&p.Payment.BaseFee)
	d.Payment.Value.Currency.Into(&p.Payment.Currency)
	return checkPeriod("opens_at", "closes_at", p.OpensAt, p.ClosesAt, d.ClosesAt.Sent)
}

// checkPeriod refuses an end that is not after the start. The error names the end if it was sent.
func checkPeriod(start, end string, from, to *wire.Time, endSent bool) error {
	switch {
	case from == nil || to == nil || to.After(from.Time):
		return nil
	case endSent:
		return apierr.Invalid(end, "%s must be after %s.", end, start)
	}
	return apierr.Invalid(start, "%s must be before %s.", start, end)
}

// keepSubmissions refuses to delete a program with submissions without force.
func keepSubmissions(d resource.Deletion[*Program]) error {
	return confirm("has_submissions", d.Children[submissionKind], "The program has %d submissions.")
}

// confirm returns the 409 of a deletion if there are records that depend on the record.
func confirm(reason string, count int, message string) error {
	if count == 0 {
		return nil
	}
	return resource.Confirm(reason, count, fmt.Sprintf(message+" Send force=true to delete it.", count))
}

// plan returns the key of the organization, whose plan limits the programs; none for a change of an existing program.
func (p *Program) plan(o resource.Owner) []table.Key {
	if p.Revision() > 1 && p.DeletedAt == nil {
		return nil
	}
	return []table.Key{{PK: table.Org(o.Org), SK: "-"}}
}

// admitProgram refuses a program that the plan of the organization does not have.
func admitProgram(a resource.Admission[*Program]) error {
	if a.Verb != record.Created && a.Verb != record.Restored {
		return nil
	}
	o, err := record.Decode[tenancy.Organization](a.Found[table.Key{PK: table.Org(a.Org), SK: "-"}])
	if err != nil {
		return err
	}
	if most := o.MostAwardPrograms(); a.Count >= most {
		e := apierr.Forbidden("", fmt.Sprintf("The organization has %d award programs, which is the limit of its plan.", a.Count))
		e.Code = "PLAN_LIMIT_REACHED"
		return e.With("limit", "award programs").With("maximum", most)
	}
	return nil
}

// defaultRound creates the first round of a new program.
func defaultRound(s resource.Store, o resource.Owner, p *Program) (write.Op, error) {
	d := RoundDraft{Name: wire.Some("Submissions and Review"), Type: wire.Some(submissionReview), Order: wire.Some(1), isDefault: true}
	return Rounds.Of(s, resource.Owner{Org: o.Org, Parent: p.ID}).Starting(defaultRoundID(p.ID), d)
}

// defaultRoundID returns the id of the first round of a program.
func defaultRoundID(program string) string { return idOf(program, "default round") }

// reviewerID returns the id of a reviewer in the program, whatever the case of the address. The hidden part of the
// program is the secret, so that nobody finds the address of an id by trying addresses.
func (p *Program) reviewerID(address string) string {
	mac := hmac.New(sha256.New, p.Hidden())
	mac.Write([]byte(strings.ToLower(address)))
	return uuid.NewSHA1(uuid.NameSpaceOID, mac.Sum(nil)).String()
}

// link sets the address in the admin application.
func (p *Program) link(s resource.Store, o resource.Owner) {
	if s.AdminURL != "" {
		at := fmt.Sprintf("%s/organization/%d/awards/programs/%s", s.AdminURL, o.Org, p.ID)
		p.AdminURL = &at
	}
}
