package awards

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	submissions = program + "/submissions"
	submission  = submissions + "/{submissionId}"
)

const (
	aboutSubmissions = "Lists the submissions of the program in the order of their creation, without their answers. " +
		"The filters are combined: a submission of the list has the status, is in the category itself and is in the round."
	aboutSubmission = "A submission with the answers of its form. Submitters make submissions, and reviewers score them, outside the API. " +
		"`average_score` and `review_count` are those of the current round. For example, an answer:\n\n```json\n" +
		`{"field_id": "5f0c6a52-6a3e-5a52-9f5e-0d6a3f0f3c11", "internal_name": "team_size", "label": "Team size", "type": "number", "value": 4}` +
		"\n```"
	aboutAnswers = "Changes the answers that are sent, by the internal name of the field; the others stay. A name that the form does not " +
		"have is a 400 `FIELD_NOT_FOUND`, a value of another type a 400 `TYPE_MISMATCH`. A name that is sent twice is a 400, and so are " +
		"a submitter and answers of more than 15,000 bytes of JSON together. A stale `updated_at` or `If-Match` is a 409. " +
		"For example:\n\n" +
		"```json\n" + `{"answers": {"team_size": 5, "pitch": null}}` + "\n```"
	aboutDeletion = "Answers the submission with `deleted_at`. Afterwards it is not found, and counts nowhere. Its reviews stay."
)

var submissionRoutes = []api.Route[service]{
	api.Get("listAwardSubmissions", submissions, (*service).listSubmissions, readers, below("", aboutSubmissions)...),
	api.Get("getAwardSubmission", submission, (*service).getSubmission, readers, below("submissionId", aboutSubmission)...),
	api.Put("updateAwardSubmission", submission, (*service).answer, writers, writes("submissionId", aboutAnswers)...),
	api.Patch("patchAwardSubmission", submission, (*service).answer, writers, writes("submissionId", aboutAnswers)...),
	api.Delete("deleteAwardSubmission", submission, (*service).deleteSubmission, writers, writes("submissionId", aboutDeletion)...),
}

// below returns the options of a route below a program. id is the path's name of the record's id.
func below(id, about string) []api.Option {
	return []api.Option{api.InPath("parentId", programID), api.InPath("id", id), api.Describe(about)}
}

// writes returns the options of a route that changes a record below a program.
func writes(id, about string) []api.Option {
	return append(below(id, about), api.Limit(ratelimit.AwardWrites))
}

type submissionsInput struct {
	resource.At
	page.Query
	Status     string `query:"status" enum:"draft,pending_payment,submitted,in_review,winner,rejected,withdrawn" doc:"Only submissions with the status."`
	CategoryID string `query:"category_id" format:"uuid" doc:"Only submissions in the category."`
	RoundID    string `query:"current_round_id" format:"uuid" doc:"Only submissions in the round."`
}

// keeps reports whether the filters keep a submission.
func (in *submissionsInput) keeps(s *award.Submission) bool {
	return (in.Status == "" || s.Status == in.Status) && (in.RoundID == "" || s.CurrentRoundID == in.RoundID) &&
		(in.CategoryID == "" || s.CategoryID != nil && *s.CategoryID == in.CategoryID)
}

func (s *service) listSubmissions(ctx context.Context, in *submissionsInput) (*page.Of[*award.Submission], error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	found, err := award.Submissions.Of(s.records, o).Page(ctx, in.Query, in.keeps)
	if err != nil {
		return nil, err
	}
	for _, one := range found.Results {
		one.Answers = nil
	}
	return found, nil
}

type oneInput struct{ resource.In }

func (s *service) getSubmission(ctx context.Context, in *oneInput) (*award.Submission, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return award.Submissions.Of(s.records, o).Get(ctx, in.ID)
}

type answersInput struct {
	resource.In
	api.Revision
	Body wire.Update[award.AnswersDraft]
}

// answer changes answers of a submission.
func (s *service) answer(ctx context.Context, in *answersInput) (*award.Submission, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	edit := award.SubmissionEdit(in.Body.Draft)
	return award.Submissions.Of(s.records, o).Change(ctx, in.ID, resource.Change[award.SubmissionEdit]{
		Verb: record.Updated, Draft: &edit, Guard: write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch},
	})
}

type deleteInput struct {
	resource.In
	api.Revision
}

func (s *service) deleteSubmission(ctx context.Context, in *deleteInput) (*award.Submission, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	change := resource.Change[award.SubmissionEdit]{Verb: record.Deleted, Guard: write.Guard{IfMatch: in.IfMatch}}
	return award.Submissions.Of(s.records, o).Change(ctx, in.ID, change)
}
