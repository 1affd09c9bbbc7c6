package gdpr_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/award"
	"lectern/shared/resource"
	"lectern/shared/table"
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

// newProgram makes an open award program, and returns the id.
func (o *office) newProgram() string {
	o.T.Helper()
	return entity(o.Call(o.T, 200, http.MethodPost, o.programs(), object{"name": "Best", "status": "open"}).JSON(o.T)).ID()
}

// addAwards has the person submit by the address, and by another address as the contact, and review the submission of
// another person. A submission and a program are deleted.
func (p *person) addAwards() {
	p.T.Helper()
	for _, gone := range []bool{false, true} {
		program := p.newProgram()
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
	o.Inside(t, slow)
	program := o.newProgram()
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

// TestAnErasureFindsAnEarlierAddress of the contact in submissions and reviews. A submitter must be sent again for a draft
// that has lost its submitter.
func TestAnErasureFindsAnEarlierAddress(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	program := o.newProgram()
	path := o.programs() + "/" + program
	round := stacktest.Call[it.Page](o.Stack, 200, http.MethodGet, path+"/rounds", nil).Results[0].ID()
	person := o.Create(200, object{"email": "old@example.org"}).ID()
	submitter := object{"submitter": object{"name": "Ada", "email": "OLD@example.org"}}
	draft := o.command("award-submit", program, it.Merged(submitter, object{"status": "draft"})).ID()
	other := o.command("award-submit", program, object{"submitter": object{"name": "Grace", "email": "grace@example.org"}}).ID()
	review := o.command("award-assign", program, object{
		"submission_id": other, "round_id": round, "reviewer": object{"name": "Ada", "email": "Old@example.org"},
	}).ID()
	o.Put(200, person, object{"email": "new@example.org"})
	archive := o.archive(200, o.after(o.ask(201, asking("access", "new@example.org")).ID(), "completed"))
	submissions, reviews := archive.List("award_submissions"), archive.List("award_reviews")
	require.Equal(t, [][]string{{draft}, {review}}, [][]string{it.Texts(submissions, "id"), it.Texts(reviews, "id")})
	require.Equal(t, []any{"Ada", "assigned"}, []any{submissions[0].At("submitter.name"), reviews[0]["status"]})
	o.after(o.ask(201, asking("erasure", "new@example.org")).ID(), "completed")
	require.Nil(t, o.Call(t, 200, http.MethodGet, path+"/submissions/"+draft, nil).JSON(t)["submitter"])
	require.Equal(t, "", entity(o.Call(t, 200, http.MethodGet, path+"/reviews/"+review, nil).JSON(t)).At("reviewer.email"))
	seen := 0
	for key, item := range it.EngineOf(t, o.Stack).Dump(t).Below(table.Org(o.Org) + "#F") {
		if strings.Contains(key.SK, "#award_") {
			seen++
			require.NotContains(t, item.Data, person, "%s %s", key.PK, key.SK)
		}
	}
	require.GreaterOrEqual(t, seen, 5, "a program, a round, two submissions and a review")
	send := it.Merged(object{"org_id": o.Org, "program_id": program, "submission_id": draft})
	_, err := o.TryOperator(t, "award-submit", send)
	require.ErrorContains(t, err, "submitter is required")
	require.Equal(t, "submitted", o.command("award-submit", program, it.Merged(send, submitter))["status"])
}

// TestALongErasureOfAwardsGoesOnInTheNextMessage: an invocation that soon ends does at least one record.
func TestALongErasureOfAwardsGoesOnInTheNextMessage(t *testing.T) {
	b := newBench(t)
	o := &office{b.Contacts}
	program := o.newProgram()
	for range 3 {
		o.command("award-submit", program, object{"submitter": object{"name": canary, "email": address}})
	}
	require.Equal(t, 8, b.eraseInParts(), "two rounds of four parts")
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}

// submitted submits to a program in a name, with the contact, and returns the stored item.
func (b *bench) submitted(program, name string) table.Item {
	b.T.Helper()
	o := &office{b.Contacts}
	submitter := object{"name": name, "email": name + "@example.org", "contact_id": b.id}
	id := o.command("award-submit", program, object{"submitter": submitter}).ID()
	stored, err := b.Table(b.T).Get(b.T.Context(), resource.Owner{Org: b.Org, Parent: program}.Key("award_submission", id))
	require.NoError(b.T, err)
	return stored
}

// put stores an item as it is.
func (b *bench) put(stored table.Item) {
	b.T.Helper()
	require.NoError(b.T, b.Table(b.T).Transact(b.T.Context(), table.Put(stored)))
}

// damage makes an item unreadable.
func (b *bench) damage(stored table.Item) {
	b.T.Helper()
	stored.Data = []byte("{")
	b.put(stored)
}

// TestADamagedAwardIsNamed in an archive, which has the other submissions.
func TestADamagedAwardIsNamed(t *testing.T) {
	b := newBench(t)
	o := &office{b.Contacts}
	program := o.newProgram()
	b.damage(b.submitted(program, "twin"))
	b.submitted(program, canary)
	asked, body := b.asked("access")
	require.Zero(t, b.invoke(body, 1))
	archive := o.archive(200, b.request(asked))
	require.Len(t, archive.List("award_submissions"), 1)
	require.NotContains(t, archive.List("award_submissions")[0], "review_count")
	require.Equal(t, []any{"award_submissions", "award_reviews"}, archive["omitted"])
}

// TestAnArchiveHasAsManyAwardsAsFit: the search stops there, and reports that the person has more.
func TestAnArchiveHasAsManyAwardsAsFit(t *testing.T) {
	b := newBench(t)
	program := (&office{b.Contacts}).newProgram()
	of := award.Search{
		Store: resource.Store{Table: b.Table(t), Now: time.Now}, Org: b.Org,
		Person: award.Person{Contacts: map[string]award.Next{b.id: {}}},
	}
	length := 0
	for range 3 {
		length += len(b.submitted(program, canary).Data)
	}
	all, err := of.Records(t.Context(), length)
	require.NoError(t, err)
	require.Equal(t, []any{3, false}, []any{len(all.Submissions), all.Cut})
	some, err := of.Records(t.Context(), length-1)
	require.NoError(t, err)
	require.Equal(t, []any{2, true}, []any{len(some.Submissions), some.Cut})
}

// TestADamagedAwardStopsNothingElse: the person is erased everywhere else, also where each message does one record. The
// erasure ends once the records are restored. Repetitions do not tell the events again.
func TestADamagedAwardStopsNothingElse(t *testing.T) {
	for first := range 3 {
		for second := range 3 {
			b := newBench(t)
			program := (&office{b.Contacts}).newProgram()
			var all []table.Item
			for range 3 {
				all = append(all, b.submitted(program, canary))
			}
			slices.SortFunc(all, func(x, y table.Item) int { return strings.Compare(x.SK, y.SK) })
			b.damage(all[first])
			b.damage(all[second])
			id, body := b.asked("erasure")
			failed := b.follow(body)
			require.NotNil(t, failed)
			require.Contains(t, string(failed), `"settled":true`)
			require.Len(t, found(it.EngineOf(t, b.Stack).Dump(t)), 1, "the request itself")
			require.NotEqual(t, "completed", b.request(id)["status"])
			told := b.told()
			require.Equal(t, failed, b.follow(failed), "the next try")
			b.put(all[first])
			require.Equal(t, second == first, b.follow(failed) == nil)
			if second != first {
				b.put(all[second])
				require.Nil(t, b.follow(failed))
			}
			require.Equal(t, "completed", b.request(id)["status"])
			require.Equal(t, told, b.told())
			require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
		}
	}
}

// TestADamagedAwardOfAContactWithANewPerson is erased as soon as it is restored, also if it is deleted then. The submissions of
// the new person stay, also a former draft of somebody else.
func TestADamagedAwardOfAContactWithANewPerson(t *testing.T) {
	b := newBench(t)
	o := &office{b.Contacts}
	program := o.newProgram()
	old := b.submitted(program, canary)
	draft := o.command("award-submit", program, object{"status": "draft", "submitter": object{"name": "x", "email": "x@example.org"}}).ID()
	b.damage(old)
	id, body := b.asked("erasure")
	failed := b.follow(body)
	require.NotNil(t, failed)
	b.Put(200, b.id, object{"email": "new@example.org", "first_name": "New"})
	next := b.submitted(program, "new")
	o.command("award-submit", program, object{"submission_id": draft, "submitter": object{"name": "New", "email": "new@example.org"}})
	b.put(old)
	o.Call(t, 200, http.MethodDelete, o.programs()+"/"+program+"/submissions/"+old.SK[strings.LastIndex(old.SK, "#")+1:], nil)
	require.Nil(t, b.follow(failed))
	require.Equal(t, "completed", b.request(id)["status"])
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
	kept, err := b.Table(t).Get(t.Context(), next.Key)
	require.NoError(t, err)
	require.Equal(t, next, kept)
	path := o.programs() + "/" + program + "/submissions/" + draft
	require.Equal(t, "New", entity(o.Call(t, 200, http.MethodGet, path, nil).JSON(t)).At("submitter.name"))
}
