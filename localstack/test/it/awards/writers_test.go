package awards_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// writers is how many requests a test makes at one time.
const writers = 16

// together runs a command for each writer and returns how often it was refused with each code.
func (h *house) together(name string, input func(i int) object) (answers []entity, codes map[string]int) {
	h.T.Helper()
	answers, refusals := make([]entity, writers), make([]string, writers)
	it.Concurrently(writers, func(i int) {
		answer, refusal := h.try(name, input(i))
		if answers[i] = answer; refusal != nil {
			refusals[i] = refusal.Code
		}
	})
	codes = map[string]int{}
	for _, code := range refusals {
		codes[code]++
	}
	return answers, codes
}

// TestCountsOfSimultaneousSubmissions: every number is given once, every use is counted, and none is lost.
func TestCountsOfSimultaneousSubmissions(t *testing.T) {
	h := startHouse(t, nil)
	category := h.make("/categories", object{"name": "Software"}).ID()
	code := h.make("/promo-codes", object{"code": "A", "discount_type": "flat", "amount": 1, "max_uses": 5}).ID()
	made, codes := h.together("award-submit", func(i int) object {
		return entry(fmt.Sprint("p", i), object{"promo_code": "a", "category_id": category})
	})
	require.Equal(t, map[string]int{"": 5, "PROMO_CODE_USED_UP": 11}, codes)
	require.Equal(t, 5.0, h.get("/promo-codes/" + code)["used_count"])
	more, codes := h.together("award-submit", func(i int) object { return entry(fmt.Sprint("q", i), object{"category_id": category}) })
	require.Equal(t, map[string]int{"": writers}, codes)
	var numbers []string
	for _, s := range append(made, more...) {
		if s != nil {
			numbers = append(numbers, s.Text("friendly_id")[len("AWD-2006-"):])
		}
	}
	slices.Sort(numbers)
	for i, number := range numbers {
		require.Equal(t, fmt.Sprintf("%05d", i+1), number)
	}
	require.Equal(t, []any{21.0, 21.0, 21.0}, []any{
		h.get("")["submission_count"], h.get("/categories/" + category)["submission_count"], h.get("/rounds/" + h.round)["submission_count"],
	})
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestAveragesOfSimultaneousReviews of one submission, which sixteen reviewers get, score and leave at one time.
func TestAveragesOfSimultaneousReviews(t *testing.T) {
	h := startHouse(t, nil)
	q := h.scorecard(h.round, object{"question": "How?", "type": "numeric", "min": 0, "max": 100})
	submission := h.submit("ada").ID()
	input := func(i int) object {
		reviewer := fmt.Sprint("judge", i)
		return object{"submission_id": submission, "round_id": h.round, "reviewer": object{"name": reviewer, "email": reviewer + "@jury.example"}}
	}
	made, codes := h.together("award-assign", input)
	require.Equal(t, map[string]int{"": writers}, codes)
	_, codes = h.together("award-assign", func(int) object { return input(writers) })
	require.Equal(t, map[string]int{"": 1, "DUPLICATE_REVIEWER": writers - 1}, codes)
	require.Equal(t, 17.0, h.get("/rounds/" + h.round)["reviewer_count"])
	_, codes = h.together("award-review", func(i int) object {
		return object{"review_id": made[i].ID(), "scores": []any{object{"question_id": q[0], "value": float64(i) + 0.01}}}
	})
	require.Equal(t, map[string]int{"": writers}, codes)
	shown := h.get("/submissions/" + submission)
	require.Equal(t, []any{16.0, 7.51}, []any{shown["review_count"], shown["average_score"]})
	// Sixteen removals of one reviewer delete the open review once.
	last := h.list("/reviews?pageSize=100")[writers]
	removals, removed := make([]stacktest.Answer, writers), 0.0
	it.Concurrently(writers, func(i int) {
		answer, err := h.Send(t, http.MethodDelete, h.program+"/reviewers/"+last.At("reviewer.id").(string), nil)
		if removals[i] = answer; err != nil {
			t.Error(err)
		}
	})
	for _, answer := range removals {
		require.Contains(t, []int{200, 404}, answer.Status)
		if answer.Status == 200 {
			removed += answer.JSON(t)["removed_reviews"].(float64)
		}
	}
	require.Equal(t, 1.0, removed)
	require.Equal(t, 16.0, h.get("/rounds/" + h.round)["reviewer_count"])
	it.EngineOf(t, h.Stack).RequireWhole(t)
}
