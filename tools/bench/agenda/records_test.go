package agenda_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/tools/bench/scale"
)

// TestSmallRecords creates, reads, changes and deletes a record of each kind of agenda planning and awards. A rule is the
// first small record, beside which the others are held.
func TestSmallRecords(t *testing.T) {
	b := startBench(t)
	b.Operator(t, "organization-update", it.Object{"org_id": b.Org, "award_programs": 1000})
	n := scale.Size(2, 50)
	session := b.CreateAll("sessions", drafts(n, func(i int) any { return it.Object{"title": fmt.Sprint("Talk ", i)} }))
	draft := b.Do(200, http.MethodPost, "/agenda-drafts/create", it.Object{"name": "Plan"}).ID()
	programs := fmt.Sprintf("/v1/organization/%d/awards/programs", b.Org)
	program := programs + "/" + it.Entity(b.Call(t, 200, http.MethodPost, programs, it.Object{"name": "Best"}).JSON(t)).ID()
	for _, one := range []struct {
		path string
		body func(i int) it.Object
	}{
		{b.EventPath("/rules"), func(int) it.Object { return it.Object{"name": "A name", "type": "of our own"} }},
		{b.EventPath("/personas"), func(int) it.Object { return it.Object{"name": "A name"} }},
		{b.EventPath("/agenda-drafts"), func(int) it.Object { return it.Object{"name": "A name"} }},
		{b.EventPath("/agenda-drafts/" + draft + "/sessions"), func(i int) it.Object { return it.Object{"session_id": session[i]} }},
		{programs, func(int) it.Object { return it.Object{"name": "A name"} }},
		{program + "/categories", func(int) it.Object { return it.Object{"name": "A name"} }},
		{program + "/rounds", func(int) it.Object { return it.Object{"name": "A name", "type": "review_only"} }},
		{program + "/promo-codes", func(i int) it.Object {
			return it.Object{"code": fmt.Sprint("CODE-", i), "discount_type": "flat", "amount": 1}
		}},
	} {
		most := min(n, 40) // A program has up to 50 rounds.
		made, created := b.measure(http.MethodPost, one.path+"/create", most, func(i int) any { return one.body(i) })
		record := one.path + "/" + it.Entity(made.JSON(t)).ID()
		_, read := b.measure(http.MethodGet, record, most, nothing)
		_, changed := b.measure(http.MethodPut, record, most, func(int) any {
			changed := one.body(most - 1)
			delete(changed, "type")
			return changed
		})
		_, deleted := b.measure(http.MethodDelete, record, 1, nothing)
		t.Logf("%s\n\tcreate: %s\n\tread: %s\n\tupdate: %s\n\tdelete: %s", one.path, created, read, changed, deleted)
	}
}

// TestALargeProgram lists, filters and reads the submissions of a program, and completes a review.
func TestALargeProgram(t *testing.T) {
	b := startBench(t)
	n := scale.Size(20, 1000)
	programs := fmt.Sprintf("/v1/organization/%d/awards/programs", b.Org)
	program := it.Entity(b.Call(t, 200, http.MethodPost, programs, it.Object{"name": "Best", "status": "open"}).JSON(t)).ID()
	path := programs + "/" + program
	in := it.Object{"org_id": b.Org, "program_id": program}
	person := func(name string) it.Object { return it.Object{"name": name, "email": name + "@example.org"} }
	var last it.Entity
	began := time.Now()
	for i := range n {
		last = b.Operator(t, "award-submit", it.Merged(in, it.Object{"submitter": person(fmt.Sprint("p", i)), "answers": []any{
			it.Object{"internal_name": "pitch", "label": "Pitch", "type": "textarea", "value": pitch},
		}}))
	}
	t.Logf("a submission: %.1f ms", time.Since(began).Seconds()*1000/float64(n))
	assigned := it.Object{"submission_id": last.ID(), "round_id": last["current_round_id"], "reviewer": person("judge")}
	review := it.Entity(b.Operator(t, "award-assign", it.Merged(in, assigned)))
	began = time.Now()
	b.Operator(t, "award-review", it.Merged(in, it.Object{"review_id": review.ID(), "scores": []any{}}))
	t.Logf("a review is completed: %.1f ms", time.Since(began).Seconds()*1000)
	for name, query := range map[string]string{
		"the first page": "?pageSize=25", "the last page": fmt.Sprint("?pageSize=25&page=", max(1, n/25)), "a filter": "?pageSize=25&status=in_review",
		"one submission": "/" + last.ID(),
	} {
		_, cost := b.measure(http.MethodGet, path+"/submissions"+query, 5, nothing)
		t.Logf("%s of %d submissions: %s", name, n, cost)
	}
	list, _ := b.measure(http.MethodGet, path+"/submissions?status=in_review", 1, nothing)
	require.Len(t, it.Entity(list.JSON(t)).List("results"), 1)
}

// pitch is the text of a submission, as long as many are.
var pitch = strings.Repeat("What we have made, for whom, and what is new in it. ", 40)
