package awards

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/resource"
)

const (
	aboutReview = "A review is the assignment of a submission to a reviewer in a round. Reviews of deleted submissions and rounds " +
		"stay. `total_score` is the sum of the points of each " +
		"answer times the weight of its question, to two decimals. For example, a score:\n\n```json\n" +
		`{"question_id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11", "value": 4, "points": 4}` + "\n```"
	aboutRemoval = "Removes a reviewer from the program, or from the round `round_id`: the open reviews of the reviewer are deleted. " +
		"Completed reviews stay, so no average changes. After a 503, the same request removes the rest. For example, the answer:\n\n```json\n" +
		`{"id": "9d1f7f0e-52ab-5f0c-8a8e-6a4f4a7f2b90", "name": "Ada Quay", "email": "ada@example.org", "round_id": null,` +
		` "removed_reviews": 3, "deleted_at": "2027-05-10T09:00:00.000Z"}` + "\n```"
)

var reviewRoutes = append(resource.Of(award.Reviews, routes(resource.Routes{
	Path: program + "/reviews", ID: "reviewId", Parent: programID, One: "AwardReview", Many: "AwardReviews",
	About: aboutReview, ReadOnly: true,
}), (*service).store),
	api.Delete("removeAwardReviewer", program+"/reviewers/{reviewerId}", (*service).removeReviewer, writers,
		writes("reviewerId", aboutRemoval)...),
)

type removalInput struct {
	resource.In
	RoundID string `query:"round_id" format:"uuid" doc:"Only the reviews in this round."`
}

func (s *service) removeReviewer(ctx context.Context, in *removalInput) (*award.Removed, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return award.Records{Store: s.records, Owner: o}.Remove(ctx, in.ID, in.RoundID)
}
