package awards_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/apierr"
	"lectern/shared/award"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// questions is a scorecard with every type of question.
var questions = []object{
	{"question": "How new?", "type": "scale_5", "weight": 2}, {"question": "How well?", "type": "scale_10", "weight": 0.33},
	{"question": "How many users?", "type": "numeric", "min": 0, "max": 7.5}, {"question": "Medal?", "type": "dropdown", "options": []any{
		object{"label": "Gold", "points": 3.5}, object{"label": "None", "points": 0},
	}},
	{"question": "The rest", "type": "separator"}, {"question": "Why?", "type": "text"}, {"question": "Show us", "type": "file"},
	{"question": "Short?", "type": "scale_3", "weight": 0},
}

// TestAReviewIsScored by the types and weights of the scorecard, with a total of two decimals.
func TestAReviewIsScored(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	q := h.scorecard(h.round, questions...)
	card := h.get("/rounds/" + h.round).List("scorecard")
	require.Equal(t, []any{1.0, 5.0, 2.0}, []any{card[0]["min"], card[0]["max"], card[0]["weight"]})
	require.Equal(t, []any{0.0, 7.5, 1.0, 0.33}, []any{card[2]["min"], card[2]["max"], card[2]["weight"], card[1]["weight"]})
	require.NotContains(t, card[5], "weight")
	submission := h.submit("ada").ID()
	review := h.assign("", submission, h.round, "grace")
	require.Equal(t, []any{"assigned", nil, []any{}}, []any{review["status"], review["total_score"], review["scores"]})
	require.Equal(t, "in_review", review.At("submission.status"))
	id := review.ID()
	all := []any{q[0], 4, q[1], 7, q[2], 1.25, q[3], "Gold", q[5], "Because.", q[6], "https://example.org/a.png", q[7], 3}
	for i, wrong := range map[int]any{0: 6, 2: 7.5, 4: 7.51, 6: "Silver", 10: "a.png", 8: 7, 12: 0} {
		scores := append([]any{}, all...)
		scores[i+1] = wrong
		h.score("TYPE_MISMATCH", id, scores...)
	}
	for _, scores := range [][]any{{q[4], "x"}, {uuid.NewString(), 1}, {q[0], 1, q[0], 2}} {
		require.Regexp(t, `^scores\[\d]\.question_id$`, h.score("VALIDATION_ERROR", id, scores...)["field"])
	}
	require.Equal(t, "scores", h.score("VALIDATION_ERROR", id, all[:6]...)["field"])
	require.Equal(t, review["updated_at"], h.get("/reviews/" + id)["updated_at"], "a refused review writes nothing")
	begun := h.command("", "award-review", object{"review_id": id, "complete": false, "scores": []any{object{"question_id": q[0], "value": 3}}})
	require.Equal(t, []any{"in_progress", 6.0, nil}, []any{begun["status"], begun["total_score"], begun["submitted_at"]})
	require.Nil(t, h.get("/submissions/" + submission)["average_score"])
	scored := h.score("", id, all...)
	require.Equal(t, []any{"completed", 15.06}, []any{scored["status"], scored["total_score"]}, "4*2 + 7*0.33 + 1.25 + 3.5")
	require.Equal(t, []any{4.0, 7.0, 1.25, 3.5, nil, nil, 3.0}, it.Column(scored.List("scores"), "points"))
	shown := h.get("/reviews/" + id)
	require.Equal(t, "comment created_at id program_id reviewer round_id scores status submission_id submitted_at total_score updated_at", it.KeysOf(shown))
	require.Equal(t, []entity{shown}, h.list("/reviews"))
	require.Equal(t, []any{15.06, 1.0}, []any{h.get("/submissions/" + submission)["average_score"], h.list("/submissions")[0]["review_count"]})
	h.score("", id, append([]any{q[0], 1}, all[2:]...)...)
	require.Equal(t, 9.06, h.get("/submissions/" + submission)["average_score"], "a completed review can be scored again while the round is active")
	second := h.assign("", submission, h.round, "rita").ID()
	h.score("", second, append([]any{q[0], 2}, all[2:]...)...)
	third := h.assign("", submission, h.round, "vera").ID()
	h.score("", third, append([]any{q[0], 3, q[1], 1}, all[4:]...)...)
	require.Equal(t, []any{10.4, 3.0}, []any{h.get("/submissions/" + submission)["average_score"], h.get("/submissions/" + submission)["review_count"]},
		"the mean of 9.06, 11.06 and 11.08")
}

func TestTheRulesOfAReview(t *testing.T) {
	h := startHouse(t, nil)
	q := h.scorecard(h.round, object{"question": "How new?", "type": "scale_5"})
	finals := h.make("/rounds", object{"name": "Finals", "type": "review_only", "opens_at": "2096-01-01T00:00:00Z"})
	require.Equal(t, "upcoming", finals["status"])
	submission := h.submit("ada").ID()
	conflict := object{"submission_id": submission, "round_id": h.round, "reviewer": object{"name": "Ada", "email": " ADA@example.org "}}
	require.Equal(t, "reviewer.email", h.command("CONFLICT_OF_INTEREST", "award-assign", conflict)["field"])
	require.Equal(t, "submitted", h.get("/submissions/" + submission)["status"], "a refused assignment moves nothing")
	wrong := it.Merged(conflict, object{"reviewer": object{"name": "Ada", "email": "x"}})
	require.Equal(t, "reviewer.email", h.command("VALIDATION_ERROR", "award-assign", wrong)["field"])
	h.command("SUBMISSION_STATUS", "award-winner", object{"submission_id": submission, "outcome": "in_review"})
	h.assign("ROUND_NOT_ACTIVE", submission, finals.ID(), "grace")
	h.assign("NOT_FOUND", submission, uuid.NewString(), "grace")
	h.assign("NOT_FOUND", uuid.NewString(), h.round, "grace")
	h.assign("SUBMISSION_STATUS", h.submit("draft", object{"status": "draft"}).ID(), h.round, "grace")
	review := h.assign("", submission, h.round, "grace")
	h.command("DUPLICATE_REVIEWER", "award-assign", it.Merged(conflict, object{"reviewer": object{"name": "G", "email": "GRACE@jury.example"}}))
	h.do(200, http.MethodPut, "/rounds/"+finals.ID(), object{"opens_at": nil})
	later := h.assign("", submission, finals.ID(), "grace")
	require.Equal(t, review.At("reviewer.id"), later.At("reviewer.id"))
	require.Equal(t, finals.ID(), h.get("/submissions/" + submission)["current_round_id"])
	h.assign("ROUND_PASSED", submission, h.round, "rita")
	h.score("", review.ID(), q[0], 5)
	require.Nil(t, h.get("/submissions/" + submission)["average_score"], "the average is that of the current round")

	recusal := object{"review_id": later.ID(), "reason": "We are friends."}
	require.Equal(t, "reason", h.command("VALIDATION_ERROR", "award-recuse", it.Merged(recusal, object{"reason": " "}))["field"])
	require.Equal(t, []any{"recused", "We are friends."}, func() []any { r := h.command("", "award-recuse", recusal); return []any{r["status"], r["comment"]} }())
	h.command("REVIEW_ENDED", "award-recuse", recusal)
	h.score("REVIEW_RECUSED", later.ID())
	h.command("REVIEW_ENDED", "award-recuse", it.Merged(recusal, object{"review_id": review.ID()}))
	require.Equal(t, []any{0.0, 1.0}, []any{h.get("/rounds/" + finals.ID())["reviewer_count"], h.get("/rounds/" + h.round)["reviewer_count"]})

	h.do(200, http.MethodPut, "/rounds/"+h.round, object{"closes_at": "2020-01-01T00:00:00Z"})
	h.score("ROUND_NOT_ACTIVE", review.ID(), q[0], 4)
	require.Equal(t, "winner_tag", h.command("VALIDATION_ERROR", "award-winner", object{"submission_id": submission, "outcome": "winner"})["field"])
	won := h.command("", "award-winner", object{"submission_id": submission, "outcome": "winner", "winner_tag": "Gold"})
	require.Equal(t, []any{"winner", "Gold"}, []any{won["status"], won["winner_tag"]})
	h.assign("SUBMISSION_STATUS", submission, finals.ID(), "vera")
	back := h.command("", "award-winner", object{"submission_id": submission, "outcome": "in_review"})
	require.Equal(t, []any{"in_review", nil}, []any{back["status"], back["winner_tag"]})
	h.do(400, http.MethodPut, "/rounds/"+finals.ID(), object{"type": "submission_review"})
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestABlindReviewHidesTheSubmitter from the reviewer, and from nobody else.
func TestABlindReviewHidesTheSubmitter(t *testing.T) {
	h := startHouse(t, object{"blind_review": true})
	submission := h.submit("ada").ID()
	review := h.assign("", submission, h.round, "grace")
	recused := h.assign("", submission, h.round, "vera").ID()
	for _, seen := range []entity{
		review, h.score("", review.ID()), h.command("", "award-recuse", object{"review_id": recused, "reason": "We are friends."}),
	} {
		require.Contains(t, seen["submission"], "submitter")
		require.Nil(t, seen.At("submission.submitter"))
	}
	require.Equal(t, "ada", h.get("/submissions/"+submission).At("submitter.name"))
	h.do(200, http.MethodPut, "", object{"blind_review": false})
	require.Equal(t, "ada", h.assign("", submission, h.round, "rita").At("submission.submitter.name"))
}

// TestAReviewerIsRemoved with the open reviews; what is completed stays.
func TestAReviewerIsRemoved(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	finals := h.make("/rounds", object{"name": "Finals", "type": "review_only"}).ID()
	first, second := h.submit("ada").ID(), h.submit("joan").ID()
	done := h.assign("", first, h.round, "grace")
	h.score("", done.ID())
	h.assign("", second, h.round, "grace")
	h.assign("", first, finals, "grace")
	h.assign("", first, finals, "rita")
	path := "/reviewers/" + done.At("reviewer.id").(string)
	it.RequireError(t, h.do(400, http.MethodDelete, path+"?round_id=x", nil), "VALIDATION_ERROR", "round_id")
	it.RequireError(t, h.do(400, http.MethodDelete, "/reviewers/x", nil), "VALIDATION_ERROR", "reviewerId")
	h.do(404, http.MethodDelete, path+"?round_id="+uuid.NewString(), nil)
	removed := h.do(200, http.MethodDelete, path+"?round_id="+finals, nil)
	require.Equal(t, []any{"grace", finals, 1.0}, []any{removed["name"], removed["round_id"], removed["removed_reviews"]})
	require.NotEmpty(t, removed["deleted_at"])
	require.Equal(t, 1.0, h.get("/rounds/" + finals)["reviewer_count"])
	again := h.do(200, http.MethodDelete, path+"?round_id="+finals, nil)
	require.Equal(t, it.Merged(removed, object{"removed_reviews": 0.0, "deleted_at": again["deleted_at"]}), object(again), "a repetition after a lost answer")
	require.Equal(t, 1.0, h.do(200, http.MethodDelete, path, nil)["removed_reviews"])
	require.Equal(t, 0.0, h.do(200, http.MethodDelete, path, nil)["removed_reviews"])
	require.Len(t, h.list("/reviews"), 2)
	h.confirm("/rounds/"+finals, "?force=true", "has_reviewer_assignments", 1)
	h.do(404, http.MethodGet, "/rounds/"+finals, nil)
	h.command("", "award-restore", object{"kind": "round", "id": finals})
	require.Equal(t, 1.0, h.get("/rounds/" + finals)["reviewer_count"])
}

// TestARemovalWithoutTime removes nothing more, and a repetition removes the rest. Nothing is left for completed reviews.
func TestARemovalWithoutTime(t *testing.T) {
	h := startHouse(t, nil)
	var review entity
	for _, name := range []string{"ada", "joan", "hedy"} {
		review = h.assign("", h.submit(name).ID(), h.round, "grace")
	}
	h.score("", review.ID())
	id, late := review.At("reviewer.id").(string), &atomic.Bool{}
	store := resource.NewStore(h.Env(t))
	begun := 0
	store.Now = func() time.Time {
		if begun++; begun > 1 { // The first call is of the removal, the next of the first review.
			late.Store(true)
		}
		return time.Now()
	}
	of, ctx := award.Records{Store: store, Owner: h.owner()}, it.Ending{Context: t.Context(), Late: late}
	for _, left := range []int{2, 2} {
		_, err := of.Remove(ctx, id, "")
		refusal := &apierr.Error{}
		require.True(t, errors.As(err, &refusal) && refusal.Status == http.StatusServiceUnavailable, "%v", err)
		require.Len(t, h.list("/reviews"), left)
	}
	require.Equal(t, 1.0, h.do(200, http.MethodDelete, "/reviewers/"+id, nil)["removed_reviews"])
	removed, err := of.Remove(ctx, id, "")
	require.NoError(t, err, "a completed review needs no time")
	require.Zero(t, removed.Reviews)
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestARemovalBesideDamagedReviews passes over deleted reviews that cannot be read, and ends with its time.
func TestARemovalBesideDamagedReviews(t *testing.T) {
	h := startHouse(t, nil)
	for _, data := range []string{"{", `{"_":`} {
		item := table.Item{Key: h.owner().DeletedKey("award_review", uuid.NewString()), Version: 1, Data: []byte(data)}
		require.NoError(t, h.Table(t).Transact(t.Context(), table.Insert(item)))
	}
	unknown := uuid.NewString()
	require.Equal(t, "Reviewer not found", h.do(404, http.MethodDelete, "/reviewers/"+unknown, nil)["message"])
	late := &atomic.Bool{}
	late.Store(true)
	_, err := award.Records{Store: resource.NewStore(h.Env(t)), Owner: h.owner()}.Remove(it.Ending{Context: t.Context(), Late: late}, unknown, "")
	refusal := &apierr.Error{}
	require.True(t, errors.As(err, &refusal) && refusal.Status == http.StatusServiceUnavailable, "%v", err)
}

// TestASecondReviewer leaves a submission that is in the round as it is.
func TestASecondReviewer(t *testing.T) {
	h := startHouse(t, nil)
	submission := h.submit("ada").ID()
	h.assign("", submission, h.round, "grace")
	before := h.get("/submissions/" + submission)["updated_at"]
	seen := h.assign("", submission, h.round, "rita")
	require.Equal(t, []any{before, "in_review"}, []any{h.get("/submissions/" + submission)["updated_at"], seen.At("submission.status")})
	h.assign("NOT_FOUND", uuid.NewString(), h.round, "vera")
	it.EngineOf(t, h.Stack).RequireWhole(t)
}
