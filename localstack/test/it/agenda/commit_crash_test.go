package agenda_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/agendaplanning"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// committing is a draft of sessions that begin at the same hour and are placed at another one.
type committing struct {
	*planner
	draft    string
	sessions []string
	placed   []entity
}

// The hours of a committing before and after the commit, and that of a session that a test moves.
const was, is, elsewhere = 9, 15, 20

// newCommitting makes sessions and a draft that places them.
func (p *planner) newCommitting(sessions int) *committing {
	p.T.Helper()
	c := &committing{planner: p, draft: newDraft(p.Client, "Plan B")}
	var operations []object
	for i := range sessions {
		id := p.place(fmt.Sprint("Talk ", i), "Big", was, was+1, nil)
		c.sessions = append(c.sessions, id)
		operations = append(operations, object{"action": "create", "data": it.Merged(p.at(is, is+1, "Small"), object{"session_id": id})})
	}
	bulk := p.Do(200, http.MethodPost, c.draft+"/sessions/bulk", object{"operations": operations})
	for _, one := range bulk.List("results") {
		c.placed = append(c.placed, one.At("data").(map[string]any))
	}
	return c
}

// through serves the group by a process that ends, or calls hook, at a call of the table.
func (c *committing) through(calls int64, hook func()) (*it.Process, *it.Client) {
	c.T.Helper()
	process, env := it.StartProcess(c.T, c.Stack, nil, calls)
	process.Hook = hook
	return process, c.ServeGroup(agendaplanning.Group, func(e *api.Env) { e.Table = env.Table })
}

// tryCommit commits the draft by a client, and returns the answer of any status.
func (c *committing) tryCommit(by *it.Client) stacktest.Answer {
	return by.TrySend(c.T, http.MethodPost, c.EventPath(c.draft+"/commit"), nil)
}

// hours returns the hours at which the sessions are that are left.
func (c *committing) hours() (hours []string) {
	c.T.Helper()
	for _, id := range c.sessions {
		at := c.TrySend(c.T, http.MethodGet, c.EventPath("/sessions/"+id), nil)
		if at.Status == 200 {
			hours = append(hours, at.JSON(c.T)["starts_at"].(string))
		}
	}
	slices.Sort(hours)
	return slices.Compact(hours)
}

// requireOneUpdateEach checks that each session was changed once, published as session.updated, in the name of one
// request of the token, whoever has finished the commit.
func (c *committing) requireOneUpdateEach() {
	c.T.Helper()
	number, requests := map[string]int{}, map[string]bool{}
	for _, r := range it.ChangesOf(c.T, c.Stack) {
		if r.Version == 1 || !slices.Contains(c.sessions, r.RecordID) {
			continue
		}
		require.Equal(c.T, []any{"session.updated", "api_token", "public_api"}, []any{r.Action, r.Actor.Type, r.Source})
		require.Len(c.T, r.Kinds, 1)
		require.Equal(c.T, "session.updated", r.Kinds[0].Name)
		number[r.RecordID]++
		requests[r.RequestID] = true
	}
	require.Len(c.T, requests, 1)
	require.Len(c.T, number, len(c.sessions))
	for _, n := range number {
		require.Equal(c.T, 1, n)
	}
}

// requireWhole checks that the commit has changed each session once, and that the draft says so.
func (c *committing) requireWhole() {
	c.T.Helper()
	require.EqualValues(c.T, len(c.sessions), c.Do(200, http.MethodGet, c.draft, nil)["applied"])
	_, by := c.changesOf(c.draft)
	require.Len(c.T, by, len(c.sessions))
	require.Equal(c.T, []string{hour(is)}, c.hours())
	c.requireOneUpdateEach()
}

// TestACommitThatEndsAnywhere, after any number of calls of the table, is whole for the next reader of the draft: all
// sessions are where they were, or all are where the draft has placed them.
func TestACommitThatEndsAnywhere(t *testing.T) {
	p := newPlanner(t)
	finished := map[string]int{}
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(30)
		_, at := c.through(calls, nil)
		answer := c.tryCommit(at)
		half := len(c.hours()) > 1
		var after entity
		switch calls % 3 {
		case 0:
			after = c.Do(200, http.MethodGet, c.draft, nil)
		case 1:
			changes, by := c.changesOf(c.draft)
			require.Equal(t, changes["status"] == "committed", len(by) == 30 && changes["committed_at"] != nil, changes)
			after = c.Do(200, http.MethodGet, c.draft, nil)
		default:
			for _, d := range c.ListSettings("/agenda-drafts") {
				if d.ID() == strings.TrimPrefix(c.draft, "/agenda-drafts/") {
					after = d
				}
			}
		}
		if after["status"] == "committed" {
			require.EqualValues(t, 30, after["applied"])
			require.Equal(t, []string{hour(is)}, c.hours())
		} else {
			require.Equal(t, "draft", after["status"])
			require.Equal(t, []string{hour(was)}, c.hours())
		}
		finished[fmt.Sprint(after["status"], " half ", half)]++
		again := c.tryCommit(c.Client)
		require.Equal(t, after["status"] == "committed", again.Status == 409, again.Status)
		require.Equal(t, []string{hour(is)}, c.hours())
		c.requireOneUpdateEach()
		if answer.Status == 200 {
			return 0
		}
		return 1
	})
	require.Positive(t, finished["draft half false"], finished)
	require.Positive(t, finished["committed half true"], finished)
}

// TestManyReadersFinishACommit at one time: each session changes once, and each reader sees the whole commit.
func TestManyReadersFinishACommit(t *testing.T) {
	p := newPlanner(t)
	half := 0
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(30)
		_, at := c.through(calls, nil)
		commit := c.tryCommit(at)
		if len(c.hours()) > 1 {
			half++
			answers := make([]stacktest.Answer, 8)
			it.Concurrently(len(answers), func(reader int) {
				answers[reader] = c.TrySend(t, http.MethodGet, c.EventPath(c.draft), nil)
			})
			for _, answer := range answers {
				require.EqualValues(t, 30, answer.JSON(t)["applied"], "%d", answer.Status)
			}
			c.requireWhole()
		}
		return map[bool]int{true: 0, false: 1}[commit.Status == 200 || half == 3]
	})
	require.Positive(t, half)
}

// TestARepeatedCommitFinishesTheFirst, and is no error although the draft is committed already.
func TestARepeatedCommitFinishesTheFirst(t *testing.T) {
	p := newPlanner(t)
	repeated := 0
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(3)
		_, at := c.through(calls, nil)
		first := c.tryCommit(at)
		if first.Status == 200 {
			return 0
		}
		half := len(c.hours()) > 1 || c.hours()[0] == hour(is)
		again := c.tryCommit(c.Client)
		require.Equal(t, []string{hour(is)}, c.hours())
		if again.Status != 200 {
			require.Equal(t, 409, again.Status)
			require.True(t, half, "the first commit had ended")
		}
		repeated++
		return 1
	})
	require.Greater(t, repeated, 5)
}

// TestACommitWithoutTime is a 503, also half done, and the same request again finishes it.
func TestACommitWithoutTime(t *testing.T) {
	p := newPlanner(t)
	half := 0
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(60)
		late := &atomic.Bool{}
		process, env := it.StartProcess(t, c.Stack, nil, calls)
		process.Hook = func() { late.Store(true) }
		of := c.EnvOf(t, agendaplanning.Group.Name)
		of.Memory, of.Table = new(api.Memory), env.Table
		group := agendaplanning.Group.Handler(of)
		door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			group.ServeHTTP(w, r.WithContext(it.Ending{Context: r.Context(), Late: late}))
		}))
		defer door.Close()
		at := *c.Stack
		at.URL = door.URL
		commit := func(by *stacktest.Stack) stacktest.Answer {
			return by.TrySend(t, http.MethodPost, c.EventPath(c.draft+"/commit"), stacktest.WithHeaders(nil, "Idempotency-Key", c.draft))
		}
		first := commit(&at)
		require.Contains(t, []int{200, 503}, first.Status, "%s", first.Body)
		if first.Status == 503 && len(c.hours()) > 1 {
			half++
			again := commit(c.Stack)
			require.Equal(t, 200, again.Status, "%s", again.Body)
			require.EqualValues(t, 60, again.JSON(t)["applied"])
			c.requireWhole()
		}
		return map[bool]int{true: 0, false: 1}[first.Status == 200 || half == 2]
	})
	require.Positive(t, half)
}

// requireBlocked checks that a commit names the first session as blocked, be it refused or done, unless the commit had
// changed the session before others did.
func (c *committing) requireBlocked(commit stacktest.Answer, reason string) {
	c.T.Helper()
	changes, by := c.changesOf(c.draft)
	if first := by[c.sessions[0]]["blocked"]; commit.Status == 409 || first != nil {
		require.Equal(c.T, []any{reason, 1.0}, []any{first, changes.At("summary.blocked")}, "%d", commit.Status)
	}
	if commit.Status == 200 {
		require.InDelta(c.T, 3-changes.At("summary.blocked").(float64), commit.JSON(c.T)["applied"], 0)
	}
}

// TestOthersChangeWhatIsCommitted at any moment of the commit: no acknowledged change is lost, and the commit is whole
// without the sessions that others moved or deleted.
func TestOthersChangeWhatIsCommitted(t *testing.T) {
	for name, act := range map[string]func(*committing) (check func(commit stacktest.Answer)){
		"a session is moved": func(c *committing) func(stacktest.Answer) {
			c.Put(200, c.sessions[0], object{"starts_at": hour(elsewhere), "ends_at": hour(elsewhere + 1)})
			return func(commit stacktest.Answer) {
				require.Equal(c.T, hour(elsewhere), c.Get(200, c.sessions[0])["starts_at"], "%d", commit.Status)
				c.requireBlocked(commit, "session_moved")
				c.sessions = c.sessions[1:]
			}
		},
		"a session is deleted": func(c *committing) func(stacktest.Answer) {
			c.Delete(200, c.sessions[0])
			return func(commit stacktest.Answer) {
				c.Get(404, c.sessions[0])
				c.requireBlocked(commit, "session_deleted")
			}
		},
		"a placement changes": func(c *committing) func(stacktest.Answer) {
			path := c.draft + "/sessions/" + c.placed[0].ID()
			put := c.TrySend(c.T, http.MethodPut, c.EventPath(path), object{"starts_at": hour(elsewhere), "ends_at": hour(elsewhere + 1)})
			return func(commit stacktest.Answer) {
				want := map[int]string{200: hour(elsewhere), 409: hour(is)}[put.Status]
				require.Equal(c.T, want, c.Get(200, c.sessions[0])["starts_at"], "%d", commit.Status)
				c.sessions = c.sessions[1:]
			}
		},
		"a placement is taken out": func(c *committing) func(stacktest.Answer) {
			taken := c.TrySend(c.T, http.MethodDelete, c.EventPath(c.draft+"/sessions/"+c.placed[0].ID()), nil)
			return func(commit stacktest.Answer) {
				want := map[int]string{200: hour(was), 409: hour(is)}[taken.Status]
				require.Equal(c.T, want, c.Get(200, c.sessions[0])["starts_at"], "%d", commit.Status)
				c.sessions = c.sessions[1:]
			}
		},
		"the draft is deleted": func(c *committing) func(stacktest.Answer) {
			gone := c.TrySend(c.T, http.MethodDelete, c.EventPath(c.draft), nil)
			return func(commit stacktest.Answer) {
				require.Contains(c.T, []int{200, 409}, gone.Status)
				require.Equal(c.T, gone.Status == 200, commit.Status == 404)
			}
		},
		"the draft is deleted with force": func(c *committing) func(stacktest.Answer) {
			c.Do(200, http.MethodDelete, c.draft+"?force=true", nil)
			return func(commit stacktest.Answer) { require.Contains(c.T, []int{200, 404}, commit.Status) }
		},
		"another commit": func(c *committing) func(stacktest.Answer) {
			other := c.tryCommit(c.Client)
			return func(commit stacktest.Answer) {
				statuses := []int{other.Status, commit.Status}
				require.Contains(c.T, statuses, 200)
				require.Subset(c.T, []int{200, 409}, statuses)
				c.requireWhole()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(t)
			it.UntilDone(func(calls int64) int {
				c := p.newCommitting(3)
				var check func(stacktest.Answer)
				process, at := c.through(calls, func() { check = act(c) })
				commit := c.tryCommit(at)
				if process.Left() > 0 {
					return 0
				}
				check(commit)
				hours := c.hours()
				require.Len(t, hours, 1, "%d", commit.Status)
				return 1
			})
		})
	}
}

// TestASessionGrowsDuringACommit: it blocks the commit before the claim, and stays where it is after the claim.
func TestASessionGrowsDuringACommit(t *testing.T) {
	p := newPlanner(t)
	outcomes := map[string]bool{}
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(3)
		process, at := c.through(calls, func() { c.grow(c.sessions[0]) })
		commit := c.tryCommit(at)
		if process.Left() > 0 {
			return 0
		}
		c.requireBlocked(commit, "session_too_large")
		_, by := c.changesOf(c.draft)
		outcomes[fmt.Sprint(commit.Status, " ", by[c.sessions[0]]["blocked"], " ", c.Get(200, c.sessions[0])["starts_at"] == hour(is))] = true
		return 1
	})
	require.Equal(t, map[string]bool{
		"409 session_too_large false": true, "200 session_too_large false": true, "200 <nil> true": true,
	}, outcomes)
}

// TestAWorkerFinishesACommit whose process has ended, although nobody reads the draft.
func TestAWorkerFinishesACommit(t *testing.T) {
	p := plannerOf(&it.Client{Stack: stacktest.Start(t, stacktest.Publishing(), stacktest.Settling(time.Second)), T: t})
	half := 0
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(30)
		_, at := c.through(calls, nil)
		answer := c.tryCommit(at)
		if hours := c.hours(); len(hours) > 1 {
			half++
			require.Eventually(t, func() bool {
				hours = c.hours()
				return len(hours) == 1
			}, 20*time.Second, 50*time.Millisecond)
			require.Equal(t, []string{hour(is)}, hours)
			c.requireOneUpdateEach()
		}
		return map[bool]int{true: 0, false: 1}[answer.Status == 200 || half > 0]
	})
	require.Equal(t, 1, half)
}

// TestACommitDuringAPreview, at any of its calls: the preview shows the draft before or after the commit as a whole.
func TestACommitDuringAPreview(t *testing.T) {
	p := newPlanner(t)
	statuses := map[any]int{}
	it.UntilDone(func(calls int64) int {
		c := p.newCommitting(3)
		process, at := c.through(calls, func() { c.Do(200, http.MethodPost, c.draft+"/commit", nil) })
		shown := at.Do(200, http.MethodGet, c.draft+"/changes", nil)
		if process.Left() > 0 {
			return 0
		}
		require.InDelta(t, 3, shown.At("summary.moved"), 0, shown)
		statuses[shown["status"]]++
		return 1
	})
	require.Greater(t, statuses["committed"], 5, statuses)
}
