package awards_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/award"
	"lectern/shared/page"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// owner owns the records of the program.
func (h *house) owner() resource.Owner { return resource.Owner{Org: h.Org, Parent: h.id} }

// TestTheBoundsOfANumber are compared with the number as it counts, with two decimals.
func TestTheBoundsOfANumber(t *testing.T) {
	h := startHouse(t, nil)
	for _, bound := range []float64{0.29, 1.1, 4.35} {
		q := h.scorecard(h.round, object{"question": "How?", "type": "numeric", "min": 0, "max": bound},
			object{"question": "How?", "type": "numeric", "min": bound, "max": 10})
		review := h.assign("", h.submit("ada").ID(), h.round, fmt.Sprint("judge", bound*100)).ID()
		require.InDelta(t, 2*bound, h.score("", review, q[0], bound, q[1], bound)["total_score"], 1e-9)
		h.score("TYPE_MISMATCH", review, q[0], bound+0.01, q[1], bound)
		h.score("TYPE_MISMATCH", review, q[0], bound, q[1], bound-0.01)
	}
}

// TestANewRecordComesLast among the records beside it, whatever was deleted and whichever places others have.
func TestANewRecordComesLast(t *testing.T) {
	h := startHouse(t, nil)
	round := func() any { return h.make("/rounds", object{"name": "Next", "type": "review_only"})["order"] }
	require.Equal(t, 2.0, round())
	h.do(200, http.MethodPut, "/rounds/"+h.make("/rounds", object{"name": "Far", "type": "review_only"}).ID(), object{"order": 70})
	require.Equal(t, 71.0, round())
	h.do(200, http.MethodDelete, "/rounds/"+h.list("/rounds")[1].ID(), nil)
	require.Equal(t, 72.0, round())
	top := h.make("/categories", object{"name": "A"})
	h.make("/categories", object{"name": "B"})
	below := "/categories/" + top.ID() + "/subcategories"
	require.Equal(t, []any{1.0, 1.0, 2.0}, []any{top["order"], h.make(below, object{"name": "C"})["order"], h.make(below, object{"name": "D"})["order"]})
	require.Equal(t, 3.0, h.make("/categories", object{"name": "E"})["order"])

	last := h.make("/rounds", object{"name": "Last", "type": "review_only", "order": 100_000})
	next := h.make("/rounds", object{"name": "Next", "type": "review_only"})
	require.Equal(t, 100_000.0, next["order"])
	require.Equal(t, "Next", h.do(200, http.MethodPut, "/rounds/"+next.ID(), next)["name"], "what was read can be sent back")
	rounds := h.list("/rounds")
	require.Equal(t, []string{last.ID(), next.ID()}, it.Texts(rounds[len(rounds)-2:], "id"))
	submission := h.submit("ada").ID()
	h.assign("", submission, next.ID(), "grace")
	h.assign("ROUND_PASSED", submission, last.ID(), "grace")
}

// TestTheLengthOfAnAnswer is counted in letters, and that of all answers together is bounded.
func TestTheLengthOfAnAnswer(t *testing.T) {
	h := startHouse(t, nil)
	answers := func(texts ...string) object {
		var all []any
		for i, text := range texts {
			all = append(all, object{"internal_name": fmt.Sprint("a", i), "label": "A", "type": "text", "value": text})
		}
		return object{"answers": all}
	}
	made := h.submit("ada", answers(strings.Repeat("é", 6000)))
	path := "/submissions/" + made.ID()
	it.RequireError(t, h.do(400, http.MethodPut, path, object{"answers": object{"a0": strings.Repeat("x", 10_001)}}), "VALIDATION_ERROR", "a0")
	long := strings.Repeat("x", 9000)
	require.Equal(t, "answers", h.command("VALIDATION_ERROR", "award-submit", entry("joan", answers(long, long)))["field"])
	q := h.scorecard(h.round, object{"question": "Why?", "type": "text"})
	review := h.assign("", made.ID(), h.round, "grace").ID()
	require.Equal(t, "scores[0].value", h.score("VALIDATION_ERROR", review, q[0], strings.Repeat("x", 10_001))["field"])
	require.Equal(t, "scores[0].value", h.score("VALIDATION_ERROR", review, q[0], strings.Repeat("\u0434", 5000))["field"])
}

// TestAFullScorecard is answered, with long labels and texts too. An error names the longest text, or the dropdown whose
// labels are too long.
func TestAFullScorecard(t *testing.T) {
	h := startHouse(t, nil)
	dropdown := func(letters int) object {
		options := []any{object{"label": "No", "points": 0}, object{"label": strings.Repeat("x", letters), "points": 999999.99}}
		return object{"question": "How?", "type": "dropdown", "options": options}
	}
	refused := h.do(400, http.MethodPut, "/rounds/"+h.round, object{"scorecard": slices.Repeat([]object{dropdown(250)}, 30)})
	it.RequireError(t, refused, "VALIDATION_ERROR", "scorecard[15].options")
	card := slices.Repeat([]object{{"question": "How?", "type": "numeric", "min": 0, "max": 1e6}}, 7)
	card = append(card, slices.Repeat([]object{dropdown(103)}, 38)...)
	card = append(card, slices.Repeat([]object{{"question": "Why?", "type": "text"}}, 5)...)
	var scores []object
	for i, id := range h.scorecard(h.round, card...) {
		value := any(strings.Repeat("x", 1000))
		if i < 45 {
			value = []any{999999.99, strings.Repeat("x", 103)}[min(i/7, 1)]
		}
		scores = append(scores, object{"question_id": id, "value": value})
	}
	reviewer := object{"name": strings.Repeat("n", 255), "email": strings.Repeat("m", 240) + "@example.org"}
	review := h.command("", "award-assign", object{"submission_id": h.submit("ada").ID(), "round_id": h.round, "reviewer": reviewer}).ID()
	send := func(code string, more object) entity {
		return h.command(code, "award-review", it.Merged(object{"review_id": review, "scores": scores}, more))
	}
	send("", object{"comment": strings.Repeat("x", 900)})
	require.Len(t, h.get("/reviews/"+review).List("scores"), 50)
	require.Equal(t, "comment", send("VALIDATION_ERROR", object{"comment": strings.Repeat("\u0001", 2000)})["field"])
	scores[49]["value"] = strings.Repeat("x", 3000)
	require.Equal(t, "scores[49].value", send("VALIDATION_ERROR", object{"comment": strings.Repeat("x", 2000)})["field"])
	scores[49]["value"] = strings.Repeat("x", 30_000)
	require.Equal(t, "scores[49].value", send("VALIDATION_ERROR", object{})["field"])
}

// TestALongReason of a recusal has room in letters of up to three bytes; longer ones fill the review before.
func TestALongReason(t *testing.T) {
	h := startHouse(t, nil)
	submission := h.submit("ada").ID()
	for i, letter := range []string{"\u0434", "\u3042"} {
		review := h.assign("", submission, h.round, fmt.Sprint("judge", i)).ID()
		reason := strings.Repeat(letter, 5000)
		require.Equal(t, reason, h.command("", "award-recuse", object{"review_id": review, "reason": reason})["comment"])
	}
	review := h.assign("", submission, h.round, "grace").ID()
	h.command("VALIDATION_ERROR", "award-recuse", object{"review_id": review, "reason": strings.Repeat("\U00020000", 5000)})
}

// TestAPageAppliesItsFilterToWhatItShows: the records of a page are read again, and may have changed.
func TestAPageAppliesItsFilterToWhatItShows(t *testing.T) {
	h := startHouse(t, nil)
	h.submit("ada")
	first := true
	keep := func(*award.Submission) bool { defer func() { first = false }(); return first }
	got, err := award.Submissions.Of(resource.NewStore(h.Env(t)), h.owner()).Page(t.Context(), page.Query{Page: 1, PageSize: 10}, keep)
	require.NoError(t, err)
	require.Empty(t, got.Results)
	require.False(t, first)
}

// TestAStepTakesNoOtherInput: nothing that was sent is ignored.
func TestAStepTakesNoOtherInput(t *testing.T) {
	h := startHouse(t, object{"payment": object{"collect": "on_submission", "base_fee_cents": 1000}})
	category := h.make("/categories", object{"name": "Software"}).ID()
	h.make("/promo-codes", object{"code": "A", "discount_type": "flat", "amount": 1})
	pending := h.submit("ada").ID()
	for field, input := range map[string]object{
		"category_id": {"category_id": category}, "promo_code": {"promo_code": "a"}, "submitter": entry("joan"), "answers": form,
	} {
		of := it.Merged(object{"submission_id": pending}, input)
		require.Equal(t, field, h.command("VALIDATION_ERROR", "award-submit", it.Merged(of, object{"paid": true}))["field"])
		require.Equal(t, field, h.command("VALIDATION_ERROR", "award-submit", it.Merged(of, object{"status": "withdrawn"}))["field"])
	}
	require.Equal(t, "paid", h.command("VALIDATION_ERROR", "award-submit", object{"submission_id": pending, "status": "withdrawn", "paid": true})["field"])
	require.Equal(t, "paid", h.command("VALIDATION_ERROR", "award-submit", entry("joan", object{"status": "draft", "paid": true}))["field"])
	h.command("", "award-submit", object{"submission_id": pending, "paid": true})
	h.command("", "award-winner", object{"submission_id": pending, "outcome": "winner", "winner_tag": "Gold"})
	gone := h.command("", "award-submit", object{"submission_id": pending, "status": "withdrawn"})
	require.Equal(t, []any{"withdrawn", nil}, []any{gone["status"], gone["winner_tag"]})
}

// TestARestoreNeedsThePromoCode that the submission uses.
func TestARestoreNeedsThePromoCode(t *testing.T) {
	h := startHouse(t, nil)
	code := h.make("/promo-codes", object{"code": "A", "discount_type": "flat", "amount": 1, "max_uses": 1}).ID()
	submission := h.submit("ada", object{"promo_code": "a"}).ID()
	h.do(200, http.MethodDelete, "/submissions/"+submission, nil)
	h.do(200, http.MethodDelete, "/promo-codes/"+code, nil)
	require.Equal(t, "id", h.command("VALIDATION_ERROR", "award-restore", object{"kind": "submission"})["field"])
	require.Equal(t, "id", h.command("VALIDATION_ERROR", "award-restore", object{"kind": "program", "id": submission})["field"])
	h.command("PARENT_DELETED", "award-restore", object{"kind": "submission", "id": submission})
	h.command("", "award-restore", object{"kind": "promo_code", "id": code})
	h.command("", "award-restore", object{"kind": "submission", "id": submission})
	require.Equal(t, 1.0, h.get("/promo-codes/" + code)["used_count"])
}

// TestARemovalTakesAReviewThatHasJustBegun: only the end of a review keeps it.
func TestARemovalTakesAReviewThatHasJustBegun(t *testing.T) {
	h := startHouse(t, nil)
	submission := h.submit("ada").ID()
	for i := range it.Size(15, 100) {
		review := h.assign("", submission, h.round, fmt.Sprint("judge", i))
		var removed stacktest.Answer
		it.Concurrently(2, func(i int) {
			if i == 0 {
				removed, _ = h.Send(t, http.MethodDelete, h.program+"/reviewers/"+review.At("reviewer.id").(string), nil)
				return
			}
			for range 3 {
				_, _ = h.try("award-review", object{"review_id": review.ID(), "scores": []any{}, "complete": false})
			}
		})
		require.Equal(t, 200, removed.Status)
		h.do(404, http.MethodGet, "/reviews/"+review.ID(), nil)
	}
	require.Equal(t, 0.0, h.get("/rounds/" + h.round)["reviewer_count"])
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestDeletionsOfATreeAtOneTime: one deletes it whole, also while a subcategory is made.
func TestDeletionsOfATreeAtOneTime(t *testing.T) {
	h := startHouse(t, nil)
	for range it.Size(8, 60) {
		top, middle, _ := tree(h)
		statuses := make([]int, 4)
		it.Concurrently(len(statuses), func(i int) {
			method, path, body := http.MethodDelete, "/categories/"+top+"?force=true&cascade=true", any(nil)
			if i == 3 {
				method, path, body = http.MethodPost, "/categories/"+middle+"/subcategories", object{"name": "New"}
			}
			answer, err := h.Send(t, method, h.program+path, body)
			if statuses[i] = answer.Status; err != nil {
				t.Error(err)
			}
		})
		deleted := map[int]int{}
		for _, status := range statuses[:3] {
			deleted[status]++
		}
		require.Equal(t, map[int]int{200: 1, 404: 2}, deleted)
		require.Contains(t, []int{200, 404}, statuses[3])
		require.Empty(t, h.list("/categories"))
	}
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestWritesOfSubmissionsShareNoItem: an update of a submission leaves the items of the program as they are.
func TestWritesOfSubmissionsShareNoItem(t *testing.T) {
	h := startHouse(t, nil)
	submission := h.submit("ada", form).ID()
	review := h.assign("", submission, h.round, "grace").ID()
	count := func() (versions []int64) {
		for _, key := range []table.Key{h.owner().CountKey("award_submission"), h.owner().CountKey("award_review")} {
			stored, err := h.Table(t).Get(t.Context(), key)
			require.NoError(t, err)
			versions = append(versions, stored.Version)
		}
		return versions
	}
	before := count()
	h.do(200, http.MethodPut, "/submissions/"+submission, object{"answers": object{"team": 5}})
	h.score("", review)
	h.command("", "award-winner", object{"submission_id": submission, "outcome": "rejected"})
	require.Equal(t, before, count())
}

// TestTheReviewersOfARoundAreBounded, since their numbers are in one item.
func TestTheReviewersOfARoundAreBounded(t *testing.T) {
	h := startHouse(t, nil)
	gone := h.assign("", h.submit("vera").ID(), h.round, "hedy")
	h.do(200, http.MethodDelete, "/reviewers/"+gone.At("reviewer.id").(string), nil)
	known := h.assign("", h.submit("ada").ID(), h.round, "grace")
	numbers := map[string]int{"reviews": 200, "reviewer:" + known.At("reviewer.id").(string): 1}
	for len(numbers) < 201 {
		numbers["reviewer:"+uuid.NewString()] = 1
	}
	data, err := json.Marshal(numbers)
	require.NoError(t, err)
	item := table.Item{Key: h.owner().SumKey(h.round, "award_review"), Data: data}
	stored, err := h.Table(t).Get(t.Context(), item.Key)
	require.NoError(t, err)
	item.Version = stored.Version + 1
	require.NoError(t, h.Table(t).Transact(t.Context(), table.Replace(item, stored.Version)))
	require.Equal(t, 200.0, h.get("/rounds/" + h.round)["reviewer_count"])
	next := h.submit("joan").ID()
	h.assign("LIMIT_REACHED", next, h.round, "rita")
	h.command("LIMIT_REACHED", "award-restore", object{"kind": "review", "id": gone.ID()})
	h.assign("", next, h.round, "grace")
}

// TestPersonalDataOfAwards: neither the audit trail nor the id of a reviewer tells of a person, and a blind review
// shows no address.
func TestPersonalDataOfAwards(t *testing.T) {
	h := startHouse(t, object{"blind_review": true})
	submission := h.submit("ada", form).ID()
	h.do(200, http.MethodPut, "/submissions/"+submission, object{"answers": object{"mail": "ada@example.org"}})
	q := h.scorecard(h.round, object{"question": "Why?", "type": "text"})
	review := h.assign("", submission, h.round, "grace")
	seen := h.command("", "award-review", object{"review_id": review.ID(), "comment": "I know ada@example.org.", "scores": []any{
		object{"question_id": q[0], "value": "ada@example.org says so."},
	}})
	answers := entity(seen["submission"].(object)).List("answers")
	require.Equal(t, []string{"pitch", "team", "since", "site", "free"}, it.Texts(answers, "internal_name"))
	require.Len(t, h.get("/submissions/"+submission).List("answers"), 6)
	trail, err := json.Marshal(it.ChangesOf(t, h.Stack))
	require.NoError(t, err)
	require.NotContains(t, string(trail), "ada@example.org")
	require.NotContains(t, string(trail), "grace@jury.example")

	second := newHouse(h.Client, nil)
	elsewhere := second.assign("", second.submit("ada").ID(), second.round, "grace").At("reviewer.id")
	guess := uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.id+" reviewer grace@jury.example")).String()
	require.NotContains(t, []any{elsewhere, guess}, review.At("reviewer.id"))
}

// TestALargestSubmissionTakesEveryStep: the time of a payment, the tag of a winner and the time of a deletion have room.
func TestALargestSubmissionTakesEveryStep(t *testing.T) {
	h := startHouse(t, object{"payment": object{"collect": "on_submission", "base_fee_cents": 100_000_000}})
	names := object{"category_id": h.make("/categories", object{"name": "Software"}).ID(), "promo_code": "a"}
	h.make("/promo-codes", object{"code": "A", "discount_type": "flat", "amount": 1})
	answer := func(name string) object {
		return object{"internal_name": name, "label": name, "type": "textarea", "value": nil}
	}
	path := "/submissions/" + h.submit("ada", names, object{"answers": []any{answer("a"), answer("b")}}).ID()
	h.do(200, http.MethodPut, path, object{"answers": object{"a": strings.Repeat("x", 10_000)}})
	refused := sort.Search(10_000, func(n int) bool {
		body := object{"answers": object{"b": strings.Repeat("x", n)}}
		return h.TrySend(t, http.MethodPut, h.program+path, body).Status == 400
	})
	h.do(200, http.MethodPut, path, object{"answers": object{"b": strings.Repeat("x", refused-1)}})
	it.RequireError(t, h.do(400, http.MethodPut, path, object{"answers": object{"b": strings.Repeat("x", refused)}}), "VALIDATION_ERROR", "answers")
	id := h.get(path).ID()
	require.Equal(t, "submitted", h.command("", "award-submit", object{"submission_id": id, "paid": true})["status"])
	tag := strings.Repeat("\u0001", 100)
	won := h.command("", "award-winner", object{"submission_id": id, "outcome": "winner", "winner_tag": tag})
	require.Equal(t, tag, won["winner_tag"])
	h.do(200, http.MethodPut, path, object{"answers": object{"b": strings.Repeat("y", refused-1)}})
	h.do(200, http.MethodDelete, path, nil)
	h.command("", "award-restore", object{"kind": "submission", "id": id})
}
