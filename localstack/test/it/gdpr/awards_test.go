package gdpr_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// command runs a command of the operator on an award program.
func (o *office) command(name, program string, input object) entity {
	o.T.Helper()
	answer, err := o.TryOperator(o.T, name, it.Merged(object{"org_id": o.Org, "program_id": program}, input))
	require.NoError(o.T, err)
	return answer
}

// programs returns the path of the award programs.
func (o *office) programs() string { return fmt.Sprintf("/v1/organization/%d/awards/programs", o.Org) }

// addAwards has the person submit by the address, and by another address as the contact, and review the submission of
// another person. A submission and a program are deleted.
func (p *person) addAwards() {
	p.T.Helper()
	for _, gone := range []bool{false, true} {
		program := entity(p.Call(p.T, 200, http.MethodPost, p.programs(), object{"name": "Best", "status": "open"}).JSON(p.T)).ID()
		round := stacktest.Call[it.Page](p.Stack, 200, http.MethodGet, p.programs()+"/"+program+"/rounds", nil).Results[0].ID()
		question := object{"question": "Why?", "type": "text"}
		card := entity(p.Call(p.T, 200, http.MethodPut, p.programs()+"/"+program+"/rounds/"+round, object{"scorecard": []any{question}}).JSON(p.T))
		submit := func(more object) string {
			return p.command("award-submit", program, it.Merged(object{"answers": []any{
				object{"internal_name": "pitch", "label": "What?", "type": "text", "value": "A " + canary},
				object{"internal_name": "mail", "label": "Whom?", "type": "email", "value": address},
			}}, more)).ID()
		}
		first := submit(object{"submitter": object{"name": canary, "email": address}})
		submit(object{"submitter": object{"name": canary, "email": "second." + canary + "@example.org", "contact_id": p.id}})
		p.Call(p.T, 200, http.MethodPut, p.programs()+"/"+program+"/submissions/"+first, object{"answers": object{"pitch": "More " + canary}})
		p.Call(p.T, 200, http.MethodDelete, p.programs()+"/"+program+"/submissions/"+first, nil)
		other := p.command("award-submit", program, object{"submitter": object{"name": "Twin", "email": "twin@example.org"}}).ID()
		review := p.command("award-assign", program, object{
			"submission_id": other, "round_id": round, "reviewer": object{"name": canary, "email": address},
		})
		p.command("award-review", program, object{"review_id": review.ID(), "comment": "I am " + canary, "scores": []any{
			object{"question_id": card.List("scorecard")[0].ID(), "value": "Since " + canary},
		}})
		if gone {
			p.Call(p.T, 200, http.MethodDelete, p.programs()+"/"+program+"?force=true", nil)
		}
	}
}

// TestAnErasureReachesAwards also where the person is no contact, and leaves other people and all numbers.
func TestAnErasureReachesAwards(t *testing.T) {
	o := newOffice(t)
	program := entity(o.Call(t, 200, http.MethodPost, o.programs(), object{"name": "Best", "status": "open"}).JSON(t)).ID()
	path := o.programs() + "/" + program
	round := stacktest.Call[it.Page](o.Stack, 200, http.MethodGet, path+"/rounds", nil).Results[0].ID()
	submit := func(name string) string {
		return o.command("award-submit", program, object{"submitter": object{"name": name, "email": name + "@example.org"}}).ID()
	}
	ada, grace := submit("ada"), submit("grace")
	review := o.command("award-assign", program, object{
		"submission_id": grace, "round_id": round, "reviewer": object{"name": "ada", "email": "ada@example.org"},
	})
	o.command("award-review", program, object{"review_id": review.ID(), "scores": []any{}})
	before := o.Call(t, 200, http.MethodGet, path+"/submissions/"+grace, nil).JSON(t)
	asked := o.ask(201, asking("erasure", "Ada@Example.org"))
	o.after(asked.ID(), "completed")
	erased := entity(o.Call(t, 200, http.MethodGet, path+"/submissions/"+ada, nil).JSON(t))
	require.Equal(t, []any{nil, "submitted"}, []any{erased["submitter"], erased["status"]})
	shown := entity(o.Call(t, 200, http.MethodGet, path+"/reviews/"+review.ID(), nil).JSON(t))
	require.Equal(t, object{"id": review.At("reviewer.id"), "name": "", "email": ""}, shown["reviewer"])
	require.Equal(t, "completed", shown["status"])
	require.Equal(t, before, o.Call(t, 200, http.MethodGet, path+"/submissions/"+grace, nil).JSON(t))
	it.EngineOf(t, o.Stack).RequireWhole(t)
}
