package it

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// awards is the collection of the records of award programs.
const awards = "awards"

// awardPath returns the segments of a path of awards with the ids of a record: that of the program, and after
// slashes those of the records below. The last id stands for those that are missing.
func awardPath(segments []string, record string) {
	ids := strings.Split(record, "/")
	for i, segment := range segments {
		if !anID(segment) {
			continue
		}
		segments[i] = ids[0]
		if len(ids) > 1 {
			ids = ids[1:]
		}
	}
}

// awardDraft returns a body that an operation of awards accepts.
func awardDraft(op api.Operation) Object {
	name := "Sample " + uuid.NewString()
	switch {
	case strings.Contains(op.Path, "/submissions"):
		return Object{"answers": Object{}}
	case strings.Contains(op.Path, "/rounds"):
		return Object{"name": name, "type": "review_only"}
	case strings.Contains(op.Path, "/promo-codes"):
		return Object{"code": name, "discount_type": "flat", "amount": 1}
	}
	return Object{"name": name}
}

// newAward creates a program, and the records below it that the path names. It returns their ids with slashes
// between them.
func newAward(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	if !OnRecord(op) {
		return ""
	}
	s.Operator(t, "organization-update", Object{"org_id": s.Org, "award_programs": 1000})
	path := fmt.Sprintf("/v1/organization/%d/awards/programs", s.Org)
	create := func(collection string, more Object) string {
		path += collection
		body := Merged(awardDraft(api.Operation{Path: path}), more)
		id := Entity(s.Call(t, http.StatusOK, http.MethodPost, path+"/create", body).JSON(t)).ID()
		path += "/" + id
		return id
	}
	ids := []string{create("", Object{"status": "open"})}
	for _, below := range []struct{ name, collection string }{
		{"{categoryId}", "/categories"}, {"{subcategoryId}", "/subcategories"}, {"{roundId}", "/rounds"}, {"{promoCodeId}", "/promo-codes"},
	} {
		if strings.Contains(op.Path, below.name) {
			ids = append(ids, create(below.collection, nil))
		}
	}
	return strings.Join(append(ids, newEntry(t, op, s, ids[0])...), "/")
}

// newEntry creates a submission or a review for an operation on one, and returns the id for the path.
func newEntry(t *testing.T, op api.Operation, s *stacktest.Stack, program string) []string {
	t.Helper()
	if !strings.Contains(op.Path, "{submissionId}") && !strings.Contains(op.Path, "{review") {
		return nil
	}
	person := func() Object {
		return Object{"name": "Sample " + uuid.NewString(), "email": uuid.NewString() + "@example.org"}
	}
	in := Object{"org_id": s.Org, "program_id": program}
	submission := Entity(s.Operator(t, "award-submit", Merged(in, Object{"submitter": person()})))
	if strings.Contains(op.Path, "{submissionId}") {
		return []string{submission.ID()}
	}
	review := Entity(s.Operator(t, "award-assign", Merged(in, Object{
		"submission_id": submission.ID(), "round_id": submission.Text("current_round_id"), "reviewer": person(),
	})))
	if strings.Contains(op.Path, "{reviewId}") {
		return []string{review.ID()}
	}
	return []string{review.At("reviewer.id").(string)}
}
