package awards_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestADraftMovesToAnotherCategoryAndCode: each counts as long as the submission names it.
func TestADraftMovesToAnotherCategoryAndCode(t *testing.T) {
	h := startHouse(t, object{"payment": object{"collect": "on_submission", "base_fee_cents": 1000}})
	var categories, codes []string
	for _, code := range []string{"FIRST", "SECOND"} {
		categories = append(categories, h.make("/categories", object{"name": code}).ID())
		codes = append(codes, h.make("/promo-codes", object{"code": code, "discount_type": "flat", "amount": 400}).ID())
	}
	counts := func() (all []any) {
		for i := range categories {
			all = append(all, h.get("/categories/" + categories[i])["submission_count"], h.get("/promo-codes/" + codes[i])["used_count"])
		}
		return all
	}
	draft := h.submit("ada", object{"status": "draft", "category_id": categories[0], "promo_code": "first"})
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0}, counts(), "a draft uses no code")
	of := func(more object) entity {
		return h.command("", "award-submit", it.Merged(object{"submission_id": draft.ID(), "status": "draft"}, more))
	}
	moved := of(object{"category_id": categories[1], "promo_code": "second"})
	require.Equal(t, []any{categories[1], codes[1], 600.0}, []any{moved["category_id"], moved["promo_code_id"], moved["fee_cents"]})
	require.Equal(t, []any{0.0, 0.0, 1.0, 0.0}, counts())
	require.Equal(t, []any{nil, 600.0}, []any{of(object{"category_id": nil})["category_id"], moved["fee_cents"]})
	require.Equal(t, []any{0.0, 0.0, 0.0, 0.0}, counts())
	h.command("", "award-submit", object{"submission_id": draft.ID(), "category_id": categories[0], "paid": true})
	require.Equal(t, []any{1.0, 0.0, 0.0, 1.0}, counts())
	h.command("", "award-submit", object{"submission_id": draft.ID(), "status": "withdrawn"})
	require.Equal(t, []any{1.0, 0.0, 0.0, 0.0}, counts(), "a withdrawn submission uses no code")
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestARestoredReview is open again, and counts its reviewer.
func TestARestoredReview(t *testing.T) {
	h := startHouse(t, nil)
	review := h.assign("", h.submit("ada").ID(), h.round, "grace")
	reviewer := "/reviewers/" + review.At("reviewer.id").(string)
	require.Equal(t, 1.0, h.do(200, http.MethodDelete, reviewer, nil)["removed_reviews"])
	require.Zero(t, h.get("/rounds/" + h.round)["reviewer_count"])
	h.command("", "award-restore", object{"kind": "review", "id": review.ID()})
	require.Equal(t, "assigned", h.get("/reviews/" + review.ID())["status"])
	require.Equal(t, 1.0, h.get("/rounds/" + h.round)["reviewer_count"])
	h.command("NOT_FOUND", "award-restore", object{"kind": "review", "id": review.ID()})

	h.do(200, http.MethodDelete, reviewer, nil)
	h.assign("", review.Text("submission_id"), h.round, "grace")
	h.command("DUPLICATE_REVIEWER", "award-restore", object{"kind": "review", "id": review.ID()})
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestADeletionWithNewSubcategories at one time: no category is left below a deleted one, and a repetition deletes all.
func TestADeletionWithNewSubcategories(t *testing.T) {
	h := startHouse(t, nil)
	for range it.Size(3, 30) {
		top, middle, low := tree(h)
		statuses := make([]int, writers)
		it.Concurrently(writers, func(i int) {
			method, path, body := http.MethodPost, "/categories/"+[]string{top, middle}[i%2]+"/subcategories", any(object{"name": "New"})
			if i < 2 {
				method, path, body = http.MethodDelete, "/categories/"+top+"?force=true&cascade=true", nil
			}
			answer, err := h.Send(t, method, h.program+path, body)
			if statuses[i] = answer.Status; err != nil {
				t.Error(err)
			}
		})
		for _, status := range statuses {
			require.Contains(t, []int{200, 404, 409, 503}, status)
		}
		it.EngineOf(t, h.Stack).RequireWhole(t)
		answer := h.TrySend(t, http.MethodDelete, h.program+"/categories/"+top+"?force=true&cascade=true", nil)
		require.Contains(t, []int{200, 404}, answer.Status)
		for key := range it.EngineOf(t, h.Stack).Dump(t).Below(h.owner().Partition()) {
			require.NotContains(t, key.SK, h.owner().Key("award_category", "").SK, "a category is left below a deleted one")
		}
		h.do(404, http.MethodGet, "/categories/"+middle, nil)
		h.do(404, http.MethodGet, "/categories/"+low, nil)
	}
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestARemovalWithScores at one time: a review is completed and counts, or it is deleted.
func TestARemovalWithScores(t *testing.T) {
	h := startHouse(t, nil)
	q := h.scorecard(h.round, object{"question": "How?", "type": "scale_10"})
	for range it.Size(3, 30) {
		var reviews []entity
		for range writers - 2 {
			reviews = append(reviews, h.assign("", h.submit("ada").ID(), h.round, "grace"))
		}
		removals := make([]stacktest.Answer, 2)
		it.Concurrently(writers, func(i int) {
			if i >= 2 {
				_, _ = h.try("award-review", object{"review_id": reviews[i-2].ID(), "scores": []any{object{"question_id": q[0], "value": 7}}})
				return
			}
			answer, err := h.Send(t, http.MethodDelete, h.program+"/reviewers/"+reviews[0].At("reviewer.id").(string), nil)
			if removals[i] = answer; err != nil {
				t.Error(err)
			}
		})
		removed, completed := 0.0, 0
		for _, answer := range removals {
			if answer.Status == 200 {
				removed += answer.JSON(t)["removed_reviews"].(float64)
			}
		}
		for _, r := range reviews {
			shown := h.TrySend(t, http.MethodGet, h.program+"/reviews/"+r.ID(), nil)
			want := []any{nil, 0.0}
			if shown.Status == 200 {
				require.Equal(t, []any{"completed", 7.0}, []any{shown.JSON(t)["status"], shown.JSON(t)["total_score"]})
				want, completed = []any{7.0, 1.0}, completed+1
			}
			submission := h.get("/submissions/" + r.Text("submission_id"))
			require.Equal(t, want, []any{submission["average_score"], submission["review_count"]})
		}
		require.EqualValues(t, len(reviews), removed+float64(completed))
	}
	it.EngineOf(t, h.Stack).RequireWhole(t)
}
