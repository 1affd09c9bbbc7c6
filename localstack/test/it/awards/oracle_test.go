package awards_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// modelSubmission and modelReview are what a test knows of a record.
type (
	modelSubmission struct {
		id, category, round, status, code string
		deleted                           bool
	}
	modelReview struct {
		id, submission, round, reviewer, status string
		total                                   float64
		deleted                                 bool
	}
)

// model is an award program as it must be after random operations.
type model struct {
	*house
	r          *rand.Rand
	categories []string
	rounds     []string // in their order
	questions  []string // a question of a weight of 0.37 of each round
	code       string
	most       int
	subs       []*modelSubmission
	reviews    []*modelReview
}

func newModel(h *house, r *rand.Rand) *model {
	h.T.Helper()
	m := &model{house: h, r: r, rounds: []string{h.round}, most: 4}
	for range 3 {
		m.categories = append(m.categories, h.make("/categories", object{"name": "Category"}).ID())
	}
	for range 2 {
		m.rounds = append(m.rounds, h.make("/rounds", object{"name": "Round", "type": "review_only"}).ID())
	}
	for _, round := range m.rounds {
		m.questions = append(m.questions, h.scorecard(round, object{"question": "How?", "type": "numeric", "min": 0, "max": 100, "weight": 0.37})...)
	}
	m.code = h.make("/promo-codes", object{"code": "CODE", "discount_type": "flat", "amount": 1, "max_uses": m.most}).ID()
	return m
}

func (m *model) uses() (n int) {
	for _, s := range m.subs {
		if s.code != "" && !s.deleted && s.status != "draft" && s.status != "withdrawn" {
			n++
		}
	}
	return n
}

func (m *model) submission() *modelSubmission { return it.OneOf(m.r, m.subs) }

// step does a random operation, in the service and in the model.
func (m *model) step() {
	m.T.Helper()
	if len(m.subs) == 0 {
		m.create()
		return
	}
	it.OneOf(m.r, []func(){m.create, m.create, m.assign, m.assign, m.assign, m.review, m.review, m.review, m.recuse, m.remove, m.restore, m.judge, m.withdraw})()
}

func (m *model) create() {
	s := &modelSubmission{round: m.rounds[0], category: it.OneOf(m.r, append(m.categories, "")), status: it.OneOf(m.r, []string{"draft", "submitted"})}
	input := object{"status": s.status}
	if s.category != "" {
		input["category_id"] = s.category
	}
	refused := ""
	if m.r.IntN(3) == 0 {
		input["promo_code"], s.code = "code", m.code
		if m.uses() >= m.most {
			refused = "PROMO_CODE_USED_UP"
		}
	}
	made := m.command(refused, "award-submit", entry("ada", input))
	if s.id = made.ID(); refused == "" {
		m.subs = append(m.subs, s)
	}
}

func (m *model) assign() {
	s, round, reviewer := m.submission(), m.r.IntN(len(m.rounds)), fmt.Sprint("judge", m.r.IntN(4))
	want := ""
	twice := slices.ContainsFunc(m.reviews, func(r *modelReview) bool {
		return !r.deleted && r.submission == s.id && r.round == m.rounds[round] && r.reviewer == reviewer
	})
	switch {
	case s.deleted:
		want = "NOT_FOUND"
	case s.status != "submitted" && s.status != "in_review":
		want = "SUBMISSION_STATUS"
	case twice:
		want = "DUPLICATE_REVIEWER"
	case round < slices.Index(m.rounds, s.round):
		want = "ROUND_PASSED"
	}
	made := m.house.assign(want, s.id, m.rounds[round], reviewer)
	if want == "" {
		s.status, s.round = "in_review", m.rounds[round]
		m.reviews = append(m.reviews, &modelReview{id: made.ID(), submission: s.id, round: s.round, reviewer: reviewer, status: "assigned"})
	}
}

func (m *model) review() {
	if len(m.reviews) == 0 {
		return
	}
	r := it.OneOf(m.r, m.reviews)
	s := m.subs[slices.IndexFunc(m.subs, func(s *modelSubmission) bool { return s.id == r.submission })]
	value := float64(m.r.IntN(10001)) / 100
	want := ""
	switch {
	case r.deleted:
		want = "NOT_FOUND"
	case r.status == "recused":
		want = "REVIEW_RECUSED"
	case s.deleted:
		want = "NOT_FOUND"
	case s.status != "submitted" && s.status != "in_review":
		want = "SUBMISSION_STATUS"
	}
	m.score(want, r.id, m.questions[slices.Index(m.rounds, r.round)], value)
	if want == "" {
		r.status, r.total = "completed", hundredths(value*0.37)
	}
}

// hundredths rounds a half up. The products of the test are exact to four decimals.
func hundredths(x float64) float64 { return math.Floor(math.Round(x*10000)/100+0.5) / 100 }

func (m *model) recuse() {
	if len(m.reviews) == 0 {
		return
	}
	r := it.OneOf(m.r, m.reviews)
	want := ""
	switch {
	case r.deleted:
		want = "NOT_FOUND"
	case r.status != "assigned":
		want = "REVIEW_ENDED"
	}
	m.command(want, "award-recuse", object{"review_id": r.id, "reason": "Friends."})
	if want == "" {
		r.status = "recused"
	}
}

// remove deletes a submission, or the open reviews of a reviewer.
func (m *model) remove() {
	if m.r.IntN(2) == 0 {
		s := m.submission()
		m.do(map[bool]int{false: 200, true: 404}[s.deleted], http.MethodDelete, "/submissions/"+s.id, nil)
		s.deleted = true
		return
	}
	i := slices.IndexFunc(m.reviews, func(r *modelReview) bool { return !r.deleted && r.status == "assigned" })
	if i < 0 {
		return
	}
	reviewer, count := m.reviews[i].reviewer, 0.0
	id := m.get("/reviews/" + m.reviews[i].id).At("reviewer.id").(string)
	for _, r := range m.reviews {
		if r.reviewer == reviewer && !r.deleted && r.status == "assigned" {
			r.deleted = true
			count++
		}
	}
	require.Equal(m.T, count, m.do(200, http.MethodDelete, "/reviewers/"+id, nil)["removed_reviews"])
}

func (m *model) restore() {
	i := slices.IndexFunc(m.subs, func(s *modelSubmission) bool { return s.deleted })
	if i < 0 {
		return
	}
	s, want := m.subs[i], ""
	if s.code != "" && s.status != "draft" && s.status != "withdrawn" && m.uses() >= m.most {
		want = "PROMO_CODE_USED_UP"
	}
	m.command(want, "award-restore", object{"kind": "submission", "id": s.id})
	s.deleted = want != ""
}

func (m *model) judge() {
	s := m.submission()
	outcome := it.OneOf(m.r, []string{"rejected", "in_review"})
	early := s.status == "submitted" && outcome == "in_review"
	want := map[bool]string{true: "SUBMISSION_STATUS"}[early || s.status == "draft" || s.status == "withdrawn"]
	if s.deleted {
		want = "NOT_FOUND"
	}
	m.command(want, "award-winner", object{"submission_id": s.id, "outcome": outcome})
	if want == "" {
		s.status = outcome
	}
}

func (m *model) withdraw() {
	s := m.submission()
	want := map[bool]string{true: "SUBMISSION_STATUS"}[s.status == "withdrawn"]
	if s.deleted {
		want = "NOT_FOUND"
	}
	m.command(want, "award-submit", object{"submission_id": s.id, "status": "withdrawn"})
	if want == "" {
		s.status = "withdrawn"
	}
}

// check compares everything that is shown with the model.
func (m *model) check() {
	m.T.Helper()
	live := slices.DeleteFunc(slices.Clone(m.subs), func(s *modelSubmission) bool { return s.deleted })
	page := stacktest.Call[it.Page](m.Stack, 200, http.MethodGet, m.program+"/submissions?pageSize=100", nil)
	require.Len(m.T, page.Results, min(100, len(live)))
	for i, shown := range page.Results {
		s := live[i]
		count, sum := 0, 0.0
		for _, r := range m.reviews {
			if r.submission == s.id && r.round == s.round && r.status == "completed" && !r.deleted {
				count, sum = count+1, sum+r.total
			}
		}
		require.Equal(m.T, []any{s.id, s.status, s.round, float64(count)},
			[]any{shown["id"], shown["status"], shown["current_round_id"], shown["review_count"]})
		if count == 0 {
			require.Nil(m.T, shown["average_score"])
			continue
		}
		require.InDelta(m.T, hundredths(sum/float64(count)), shown["average_score"], 1e-9)
	}
	require.Equal(m.T, float64(len(live)), m.get("")["submission_count"])
	require.Equal(m.T, float64(m.uses()), m.get("/promo-codes/" + m.code)["used_count"])
	for _, id := range m.categories {
		in := func(s *modelSubmission) bool { return s.category != id }
		m.counts("/categories/"+id, "category_id="+id, slices.DeleteFunc(slices.Clone(live), in))
	}
	for _, id := range m.rounds {
		m.counts("/rounds/"+id, "current_round_id="+id, slices.DeleteFunc(slices.Clone(live), func(s *modelSubmission) bool { return s.round != id }))
		reviewers := map[string]bool{}
		for _, r := range m.reviews {
			if r.round == id && !r.deleted && r.status != "recused" {
				reviewers[r.reviewer] = true
			}
		}
		require.Equal(m.T, float64(len(reviewers)), m.get("/rounds/" + id)["reviewer_count"])
	}
}

// counts compares a count and the filter that finds the same submissions.
func (m *model) counts(path, filter string, want []*modelSubmission) {
	m.T.Helper()
	require.Equal(m.T, float64(len(want)), m.get(path)["submission_count"])
	found := stacktest.Call[it.Page](m.Stack, 200, http.MethodGet, m.program+"/submissions?pageSize=100&status=in_review&"+filter, nil)
	want = slices.DeleteFunc(want, func(s *modelSubmission) bool { return s.status != "in_review" })
	require.Equal(m.T, len(want), found.Pagination.TotalResults)
	for i, s := range found.Results {
		require.Equal(m.T, want[i].id, s.ID())
	}
}

// TestTotalsOfRandomOperations holds totals, filters and counts against a model.
func TestTotalsOfRandomOperations(t *testing.T) {
	seed := it.Seed(t)
	for walk := range it.Size(3, 30) {
		m := newModel(startHouse(t, nil), it.Source(seed, walk))
		for i := range 80 {
			if m.step(); i%20 == 19 {
				m.check()
			}
		}
		it.EngineOf(t, m.Stack).RequireWhole(t)
	}
}
