package award

import (
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Round is a stage of a program in which submissions are taken or reviewed.
type Round struct {
	resource.Header
	ProgramID       string     `json:"program_id" format:"uuid" doc:"The program's id."`
	Name            string     `json:"name" doc:"The round's name."`
	Type            string     `json:"type" enum:"submission_review,review_only" doc:"The purpose of the round, for clients: a new submission is in the round that was made with the program, whatever the types. It cannot change."`
	IsDefault       bool       `json:"is_default" doc:"Whether the round was made with the program; it cannot be deleted."`
	Status          string     `json:"status" enum:"upcoming,active,closed" doc:"The state of the round by its times."`
	OpensAt         *wire.Time `json:"opens_at" doc:"When the round becomes active; null for at once."`
	ClosesAt        *wire.Time `json:"closes_at" doc:"When the round closes; null for never."`
	Instructions    *string    `json:"instructions" doc:"The text that reviewers read first."`
	Order           int        `json:"order" doc:"The place among the rounds of the program."`
	Scorecard       []Question `json:"scorecard" nullable:"false" doc:"The questions that reviewers answer."`
	ReviewerCount   int        `json:"reviewer_count" doc:"How many reviewers have assignments in the round."`
	SubmissionCount int        `json:"submission_count" doc:"How many submissions are in the round now."`
}

// The types and the states of a round.
const (
	submissionReview = "submission_review"

	upcoming = "upcoming"
	active   = "active"
	closed   = "closed"
)

// RoundDraft has the properties of a round that a client may write.
type RoundDraft struct {
	Name         wire.Opt[string]     `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The round's name."`
	Type         wire.Opt[string]     `json:"type,omitzero" create:"required" enum:"submission_review,review_only" nullable:"false" doc:"The purpose of the round, for clients: a new submission is in the round that was made with the program, whatever the types."`
	OpensAt      wire.Opt[wire.Time]  `json:"opens_at,omitzero" doc:"When the round becomes active."`
	ClosesAt     wire.Opt[wire.Time]  `json:"closes_at,omitzero" doc:"When the round closes, after opens_at."`
	Instructions wire.Opt[string]     `json:"instructions,omitzero" maxLength:"5000" doc:"The text that reviewers read first."`
	Order        wire.Opt[int]        `json:"order,omitzero" minimum:"1" maximum:"100000" nullable:"false" doc:"The place in lists; the last by default."`
	Scorecard    wire.Opt[[]Question] `json:"scorecard,omitzero" maxItems:"50" nullable:"false" doc:"The questions, replaced as a whole. A question with the id of a stored one keeps it."`

	isDefault bool
}

// Names of the numbers that reviews add to a round.
const (
	reviews    = "reviews"
	reviewerOf = "reviewer:"
)

// Rounds is the kind of the rounds.
var Rounds = &resource.Kind[Round, *Round, RoundDraft]{
	Name: roundKind, Title: "Award round", Many: "award rounds", Max: 50, Parent: inProgram,
	Sums: []string{submissionKind, reviewKind}, Counts: (*Round).count,
	Order: func(r *Round) *int { return &r.Order },
	Admit: admitRound, MayDelete: keepReviews,
	Show: func(r *Round, s resource.Store, _ resource.Owner) { r.Status = r.at(s.Now()) },
}

// Apply writes the draft into the round.
func (d RoundDraft) Apply(e resource.Edit[*Round]) error {
	r := e.Record
	if e.New {
		r.ProgramID, r.Type, r.IsDefault, r.Scorecard = e.Parent, d.Type.Value, d.isDefault, []Question{}
	}
	if d.Type.Sent && d.Type.Value != r.Type {
		return apierr.Invalid("type", "type of a round cannot change; it is %q.", r.Type)
	}
	d.Name.Into(&r.Name)
	d.OpensAt.IntoPointer(&r.OpensAt)
	d.ClosesAt.IntoPointer(&r.ClosesAt)
	d.Instructions.IntoPointer(&r.Instructions)
	d.Order.Into(&r.Order)
	if d.Scorecard.Sent {
		scorecard, err := scorecardOf(d.Scorecard.Value)
		if err != nil {
			return err
		}
		r.Scorecard = scorecard
	}
	return checkPeriod("opens_at", "closes_at", r.OpensAt, r.ClosesAt, d.ClosesAt.Sent)
}

// at returns the state of the round at a time.
func (r *Round) at(now time.Time) string {
	switch {
	case r.OpensAt != nil && now.Before(r.OpensAt.Time):
		return upcoming
	case r.ClosesAt != nil && !now.Before(r.ClosesAt.Time):
		return closed
	}
	return active
}

// mustBeActive returns the 409 of a round that takes nothing at the time.
func (r *Round) mustBeActive(now time.Time) error {
	if state := r.at(now); state != active {
		return apierr.Conflict("ROUND_NOT_ACTIVE", "The round is "+state+".").With("round_id", r.ID)
	}
	return nil
}

func (r *Round) count(n map[string]int) {
	r.SubmissionCount, r.ReviewerCount = n[submissions], reviewersIn(n)
}

// reviewersIn returns how many reviewers the numbers of a round name.
func reviewersIn(n map[string]int) (count int) {
	for name := range n {
		if strings.HasPrefix(name, reviewerOf) {
			count++
		}
	}
	return count
}

// admitRound refuses to delete the default round.
func admitRound(a resource.Admission[*Round]) error {
	if a.Verb == record.Deleted && a.Record.IsDefault {
		return apierr.Unprocessable("DEFAULT_ROUND", "The round that was made with the program cannot be deleted.")
	}
	return nil
}

// keepReviews refuses to delete a round with assignments of reviewers without force.
func keepReviews(d resource.Deletion[*Round]) error {
	return confirm("has_reviewer_assignments", d.Children[reviews], "The round has %d assignments of reviewers.")
}
