package award

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Submission is an entry of a program. Submitters make it outside the API.
type Submission struct {
	resource.Header
	FriendlyID     string     `json:"friendly_id" example:"AWD-2027-00042" doc:"The number for people, by the organization and the year."`
	ProgramID      string     `json:"program_id" format:"uuid" doc:"The program's id."`
	CategoryID     *string    `json:"category_id" format:"uuid" doc:"The category's id."`
	CurrentRoundID string     `json:"current_round_id" format:"uuid" doc:"The round that the submission is in."`
	Status         string     `json:"status" enum:"draft,pending_payment,submitted,in_review,winner,rejected,withdrawn" doc:"How far the submission is."`
	Submitter      *Submitter `json:"submitter" doc:"The submitter; null for a reviewer in a blind review, and once the person is erased."`
	AverageScore   *Points    `json:"average_score" doc:"The mean total of the completed reviews in the current round, to two decimals; null without any."`
	ReviewCount    int        `json:"review_count" doc:"How many reviews are completed in the current round."`
	WinnerTag      *string    `json:"winner_tag" doc:"The award that the submission won."`
	SubmittedAt    *wire.Time `json:"submitted_at" doc:"When the submission was submitted, with its fee paid."`
	PromoCodeID    *string    `json:"promo_code_id" format:"uuid" doc:"The promo code of the fee."`
	FeeCents       int        `json:"fee_cents" doc:"The fee, in cents of the program's currency."`
	Answers        []Answer   `json:"answers,omitzero" doc:"The answers of the form; absent in a list."`

	// needs tells Admit which rules the edit needs.
	needs needs
}

// Submitter is the person behind a submission.
type Submitter struct {
	Name      string  `json:"name" maxLength:"255" pattern:"\\S" doc:"The name."`
	Email     string  `json:"email" maxLength:"255" format:"email" doc:"The address."`
	ContactID *string `json:"contact_id" format:"uuid" doc:"The contact of the organization, where there is one."`
}

// Answer is an answer of the form of a submission.
type Answer struct {
	FieldID      string `json:"field_id" format:"uuid" doc:"The field's id, the same in all submissions of the program."`
	InternalName string `json:"internal_name" doc:"The field's name in an update."`
	Label        string `json:"label" doc:"The question."`
	Type         string `json:"type" enum:"text,textarea,number,checkbox,date,email,url" doc:"The type of the value."`
	Value        any    `json:"value" doc:"The value by the type: a text, a number, true or false; null without an answer."`
}

// The states of a submission beside those of a program.
const (
	pendingPayment = "pending_payment"
	submitted      = "submitted"
	inReview       = "in_review"
	winner         = "winner"
	rejected       = "rejected"
	withdrawn      = "withdrawn"
)

// SubmissionEdit is a change of a submission: Entry, AnswersDraft, moving or Verdict.
type SubmissionEdit resource.Draft[*Submission]

// Submissions is the kind of the submissions.
var Submissions = &resource.Kind[Submission, *Submission, SubmissionEdit]{
	Name: submissionKind, Title: "Submission", Many: "submissions", Max: maxSubmissions, Bytes: 16 << 10, Parent: inProgram,
	Sums: []string{reviewKind}, Adds: (*Submission).adds, Counts: (*Submission).count,
	Named: (*Submission).named, Admit: admitSubmission, ReadsParent: (*Submission).enters, Serial: (*Submission).number,
	Redact: func(values []change.Value) { redact(values, "submitter", "answers") },
}

// maxSubmissions is how many submissions a program has. A list reads all of them.
const maxSubmissions = 2000

// enters reports whether the edit takes the submission into the program.
func (s *Submission) enters() bool { return s.needs.entry }

// number sets the running number, and returns the counter of the year.
func (s *Submission) number(n int) string {
	if n > 0 {
		s.FriendlyID = fmt.Sprintf("AWD-%04d-%05d", s.CreatedAt.Year(), n)
	}
	return fmt.Sprintf("%s#%04d", submissionKind, s.CreatedAt.Year())
}

// redact takes the values of personal fields out of a change record.
func redact(values []change.Value, personal ...string) {
	for i, v := range values {
		if slices.Contains(personal, v.Field) {
			values[i] = change.Value{Field: v.Field}
		}
	}
}

// redeems reports whether the submission uses its promo code.
func (s *Submission) redeems() bool {
	return s.PromoCodeID != nil && s.Status != StatusDraft && s.Status != withdrawn
}

// adds counts the submission in its round, category and promo code.
func (s *Submission) adds() []resource.Sum {
	sums := []resource.Sum{{Kind: roundKind, Of: s.CurrentRoundID, Name: submissions, By: 1}}
	if s.CategoryID != nil {
		sums = append(sums, resource.Sum{Kind: categoryKind, Of: *s.CategoryID, Name: submissions, By: 1})
	}
	if s.redeems() {
		sums = append(sums, resource.Sum{Kind: promoCodeKind, Of: *s.PromoCodeID, Name: uses, By: 1})
	}
	return sums
}

// Names of the numbers that completed reviews add to a submission, before the id of the round.
const (
	reviewsIn = "reviews:"
	totalIn   = "total:"
)

// count sets the average and the number of the reviews in the current round.
func (s *Submission) count(n map[string]int) {
	s.AverageScore, s.ReviewCount = nil, n[reviewsIn+s.CurrentRoundID]
	if s.ReviewCount > 0 {
		average := Points((2*n[totalIn+s.CurrentRoundID] + s.ReviewCount) / (2 * s.ReviewCount))
		s.AverageScore = &average
	}
}

// Answers are names and values, from an object by name or from the array that a read shows.
type Answers []Answer

// UnmarshalJSON reads the object or the array.
func (a *Answers) UnmarshalJSON(data []byte) error {
	var byName map[string]any
	if json.Unmarshal(data, &byName) != nil {
		return json.Unmarshal(data, (*[]Answer)(a))
	}
	*a = Answers{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		*a = append(*a, Answer{InternalName: name, Value: byName[name]})
	}
	return nil
}

// Schema returns the schema of both forms.
func (Answers) Schema(huma.Registry) *huma.Schema {
	entry := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Required: []string{"internal_name", "value"}}
	entry.Properties = map[string]*huma.Schema{"internal_name": {Type: huma.TypeString}, "value": {}}
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeArray, Items: entry},
	}}
}

// AnswersDraft has the answers of a submission that a client may write.
type AnswersDraft struct {
	Answers wire.Opt[Answers] `json:"answers,omitzero" nullable:"false" doc:"The answers that change, by the internal name of the field. null clears an answer. The array of a read is taken too."`
}

// Apply writes the answers.
func (d AnswersDraft) Apply(e resource.Edit[*Submission]) error {
	s := e.Record
	s.Answers = append([]Answer{}, s.Answers...)
	for i, sent := range d.Answers.Value {
		name := sent.InternalName
		at := indexOf(s.Answers, name)
		switch {
		case at < 0:
			return apierr.FieldNotFound(name)
		case indexOf(d.Answers.Value[:i], name) >= 0:
			return apierr.Invalid(name, "%s is sent twice.", name)
		}
		s.Answers[at].Value = sent.Value
		if err := s.Answers[at].check(name); err != nil {
			return err
		}
	}
	return s.checkForm()
}

// indexOf returns the index of the answer with a name; -1 without.
func indexOf(answers []Answer, name string) int {
	return slices.IndexFunc(answers, func(a Answer) bool { return a.InternalName == name })
}

// maxForm bounds the submitter and the answers together, in bytes of JSON. The rest of a submission, with the longest tag
// of a winner, takes less than 1,300 bytes, so the later steps of a submission have room.
const maxForm = 15_000

// checkForm refuses a submitter and answers that are too long together.
func (s *Submission) checkForm() error {
	if bytesOf(s.Submitter)+bytesOf(s.Answers) > maxForm {
		return apierr.Invalid("answers", "The submitter and the answers together must not be longer than %d bytes of JSON.", maxForm)
	}
	return nil
}

// maxText bounds the text of an answer, in letters.
const maxText = 10_000

// check returns the 400 of an answer of another type, or of a text that is too long.
func (a Answer) check(at string) error {
	if !a.fits() {
		return apierr.TypeMismatch(at, fmt.Sprintf("%s must be of the type %s.", at, a.Type))
	}
	if written, _ := a.Value.(string); utf8.RuneCountInString(written) > maxText {
		return apierr.Invalid(at, "%s must not be longer than %d letters.", at, maxText)
	}
	return nil
}

// fits reports whether the value has the type of the answer.
func (a Answer) fits() bool {
	value, isText := a.Value.(string)
	switch {
	case a.Value == nil:
		return true
	case a.Type == "checkbox":
		_, ok := a.Value.(bool)
		return ok
	case a.Type == "number":
		_, ok := a.Value.(float64)
		return ok
	case !isText:
		return false
	case a.Type == "date":
		_, err := time.Parse(time.DateOnly, value)
		return err == nil
	case a.Type == "email":
		return field.IsEmail(value)
	case a.Type == "url":
		return field.IsAddress(value)
	}
	return true
}

// idOf returns the id that a name has in a program, always the same.
func idOf(program, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(program+" "+name)).String()
}

// named returns the keys of the items that the rules of a change need beside the records of the sums: the round that
// the submission leaves, the promo code and its uses.
func (s *Submission) named(o resource.Owner) (keys []table.Key) {
	if s.needs.left != "" {
		keys = append(keys, o.Key(roundKind, s.needs.left))
	}
	if s.PromoCodeID != nil {
		keys = append(keys, o.Key(promoCodeKind, *s.PromoCodeID), o.SumKey(*s.PromoCodeID, submissionKind))
	}
	return keys
}
