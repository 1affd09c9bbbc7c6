package awards_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestTheStoryOfAProgram: from its creation to the winner, with three reviewers, two rounds, a promo code, a recusal
// and a deletion with force.
func TestTheStoryOfAProgram(t *testing.T) {
	stacktest.Everywhere(t)
	c := &it.Client{Stack: stacktest.Start(t), T: t}
	h := newHouse(c, object{"status": "draft", "blind_review": true, "payment": object{"collect": "on_submission", "base_fee_cents": 9500}})
	games := h.make("/categories", object{"name": "Games"}).ID()
	puzzles := h.make("/categories/"+games+"/subcategories", object{"name": "Puzzles"}).ID()
	first := h.scorecard(h.round, object{"question": "How new?", "type": "scale_5", "weight": 2}, object{"question": "How well?", "type": "scale_10"})
	finals := h.make("/rounds", object{"name": "Finals", "type": "review_only", "scorecard": []any{
		object{"question": "Medal?", "type": "dropdown", "options": []any{object{"label": "Gold", "points": 3}, object{"label": "Silver", "points": 2}}},
	}})
	medal := finals.List("scorecard")[0].ID()
	h.make("/promo-codes", object{"code": "EARLY", "discount_type": "percentage", "amount": 100, "max_uses": 1})
	h.command("PROGRAM_NOT_OPEN", "award-submit", entry("ada"))
	h.do(200, http.MethodPut, "", object{"status": "open"})

	best := h.submit("ada", form, object{"category_id": puzzles, "promo_code": "early"})
	require.Equal(t, "submitted", best["status"], "the promo code takes the whole fee")
	h.command("PROMO_CODE_USED_UP", "award-submit", entry("joan", object{"promo_code": "EARLY"}))
	other := h.submit("joan", object{"category_id": games})
	require.Equal(t, "pending_payment", other["status"])
	other = h.command("", "award-submit", object{"submission_id": other.ID(), "paid": true})
	h.do(200, http.MethodPut, "/submissions/"+best.ID(), object{"answers": object{"team": 5}})
	require.Equal(t, []any{1.0, 1.0, 2.0}, []any{
		h.get("/categories/" + puzzles)["submission_count"], h.get("/categories/" + games)["submission_count"], h.get("")["submission_count"],
	})

	scores := map[string][]any{"grace": {5, 9}, "rita": {4, 8}}
	for _, reviewer := range []string{"grace", "rita", "vera"} {
		for _, submission := range []entity{best, other} {
			review := h.assign("", submission.ID(), h.round, reviewer)
			if reviewer == "vera" && submission.ID() == best.ID() {
				h.command("", "award-recuse", object{"review_id": review.ID(), "reason": "I know this work."})
				continue
			}
			points := scores[reviewer]
			if submission.ID() == other.ID() {
				points = []any{2, 5}
			}
			h.score("", review.ID(), first[0], points[0], first[1], points[1])
		}
	}
	require.Equal(t, 3.0, h.get("/rounds/" + h.round)["reviewer_count"])
	require.Equal(t, []any{17.5, 9.0}, []any{h.get("/submissions/" + best.ID())["average_score"], h.get("/submissions/" + other.ID())["average_score"]},
		"(19 + 16) / 2, and three times 9")
	require.Equal(t, []any{2.0, 3.0}, it.Column(h.list("/submissions"), "review_count"))

	for reviewer, label := range map[string]string{"grace": "Gold", "rita": "Gold", "vera": "Silver"} {
		h.score("", h.assign("", best.ID(), finals.ID(), reviewer).ID(), medal, label)
	}
	shown := h.get("/submissions/" + best.ID())
	require.Equal(t, []any{finals.ID(), 2.67, 3.0, "in_review"}, []any{shown["current_round_id"], shown["average_score"], shown["review_count"], shown["status"]})
	h.command("", "award-winner", object{"submission_id": best.ID(), "outcome": "winner", "winner_tag": "Gold"})
	h.command("", "award-winner", object{"submission_id": other.ID(), "outcome": "rejected"})
	winners := stacktest.Call[it.Page](h.Stack, 200, http.MethodGet, h.program+"/submissions?status=winner", nil).Results
	require.Equal(t, []any{"Gold"}, it.Column(winners, "winner_tag"))

	h.confirm("/rounds/"+finals.ID(), "?force=true", "has_reviewer_assignments", 3)
	h.confirm("", "?force=true", "has_submissions", 2)
	require.Equal(t, "Award program not found", h.do(404, http.MethodGet, "/submissions", nil)["message"])
	h.command("PARENT_DELETED", "award-restore", object{"kind": "round", "id": finals.ID()})
	require.Equal(t, 2.0, h.command("", "award-restore", object{"kind": "program"})["submission_count"])
	h.command("", "award-restore", object{"kind": "round", "id": finals.ID()})
	require.Equal(t, 2.67, h.get("/submissions/" + best.ID())["average_score"])
	require.Len(t, h.list("/reviews"), 9)
}
