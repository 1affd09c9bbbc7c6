package batteries_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// Who writes and who searches at one time, and how much is done between two
// looks at the whole table.
const (
	oracleWriters   = 4
	oracleSearchers = 4
	oracleRound     = 200
)

// TestSearchOracle does random writes and searches side by side on two instances
// and holds every answer against what the writes have made of the event; now and
// then all is compared with a naive read of the whole table.
func TestSearchOracle(t *testing.T) {
	oracle(t, it.Seed(t), it.Size(800, 20_000), nil)
}

// TestSearchOracleBehindFaults is the same where transactions conflict, calls
// are throttled, answers are lost, and what is written becomes visible bit by
// bit, versions first.
func TestSearchOracleBehindFaults(t *testing.T) {
	seed := it.Seed(t)
	var door *faulty.Door
	oracle(t, seed, it.Size(800, 20_000), func(inner table.Client) table.Client {
		door = faulty.New(inner, faulty.Mixed(seed))
		return door
	})
	counts := door.Counts()
	t.Logf("faults: %+v", counts)
	require.Positive(t, min(counts.Conflicts, counts.Throttles, counts.DroppedBefore, counts.DroppedAfter, counts.Torn, counts.TornReads))
}

func oracle(t *testing.T, seed uint64, operations int, wrap func(table.Client) table.Client) {
	t.Helper()
	s, engine := it.StartWithEngine(t, wrap, stacktest.Features("sessions_2_0"))
	o := &oracleRun{t: t, m: newModel(), engine: engine, at: []*stacktest.Stack{s, s.Instance(t)}, tally: &counts{}, notes: map[string]bool{}}
	o.prepare()
	var writers []*writer
	for i := range oracleWriters {
		writers = append(writers, &writer{t: t, m: o.m, r: it.Source(seed, i), name: i, at: o.at, most: it.Size(150, 400), tally: o.tally})
	}
	for _, f := range append([]facet{{"", "statuses"}}, facetKinds...) {
		for range 4 {
			writers[0].newLabel(f.collection)
		}
	}
	done := func() int64 { return o.tally.writes.Load() + o.tally.searches.Load() }
	for round := 0; done() < int64(operations) || !o.crowded() && done() < int64(2*operations); round++ {
		o.round(writers, seed, round)
		o.compare(seed, round)
		require.False(t, t.Failed())
	}
	audited(t, engine.Dump(t), s.Org, s.Event)
	c := o.tally
	t.Logf("%d writes (%d refused by a rule, %d without a certain outcome), %d searches (%d beside writes that left room), %d sessions, %d contacts, %d accounts, %d settings",
		c.writes.Load(), c.refused.Load(), c.doubts.Load(), c.searches.Load(), c.unstable.Load(), len(o.m.sessions.known), len(o.m.contacts.known), len(o.m.accounts.known), len(o.m.entries))
	require.True(t, o.crowded())
	require.LessOrEqual(t, c.doubts.Load()*100, c.writes.Load(), "more than one write in a hundred was given up")
	require.LessOrEqual(t, c.refused.Load()*5, c.writes.Load(), "more is refused than writers in each other's way explain")
	require.LessOrEqual(t, o.unavailable.Load()*100, c.searches.Load(), "more than one search in a hundred was given up")
}

type oracleRun struct {
	t      *testing.T
	m      *model
	engine it.Engine
	// notes are the ids of the events' own fields.
	notes       map[string]bool
	at          []*stacktest.Stack
	tally       *counts
	unavailable atomic.Int64
}

// crowded tells whether some session has contacts, sponsors and exhibitors.
func (o *oracleRun) crowded() bool {
	return len(o.m.sessions.some(func(s *state) bool {
		return len(s.participants) > 0 && len(s.accounts["sponsor"]) > 0 && len(s.accounts["exhibitor"]) > 0
	})) > 0
}

// round does oracleRound writes and searches.
func (o *oracleRun) round(writers []*writer, seed uint64, round int) {
	var left atomic.Int64
	left.Store(oracleRound)
	it.Concurrently(oracleWriters+oracleSearchers, func(caller int) {
		r := it.Source(seed, 1000+round*100+caller)
		for left.Add(-1) >= 0 && !o.t.Failed() {
			if caller < oracleWriters {
				writers[caller].step()
			} else {
				o.any(r, o.at[caller%2])
			}
		}
	})
}

// any does a random search.
func (o *oracleRun) any(r *rand.Rand, s *stacktest.Stack) {
	if chance(r, 2) {
		o.search(s, draw(r, o.m))
	} else {
		o.hunt(s, seek(r, o.m))
	}
}

// search does a search of sessions and checks its answer. It gives the body.
func (o *oracleRun) search(s *stacktest.Stack, q inquiry) []byte {
	return o.ask(s, q.request(s), q, func(body []byte, before watermark) ([]string, bool) { return o.m.check(q, q.read(body), before) })
}

// hunt does a search of people or accounts and checks its answer. It gives the body.
func (o *oracleRun) hunt(s *stacktest.Stack, q hunt) []byte {
	return o.ask(s, q.request(s), q, func(body []byte, before watermark) ([]string, bool) {
		return o.m.found(q, pageRead(body, shownMemberOf), before)
	})
}

func (o *oracleRun) ask(s *stacktest.Stack, asked it.Request, q fmt.Stringer, check func([]byte, watermark) (problems []string, exact bool)) []byte {
	before := o.m.watermark()
	a := s.TrySend(o.t, asked.Method, asked.Path, asked.Body)
	o.tally.searches.Add(1)
	if a.Status == http.StatusServiceUnavailable {
		o.unavailable.Add(1)
		return nil
	}
	if a.Status != http.StatusOK {
		o.t.Errorf("%s: %d %s", q, a.Status, a.Body)
		return nil
	}
	problems, exact := check(a.Body, before)
	if !exact {
		o.tally.unstable.Add(1)
	}
	if len(problems) > 0 {
		o.t.Errorf("%s at %s:\n%v\n%s", q, s.URL, problems, a.Body)
	}
	return a.Body
}

// compare holds the model against the whole table while nobody writes, and then
// both instances against it, with searches that have one right answer, and with
// each record's own GET.
func (o *oracleRun) compare(seed uint64, round int) {
	require.Empty(o.t, o.reload())
	r := it.Source(seed, 5000+round)
	for range 10 {
		q, p := draw(r, o.m), seek(r, o.m)
		var sessions, people []string
		for _, s := range o.at {
			body := o.search(s, q)
			sessions = append(sessions, string(body))
			if q.way == byList {
				o.asGET(s, body, func(shown []byte) string { return s.EventPath("/sessions/" + it.DecodeObject(shown)["id"].(string)) })
			}
			body = o.hunt(s, p)
			people = append(people, string(body))
			o.asGET(s, body, func(shown []byte) string { return p.single(s, shownMemberOf(it.DecodeObject(shown))) })
			if p.bySession {
				o.appearances(s, pageRead(body, shownMemberOf).results)
			}
		}
		o.same(q, sessions)
		o.same(p, people)
	}
}

// appearances: a contact's own sessions are those on which it has a role, on the
// event and for the organization, of whose other events none has sessions.
func (o *oracleRun) appearances(s *stacktest.Stack, people []*shownMember) {
	for _, p := range people[:min(len(people), 2)] {
		want := o.m.sessions.some(func(s *state) bool {
			return s.deleted == 0 && s.has(p.id, func(string) bool { return true })
		})
		for _, path := range []string{s.EventPath("/contacts/" + p.id), fmt.Sprintf("/v1/organization/%d/contacts/%s", s.Org, p.id)} {
			a := s.TrySend(o.t, http.MethodGet, path+"/sessions", nil)
			if a.Status == http.StatusServiceUnavailable {
				continue
			}
			var own struct{ Sessions []struct{ ID string } }
			require.NoError(o.t, json.Unmarshal(a.Body, &own))
			var got []string
			for _, session := range own.Sessions {
				got = append(got, session.ID)
			}
			require.ElementsMatch(o.t, want, got, "%s", path)
		}
	}
}

// same: both instances answer alike.
func (o *oracleRun) same(q fmt.Stringer, bodies []string) {
	if bodies[0] != bodies[1] && bodies[0] != "" && bodies[1] != "" {
		o.t.Errorf("%s: two instances answer\n%s\n%s", q, bodies[0], bodies[1])
	}
}

// asGET: a list shows each record as its GET does, which reads the table.
func (o *oracleRun) asGET(s *stacktest.Stack, list []byte, path func(shown []byte) string) {
	if list == nil {
		return
	}
	var listed struct{ Results []json.RawMessage }
	require.NoError(o.t, json.Unmarshal(list, &listed))
	for _, shown := range listed.Results[:min(len(listed.Results), 3)] {
		a := s.TrySend(o.t, "GET", path(shown), nil)
		switch a.Status {
		case http.StatusOK:
			require.JSONEq(o.t, string(a.Body), string(shown))
		case http.StatusServiceUnavailable:
		default:
			o.t.Errorf("GET %s: %d %s", path(shown), a.Status, a.Body)
		}
	}
}

// String tells a result apart in a message.
func (r *result) String() string { return fmt.Sprintf("%s of %d", r.id, r.updated) }
