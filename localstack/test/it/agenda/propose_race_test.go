package agenda_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/functions/agendaplanning"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/table"
)

// proposing is a draft that places all sessions on the days before.
type proposing struct {
	*committing
	// past serves the group by a clock of a time when each lock of a proposal has ended.
	past *it.Client
}

// The first hours of pairs of days, by name: a proposal places the sessions on two days.
const onBefore, onFirst, onSecond, onSingle = 0, 48, 96, 144

var daysOf = map[int]string{onBefore: "before", onFirst: "first", onSecond: "second", onSingle: "single"}

// newProposing makes sessions that a proposal writes in two transactions.
func newProposing(t *testing.T) *proposing {
	t.Helper()
	p := newPlanner(t)
	c := &committing{planner: p}
	var sessions []any
	for range 60 {
		sessions = append(sessions, object{"title": "Talk"})
	}
	c.sessions = p.CreateAll("sessions", sessions)
	return &proposing{c, c.ServeGroup(agendaplanning.Group, func(e *api.Env) {
		now := e.Now
		e.Now = func() time.Time { return now().Add(time.Hour) }
	})}
}

// renew makes a new draft in place of the last one.
func (p *proposing) renew() {
	p.T.Helper()
	if p.draft != "" {
		p.TrySend(p.T, http.MethodDelete, p.EventPath(p.draft+"?force=true"), nil)
	}
	p.draft = newDraft(p.Client, "Proposed")
	var operations []object
	for i, id := range p.sessions {
		at := p.at(float64(onBefore+i%48), float64(onBefore+i%48+1), []string{"Big", "Small"}[i/48])
		operations = append(operations, object{"action": "create", "data": it.Merged(at, object{"session_id": id})})
	}
	p.placed = nil
	bulk := p.Do(200, http.MethodPost, p.draft+"/sessions/bulk", object{"operations": operations})
	for _, one := range bulk.List("results") {
		p.placed = append(p.placed, one.At("data").(map[string]any))
	}
}

// proposeOn proposes places on the two days from an hour.
func (p *proposing) proposeOn(at *it.Client, from float64) stacktest.Answer {
	p.T.Helper()
	return at.TrySend(p.T, http.MethodPost, p.EventPath(p.draft+"/propose"), wanted(object{
		"days": []any{day(from, from+24), day(from+24, from+48)}, "slot_minutes": 60, "time_limit_ms": 150,
	}))
}

// commit commits the draft.
func (p *proposing) commit(at *it.Client) stacktest.Answer {
	p.T.Helper()
	return at.TrySend(p.T, http.MethodPost, p.EventPath(p.draft+"/commit"), nil)
}

// days returns the names of the days on which the draft places sessions, and that of the session of the last placement;
// nothing for a deleted draft or placement.
func (p *proposing) days() string {
	p.T.Helper()
	if p.TrySend(p.T, http.MethodGet, p.EventPath(p.draft), nil).Status == 404 {
		return ""
	}
	placed := p.planner.placed(p.draft)
	last := ""
	if at := placed[p.last().Text("session_id")]; at != nil {
		last = dayOf(p.T, at)
	}
	delete(placed, p.last().Text("session_id"))
	names := map[string]bool{}
	for _, at := range placed {
		names[dayOf(p.T, at)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " and ") + ", " + last
}

// last returns the placement that a proposal writes last: proposals go by session.
func (p *proposing) last() entity {
	return slices.MaxFunc(p.placed, func(a, b entity) int {
		return strings.Compare(a.Text("session_id"), b.Text("session_id"))
	})
}

// dayOf returns the name of the days of a place.
func dayOf(t testing.TB, at object) string {
	t.Helper()
	starts, err := time.Parse(time.RFC3339, at["starts_at"].(string))
	require.NoError(t, err)
	base, err := time.Parse(time.RFC3339, hour(0))
	require.NoError(t, err)
	hours := int(starts.Sub(base).Hours())
	return daysOf[hours-hours%48]
}

// outcome returns ok, or the code of a refusal.
func outcome(t testing.TB, answer stacktest.Answer) string {
	t.Helper()
	if code, refused := answer.JSON(t)["code"].(string); refused {
		return code
	}
	return "ok"
}

// requireLive commits the draft, unless others have, and checks that each session is where the draft has placed it, and
// that the draft keeps the time of the commit.
func (p *proposing) requireLive() {
	p.T.Helper()
	require.Contains(p.T, []string{"ok", "DRAFT_COMMITTED"}, outcome(p.T, p.commit(p.Client)), "the lock is released")
	for session, at := range p.planner.placed(p.draft) {
		require.Equal(p.T, at, p.isAt(session))
	}
	changes, _ := p.changesOf(p.draft)
	require.Greater(p.T, changes["committed_at"], p.Do(200, http.MethodGet, p.draft, nil)["created_at"])
}

// requireClosed checks that no proposal has unlocked a draft after its commit.
func (p *proposing) requireClosed() {
	p.T.Helper()
	unlocked, changes := map[string]int64{}, it.ChangesOf(p.T, p.Stack)
	for _, r := range changes {
		if r.Action == "agenda_draft.unlocked" {
			unlocked[r.RecordID] = max(unlocked[r.RecordID], r.Version)
		}
	}
	for _, r := range changes {
		if r.Action == "agenda_draft.committed" {
			require.Less(p.T, unlocked[r.RecordID], r.Version)
		}
	}
}

// TestOthersChangeADraftDuringAProposal, at any call of the table: the draft has the proposal as a whole or nothing of
// it, and no acknowledged change is lost. The act of the other comes before the draft is read, during the search, and
// while the draft is locked, and has another outcome each time: that of the act, that of the proposal, and the days on
// which the draft then places the sessions, and the last session.
func TestOthersChangeADraftDuringAProposal(t *testing.T) {
	for name, test := range map[string]struct {
		act  func(*proposing) stacktest.Answer
		want []string
	}{
		"a commit": {
			func(p *proposing) stacktest.Answer { return p.commit(p.Client) },
			[]string{"ok, DRAFT_COMMITTED: before, before", "DRAFT_BUSY, ok: first, first"},
		},
		"a proposal": {
			func(p *proposing) stacktest.Answer { return p.proposeOn(p.Client, onSecond) },
			[]string{"ok, ok: first, first", "ok, DRAFT_BUSY: second, second", "DRAFT_BUSY, ok: first, first"},
		},
		"a placement": {
			func(p *proposing) stacktest.Answer {
				body := object{"starts_at": hour(onSingle), "ends_at": hour(onSingle + 1)}
				return p.TrySend(p.T, http.MethodPut, p.EventPath(p.draft+"/sessions/"+p.last().ID()), body)
			},
			[]string{"ok, ok: first, first", "ok, DRAFT_BUSY: before, single", "DRAFT_BUSY, ok: first, first"},
		},
		"a placement is taken out": {
			func(p *proposing) stacktest.Answer {
				return p.TrySend(p.T, http.MethodDelete, p.EventPath(p.draft+"/sessions/"+p.last().ID()), nil)
			},
			[]string{"ok, ok: first, first", "ok, DRAFT_BUSY: before, ", "DRAFT_BUSY, ok: first, first"},
		},
		"a bulk of placements": {
			func(p *proposing) stacktest.Answer {
				update := object{"action": "update", "id": p.last().ID(), "data": object{"room_id": nil}}
				body := object{"operations": []object{update}}
				bulk := p.TrySend(p.T, http.MethodPost, p.EventPath(p.draft+"/sessions/bulk"), body)
				if failed, is := entity(bulk.JSON(p.T)).List("results")[0]["error"]; is {
					bulk.Body, _ = json.Marshal(failed)
				}
				return bulk
			},
			[]string{"ok, ok: first, first", "ok, DRAFT_BUSY: before, before", "DRAFT_BUSY, ok: first, first"},
		},
		"another name": {
			func(p *proposing) stacktest.Answer {
				return p.TrySend(p.T, http.MethodPut, p.EventPath(p.draft), object{"name": "Renamed"})
			},
			[]string{"ok, ok: first, first"},
		},
		"a deletion": {
			func(p *proposing) stacktest.Answer {
				return p.TrySend(p.T, http.MethodDelete, p.EventPath(p.draft), nil)
			},
			[]string{"ok, NOT_FOUND: ", "ok, ok: "},
		},
		// The commit takes a part, but the proposal writes no more after it.
		"a commit after the time of the lock": {
			func(p *proposing) stacktest.Answer { return p.commit(p.past) },
			[]string{
				"ok, DRAFT_COMMITTED: before, before", "ok, DRAFT_COMMITTED: before and first, before", "ok, ok: first, first",
			},
		},
		"a proposal after the time of the lock": {
			func(p *proposing) stacktest.Answer { return p.proposeOn(p.past, onSecond) },
			[]string{"ok, ok: first, first", "ok, DRAFT_BUSY: second, second", "ok, ok: second, second"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProposing(t)
			var outcomes []string
			it.UntilDone(func(calls int64) int {
				p.renew()
				var other string
				process, at := p.through(calls, func() { other = outcome(t, test.act(p)) })
				proposal := outcome(t, p.proposeOn(at, onFirst))
				if process.Left() > 0 {
					return 0
				}
				days := p.days()
				outcomes = append(outcomes, other+", "+proposal+": "+days)
				if days != "" {
					p.requireLive()
				}
				return 1
			})
			slices.Sort(outcomes)
			require.ElementsMatch(t, test.want, slices.Compact(outcomes))
			p.requireClosed()
		})
	}
}

// TestAProposalThatEndsAnywhere, after any number of calls of the table: until the time of the lock nobody can commit a
// part of it, and then somebody can go on.
func TestAProposalThatEndsAnywhere(t *testing.T) {
	p := newProposing(t)
	var outcomes []string
	it.UntilDone(func(calls int64) int {
		p.renew()
		process, at := p.through(calls, nil)
		p.proposeOn(at, onFirst)
		if process.Left() > 0 {
			return 0
		}
		days, commit := p.days(), outcome(t, p.commit(p.Client))
		outcomes = append(outcomes, commit+": "+days)
		if commit == "DRAFT_BUSY" {
			require.Equal(t, "DRAFT_BUSY", outcome(t, p.proposeOn(p.Client, onSecond)))
			require.Equal(t, "ok", outcome(t, p.proposeOn(p.past, onSecond)))
			require.Equal(t, "ok", outcome(t, p.commit(p.Client)))
			require.Equal(t, "second, second", p.days())
		}
		p.requireLive()
		return 1
	})
	slices.Sort(outcomes)
	require.ElementsMatch(t, []string{
		"ok: before, before", "DRAFT_BUSY: before, before", "DRAFT_BUSY: before and first, before",
		"DRAFT_BUSY: first, first", "ok: first, first",
	}, slices.Compact(outcomes))
}

// refusing is a client that refuses the writes of placements.
type refusing struct{ table.Client }

func (c refusing) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, item := range in.TransactItems {
		if item.Update != nil && strings.Contains(it.StringsOf(item.Update.Key), "draft_session") {
			return nil, errors.New("refused")
		}
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// TestAFailedProposalReleasesTheDraft for others, at once.
func TestAFailedProposalReleasesTheDraft(t *testing.T) {
	p := newProposing(t)
	p.renew()
	process, at := p.through(math.MaxInt64, nil)
	process.Client = refusing{process.Client}
	require.GreaterOrEqual(t, p.proposeOn(at, onFirst).Status, 500)
	require.Equal(t, "before, before", p.days())
	require.Equal(t, "ok", outcome(t, p.proposeOn(p.Client, onSecond)))
	p.requireLive()
}

// TestALockIsNotPublished, but is in the audit trail, and changes the draft's updated_at alone.
func TestALockIsNotPublished(t *testing.T) {
	p := newProposing(t)
	p.renew()
	was := p.Do(200, http.MethodGet, p.draft, nil)
	require.Equal(t, "ok", outcome(t, p.proposeOn(p.Client, onFirst)))
	is := p.Do(200, http.MethodGet, p.draft, nil)
	require.Greater(t, is["updated_at"], was["updated_at"])
	require.Equal(t, it.Merged(object(was), it.Pick(is, "updated_at")), object(is))
	var actions []string
	for _, r := range it.ChangesOf(t, p.Stack) {
		if r.RecordID == was.ID() {
			actions = append(actions, r.Action)
			require.Empty(t, r.Kinds)
		}
	}
	require.Equal(t, []string{"agenda_draft.created", "agenda_draft.locked", "agenda_draft.unlocked"}, actions)
}
