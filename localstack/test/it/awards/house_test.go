package awards_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/apierr"
)

// The properties of the records (gaps.md 8), beside id and times.
const (
	programShape  = "admin_url blind_review closes_at created_at description id labels name opens_at payment status submission_count type updated_at"
	categoryShape = "created_at description id level name order parent_category_id program_id subcategories submission_count updated_at"
	roundShape    = "closes_at created_at id instructions is_default name opens_at order program_id reviewer_count scorecard status submission_count type updated_at"
	codeShape     = "amount code created_at discount_type expires_at id is_active max_uses program_id starts_at updated_at used_count"
	listedShape   = "average_score category_id created_at current_round_id fee_cents friendly_id id program_id promo_code_id review_count status " +
		"submitted_at submitter updated_at winner_tag"
)

// house is an organization with an open program.
type house struct {
	*it.Client
	// program is the path of the program, id its id, and round the id of the default round.
	program, id, round string
}

// newHouse opens a program; more are its further properties.
func newHouse(c *it.Client, more object) *house {
	c.T.Helper()
	h := &house{Client: c}
	made := h.at(200, http.MethodPost, h.programs(), it.Merged(object{"name": "Best of the year", "status": "open"}, more))
	return h.of(made.ID())
}

// of returns the house at another program.
func (h *house) of(program string) *house {
	h.T.Helper()
	other := &house{Client: h.Client, id: program}
	other.program = other.programs() + "/" + program
	other.round = other.list("/rounds")[0].ID()
	return other
}

func startHouse(t *testing.T, more object) *house {
	t.Helper()
	return newHouse(&it.Client{Stack: stacktest.Start(t), T: t}, more)
}

func (h *house) programs() string { return fmt.Sprintf("/v1/organization/%d/awards/programs", h.Org) }

// at sends a request to a whole path.
func (h *house) at(status int, method, path string, body any, header ...string) entity {
	h.T.Helper()
	return h.Call(h.T, status, method, path, stacktest.WithHeaders(body, header...)).JSON(h.T)
}

// do sends a request below the program.
func (h *house) do(status int, method, path string, body any, header ...string) entity {
	h.T.Helper()
	return h.at(status, method, h.program+path, body, header...)
}

func (h *house) get(path string) entity {
	h.T.Helper()
	return h.do(200, http.MethodGet, path, nil)
}

func (h *house) make(path string, body object) entity {
	h.T.Helper()
	return h.do(200, http.MethodPost, path, body)
}

// list returns all records of a collection below the program.
func (h *house) list(path string) []entity {
	h.T.Helper()
	return stacktest.Call[it.Page](h.Stack, 200, http.MethodGet, h.program+path, nil).Results
}

// command runs a command on the program; code is that of its refusal, empty for none.
func (h *house) command(code, name string, input object) entity {
	h.T.Helper()
	answer, refusal := h.try(name, input)
	if code == "" {
		require.Nil(h.T, refusal)
		return answer
	}
	require.NotNil(h.T, refusal, "%v", answer)
	require.Equal(h.T, code, refusal.Code, refusal.Message)
	if field, ok := refusal.Details["field"].(string); ok {
		return entity{"field": field}
	}
	return entity{}
}

func (h *house) try(name string, input object) (entity, *apierr.Error) {
	h.T.Helper()
	answer, err := h.TryOperator(h.T, name, it.Merged(object{"org_id": h.Org, "program_id": h.id}, input))
	if err == nil {
		return answer, nil
	}
	var refusal *apierr.Error
	require.True(h.T, errors.As(err, &refusal), "%v", err)
	return nil, refusal
}

// entry is a submission of a person.
func entry(name string, more ...object) object {
	return it.Merged(object{"submitter": object{"name": name, "email": name + "@example.org"}}, more...)
}

// submit makes a submission.
func (h *house) submit(name string, more ...object) entity {
	h.T.Helper()
	return h.command("", "award-submit", entry(name, more...))
}

// assign makes a review of a submission in a round.
func (h *house) assign(code string, submission, round, reviewer string) entity {
	h.T.Helper()
	return h.command(code, "award-assign", object{
		"submission_id": submission, "round_id": round, "reviewer": object{"name": reviewer, "email": reviewer + "@jury.example"},
	})
}

// scorecard makes the scorecard of a round and returns the ids of the questions.
func (h *house) scorecard(round string, questions ...object) (ids []string) {
	h.T.Helper()
	changed := h.do(200, http.MethodPut, "/rounds/"+round, object{"scorecard": questions})
	return it.Texts(changed.List("scorecard"), "id")
}

// score completes a review with the values of questions.
func (h *house) score(code, review string, scores ...any) entity {
	h.T.Helper()
	list := []object{}
	for i := 0; i < len(scores); i += 2 {
		list = append(list, object{"question_id": scores[i], "value": scores[i+1]})
	}
	return h.command(code, "award-review", object{"review_id": review, "scores": list})
}

// confirm deletes a record that needs force, and expects the reason and the count without.
func (h *house) confirm(path, query, reason string, count int) entity {
	h.T.Helper()
	refusal := h.do(409, http.MethodDelete, path, nil)
	require.Equal(h.T, object{"name": "ConflictError", "code": "CONFIRMATION_REQUIRED"}, it.Pick(refusal, "name", "code"))
	require.Equal(h.T, object{"reason": reason, "count": float64(count)}, refusal["details"])
	deleted := h.do(200, http.MethodDelete, path+query, nil)
	require.NotEmpty(h.T, deleted["deleted_at"])
	return deleted
}
