package award

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Review is the assignment of a submission to a reviewer in a round, with the scores. Reviewers score outside the
// API.
type Review struct {
	resource.Header
	ProgramID    string     `json:"program_id" format:"uuid" doc:"The program's id."`
	SubmissionID string     `json:"submission_id" format:"uuid" doc:"The submission's id."`
	RoundID      string     `json:"round_id" format:"uuid" doc:"The round's id."`
	Reviewer     Reviewer   `json:"reviewer" doc:"The reviewer."`
	Status       string     `json:"status" enum:"assigned,in_progress,completed,recused" doc:"How far the review is."`
	TotalScore   *Points    `json:"total_score" doc:"The sum of the points times the weights, to two decimals; null before the first scoring, and after a recusal."`
	Scores       []Score    `json:"scores" nullable:"false" doc:"The answers of the scorecard."`
	Comment      *string    `json:"comment" doc:"The comment, or why the reviewer does not review."`
	SubmittedAt  *wire.Time `json:"submitted_at" doc:"When the review was completed."`

	// unchecked reports that the edit has written the scores or made the review, so that Admit checks both.
	unchecked bool
}

// Reviewer is a person who reviews. The id is the same for the same address in a program.
type Reviewer struct {
	ID    string `json:"id" format:"uuid" doc:"The reviewer's id."`
	Name  string `json:"name" doc:"The name."`
	Email string `json:"email" doc:"The address."`
}

// Score is the answer of a question.
type Score struct {
	QuestionID string  `json:"question_id" format:"uuid" doc:"The question's id."`
	Value      any     `json:"value" doc:"A number, an option, a text, or the address of a file."`
	Points     *Points `json:"points,omitempty" doc:"The points of the value, without the weight."`
}

// The states of a review.
const (
	assigned   = "assigned"
	inProgress = "in_progress"
	completed  = "completed"
	recused    = "recused"
)

// ReviewEdit is a change of a review: assignment, Scoring or Recusal.
type ReviewEdit resource.Draft[*Review]

// Reviews is the kind of the reviews.
var Reviews = &resource.Kind[Review, *Review, ReviewEdit]{
	Name: reviewKind, Title: "Review", Many: "reviews", Max: 3 * 2 * maxSubmissions, Bytes: 16 << 10, Parent: inProgram,
	Unique: (*Review).once, UniqueField: "reviewer", Adds: (*Review).adds, Named: (*Review).named, Admit: admitReview,
	Redact: func(values []change.Value) { redact(values, "reviewer", "comment", "scores") },
}

// once returns the value that refuses a reviewer twice for a submission in a round.
func (r *Review) once() string {
	return strings.Join([]string{r.SubmissionID, r.RoundID, r.Reviewer.ID}, "#")
}

// Open reports whether the reviewer still has to review.
func (r *Review) Open() bool { return r.Status == assigned || r.Status == inProgress }

// adds counts the assignment in the round, and a completed review in the submission.
func (r *Review) adds() []resource.Sum {
	if r.Status == recused {
		return nil
	}
	sums := []resource.Sum{
		{Kind: roundKind, Of: r.RoundID, Name: reviews, By: 1},
		{Kind: roundKind, Of: r.RoundID, Name: reviewerOf + r.Reviewer.ID, By: 1},
	}
	if r.Status == completed {
		total := 0
		if r.TotalScore != nil { // admitReview sets the total.
			total = int(*r.TotalScore)
		}
		sums = append(sums,
			resource.Sum{Kind: submissionKind, Of: r.SubmissionID, Name: reviewsIn + r.RoundID, By: 1},
			resource.Sum{Kind: submissionKind, Of: r.SubmissionID, Name: totalIn + r.RoundID, By: total})
	}
	return sums
}

func (r *Review) named(o resource.Owner) []table.Key {
	return []table.Key{o.Key(roundKind, r.RoundID), o.Key(submissionKind, r.SubmissionID)}
}

// Scoring has all answers of the scorecard, from a reviewer.
type Scoring struct {
	Scores  []Score          `json:"scores" maxItems:"50" nullable:"false"`
	Comment wire.Opt[string] `json:"comment,omitzero" maxLength:"5000"`
	// Complete ends the review; true by default.
	Complete wire.Opt[bool] `json:"complete,omitzero" nullable:"false"`
}

// Apply writes the answers; admitReview checks them.
func (d Scoring) Apply(e resource.Edit[*Review]) error {
	r := e.Record
	if r.Status == recused {
		return apierr.Conflict("REVIEW_RECUSED", "The reviewer does not review this submission.")
	}
	d.Comment.IntoPointer(&r.Comment)
	r.Scores, r.unchecked, r.Status = append([]Score{}, d.Scores...), true, completed
	if d.Complete.Sent && !d.Complete.Value {
		r.Status = inProgress
	}
	return r.checkTexts()
}

// maxTexts bounds the comment and the values of the answers together, in bytes of JSON. The rest of a review with all
// answers of a scorecard takes less than 5,800 bytes. maxLabels bounds the part of it that a reviewer cannot shorten.
const maxTexts = 10_000

// checkTexts refuses texts that are too long together. The error names the longest.
func (r *Review) checkTexts() error {
	most, at := bytesOf(r.Comment), "comment"
	total := most
	for i, s := range r.Scores {
		n := bytesOf(s.Value)
		if total += n; n > most {
			most, at = n, fmt.Sprintf("scores[%d].value", i)
		}
	}
	if total > maxTexts {
		return apierr.Invalid(at, "The comment and the answers of a review together must not be longer than %d bytes of JSON.", maxTexts)
	}
	return nil
}

// bytesOf returns the length of the JSON of a value from JSON.
func bytesOf(value any) int {
	data, _ := wire.Encode(value)
	return len(data)
}

// codeEnded is the code of a change of a review that has ended.
const codeEnded = "REVIEW_ENDED"

// ended returns the 409 of a change of a review that has ended.
func ended(r *Review) error {
	return apierr.Conflict(codeEnded, "The review is "+r.Status+" already.")
}

// Recusal is why a reviewer does not review a submission.
type Recusal struct {
	Reason string `json:"reason" maxLength:"5000" pattern:"\\S"`
}

// Apply ends the assignment.
func (d Recusal) Apply(e resource.Edit[*Review]) error {
	r := e.Record
	if !r.Open() {
		return ended(r)
	}
	r.Status, r.Comment, r.Scores, r.TotalScore = recused, &d.Reason, []Score{}, nil
	return nil
}

// admitReview applies the rules that need other records: the submission is there, the round is active, the reviewer
// is not the submitter, and the answers fit the scorecard. A restored review counts its reviewer again.
func admitReview(a resource.Admission[*Review]) error {
	r := a.Record
	switch {
	case a.Verb == record.Restored:
		return r.checkNumber(a)
	case !r.unchecked:
		return nil
	}
	round, err := roundIn(a.Found, a.Key(roundKind, r.RoundID))
	if err == nil {
		err = round.mustBeActive(a.Now)
	}
	if err != nil {
		return err
	}
	stored, found := a.Found[a.Key(submissionKind, r.SubmissionID)]
	if !found {
		return apierr.NotFound("Submission")
	}
	s, err := record.Decode[Submission](stored)
	if err == nil && s.Status != submitted && s.Status != inReview {
		err = cannot(s.Status, "reviewed")
	}
	if err != nil {
		return err
	}
	if a.Verb == record.Created {
		return r.checkReviewer(a, s)
	}
	if r.SubmittedAt = nil; r.Status == completed {
		at := wire.At(a.Now)
		r.SubmittedAt = &at
	}
	return r.score(round)
}

// maxReviewers is how many reviewers a round has. The number of their assignments is in one item.
const maxReviewers = 200

// checkReviewer refuses the submitter as a reviewer, and a reviewer too many in the round.
func (r *Review) checkReviewer(a resource.Admission[*Review], s *Submission) error {
	if s.Submitter != nil && strings.EqualFold(s.Submitter.Email, r.Reviewer.Email) {
		return apierr.Conflict("CONFLICT_OF_INTEREST", "The reviewer is the submitter.").Field("reviewer.email")
	}
	return r.checkNumber(a)
}

// checkNumber refuses a reviewer too many in the round. A recused review counts for no reviewer.
func (r *Review) checkNumber(a resource.Admission[*Review]) error {
	numbers, err := resource.DecodeNumbers(a.Found[a.SumKey(r.RoundID, reviewKind)])
	if n := reviewersIn(numbers); err == nil && r.Status != recused && n >= maxReviewers && numbers[reviewerOf+r.Reviewer.ID] == 0 {
		err = apierr.TooMany("reviewers of the round", n, maxReviewers, "Remove a reviewer first.")
	}
	return err
}

// score checks the answers by the scorecard and sets the points and the total. A completed review answers every
// question that gives points.
func (r *Review) score(round *Round) error {
	total, answered := int64(0), map[string]bool{}
	for i := range r.Scores {
		s, at := &r.Scores[i], fmt.Sprintf("scores[%d]", i)
		q := slices.IndexFunc(round.Scorecard, func(q Question) bool { return q.ID == s.QuestionID && q.Type != separator })
		switch {
		case q < 0:
			return apierr.Invalid(at+".question_id", "The scorecard of the round has no such question.")
		case answered[s.QuestionID]:
			return apierr.Invalid(at+".question_id", "The question is answered twice.")
		}
		answered[s.QuestionID] = true
		points, ok := round.Scorecard[q].points(s.Value)
		if !ok {
			return apierr.TypeMismatch(at+".value", at+".value is no answer of the type "+round.Scorecard[q].Type+".")
		}
		if s.Points = nil; round.Scorecard[q].scored() {
			s.Points = &points
			total += int64(points) * int64(*round.Scorecard[q].Weight)
		}
	}
	for _, q := range round.Scorecard {
		if r.Status == completed && q.scored() && !answered[q.ID] {
			return apierr.Invalid("scores", "The question %q is not answered.", q.Question)
		}
	}
	sum := Points((total + 50) / 100)
	r.TotalScore = &sum
	return nil
}

// points returns the points of an answer, and reports whether the answer fits the question. A number is rounded to two
// decimals before it is compared with the bounds.
func (q Question) points(value any) (Points, bool) {
	written, isText := value.(string)
	number, isNumber := value.(float64)
	switch q.Type {
	case text:
		return 0, isText
	case file:
		return 0, isText && field.IsAddress(written)
	case dropdown:
		i := slices.IndexFunc(q.Options, func(o Option) bool { return isText && o.Label == written })
		if i < 0 {
			return 0, false
		}
		return q.Options[i].Points, true
	}
	points, whole := Points(math.Round(number*100)), q.Type == numeric || number == math.Trunc(number)
	return points, isNumber && whole && *q.Min <= points && points <= *q.Max
}
