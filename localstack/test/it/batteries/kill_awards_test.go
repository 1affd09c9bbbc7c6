package batteries_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/shared/apierr"
)

// awardWriters write the records of an award program while the service is killed.
const awardWriters = 4

// TestKillAwards kills the service, its engine or both while the records of an award program are written, and starts
// them again. What was acknowledged is there, what was deleted is gone with all below it, an interrupted deletion of
// several records can be repeated, and every number is right.
func TestKillAwards(t *testing.T) {
	k := &awarding{service: built(t), r: it.Source(it.Seed(t), 0)}
	_, done := k.operate("organization-update", object{"award_programs": 1000})
	require.True(t, done)
	k.round(-1) // Without a kill, to learn how long the deletions take.
	for round := range it.Size(10, 100) {
		k.round(round)
	}
	t.Logf("killed under %d acknowledged writes and %d without an answer; %d deletions of several records were repeated, %d of them half done",
		k.acknowledged, k.doubts, k.repeated, k.half)
	require.Positive(t, k.doubts)
	require.Positive(t, k.half)
}

// awarding kills a service under writers of awards.
type awarding struct {
	*service
	r *rand.Rand
	// takes is how long the deletions without a kill took.
	takes time.Duration
	mu    sync.Mutex
	// The counts of all rounds.
	acknowledged, doubts, repeated, half int
}

// awardWriter writes the records of a program.
type awardWriter struct {
	*awarding
	// path is the path of the program, id its id and first the id of its first round.
	path, id, first string
	// gone has the path of each acknowledged record below the program, and whether it was deleted.
	gone map[string]bool
	// next are deletions that can be done. undone are those that had no answer.
	next, undone []deletion
}

// deletion is a request, and the paths of the records that it deletes.
type deletion struct {
	path  string
	below []string
}

// round lets writers write programs, kills the service while they delete some records and write others, and looks at
// what is left.
func (k *awarding) round(number int) {
	k.t.Helper()
	writers := make([]*awardWriter, awardWriters)
	for i := range writers {
		writers[i] = k.writer()
	}
	it.Concurrently(awardWriters, func(i int) { writers[i].write() })
	began := time.Now()
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		it.Concurrently(awardWriters, func(i int) {
			for writers[i].deleteNext() && number >= 0 && writers[i].write() {
			}
		})
	}()
	if number < 0 {
		<-worked
		k.takes = time.Since(began)
	} else {
		time.Sleep(time.Duration(k.r.Float64() * 1.5 * float64(k.takes)))
		k.kill(number%killWays, time.Duration(k.r.IntN(50))*time.Millisecond)
		<-worked
		k.start()
	}
	for _, w := range writers {
		w.check()
	}
	k.engine.RequireWhole(k.t)
	for _, w := range writers {
		k.caller.Call(k.t, 200, http.MethodDelete, w.path+"?force=true", nil)
	}
}

// writer makes a program for a writer.
func (k *awarding) writer() *awardWriter {
	k.t.Helper()
	programs := fmt.Sprintf("/v1/organization/%d/awards/programs", k.caller.Org)
	made := entity(k.caller.Call(k.t, 200, http.MethodPost, programs, object{"name": "Best", "status": "open"}).JSON(k.t))
	w := &awardWriter{awarding: k, path: programs + "/" + made.ID(), id: made.ID(), gone: map[string]bool{}}
	w.first = entity(k.caller.Call(k.t, 200, http.MethodGet, w.path+"/rounds", nil).JSON(k.t)).List("results")[0].ID()
	k.caller.Call(k.t, 200, http.MethodPost, w.path+"/promo-codes", object{"code": "A", "discount_type": "flat", "amount": 1})
	return w
}

// write writes records below the program, which deleteNext deletes. It reports whether all were acknowledged.
func (w *awardWriter) write() bool {
	var tree, reviews []string
	var above any
	for range 3 {
		made, done := w.send(http.MethodPost, "/categories", object{"name": "Category", "parent_category_id": above})
		if !done {
			return false
		}
		above = made.ID()
		tree = append(tree, "/categories/"+made.ID())
	}
	w.set(false, tree...)
	judge := fmt.Sprint("judge-", len(w.gone))
	var reviewer string
	for range 2 {
		review, done := w.enter(judge, above)
		if !done {
			return false
		}
		reviews, reviewer = append(reviews, "/reviews/"+review.ID()), review.At("reviewer.id").(string)
	}
	w.next = []deletion{{"/reviewers/" + reviewer, reviews}, {tree[0] + "?force=true&cascade=true", tree}}
	return true
}

// enter writes a submission in a category with a review of another, and returns an open review of the judge.
func (w *awardWriter) enter(judge string, category any) (entity, bool) {
	submission, done := w.operate("award-submit", object{
		"program_id": w.id, "category_id": category, "promo_code": "A", "submitter": person("of-" + judge),
	})
	if !done {
		return nil, false
	}
	w.set(false, "/submissions/"+submission.ID())
	assigned := object{"program_id": w.id, "submission_id": submission.ID(), "round_id": w.first}
	other, done := w.operate("award-assign", it.Merged(assigned, object{"reviewer": person("other-" + judge)}))
	if !done {
		return nil, false
	}
	w.set(false, "/reviews/"+other.ID())
	if _, done = w.operate("award-review", object{"program_id": w.id, "review_id": other.ID(), "scores": []any{}}); !done {
		return nil, false
	}
	review, done := w.operate("award-assign", it.Merged(assigned, object{"reviewer": person(judge)}))
	if done {
		w.set(false, "/reviews/"+review.ID())
	}
	return review, done
}

// person is a person with a name.
func person(name string) object { return object{"name": name, "email": name + "@example.org"} }

// set notes that records are there, or were deleted.
func (w *awardWriter) set(deleted bool, paths ...string) {
	for _, path := range paths {
		w.gone[path] = deleted
	}
}

// deleteNext does the deletions that can be done, and reports whether all were acknowledged.
func (w *awardWriter) deleteNext() bool {
	all := w.next
	w.next = nil
	for i, d := range all {
		_, done := w.send(http.MethodDelete, d.path, nil)
		if w.set(true, d.below...); !done {
			w.undone = all[i : i+1]
			return false
		}
	}
	return len(all) > 0
}

// send sends a request below the program. It reports whether the request was acknowledged.
func (w *awardWriter) send(method, path string, body any) (entity, bool) {
	answer, err := w.caller.Send(w.t, method, w.path+path, body)
	if err == nil && answer.Status/100 == 4 {
		w.t.Errorf("%s %s: %s", method, path, answer.Body)
	}
	return w.count(answer.Body, err == nil && answer.Status == 200)
}

// check repeats the deletion that had no answer, and compares the program with what was acknowledged.
func (w *awardWriter) check() {
	w.t.Helper()
	for _, d := range w.undone {
		deleted := 0
		for _, path := range d.below {
			if w.status(http.MethodGet, path) == 404 {
				deleted++
			}
		}
		if w.repeated++; deleted > 0 && deleted < len(d.below) {
			w.half++
		}
		require.Contains(w.t, []int{200, 404}, w.status(http.MethodDelete, d.path))
	}
	for path, deleted := range w.gone {
		require.Equal(w.t, map[bool]int{false: 200, true: 404}[deleted], w.status(http.MethodGet, path), path)
	}
}

func (w *awardWriter) status(method, path string) int {
	w.t.Helper()
	answer, err := w.caller.Send(w.t, method, w.path+path, nil)
	require.NoError(w.t, err)
	return answer.Status
}

// operate runs an operator command on the program, as send sends a request.
func (k *awarding) operate(command string, input object) (entity, bool) {
	text, err := json.Marshal(it.Merged(object{"org_id": k.caller.Org}, input))
	if err != nil {
		k.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), 5*time.Second)
	defer cancel()
	answer, err := operator.New(k.env).Do(ctx, command, text)
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status/100 == 4 {
		k.t.Errorf("%s: %v", command, err)
	}
	if err != nil {
		return k.count(nil, false)
	}
	text, err = json.Marshal(answer)
	return k.count(text, err == nil)
}

func (k *awarding) count(answer []byte, done bool) (entity, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !done {
		k.doubts++
		return nil, false
	}
	k.acknowledged++
	return it.DecodeObject(answer), true
}
