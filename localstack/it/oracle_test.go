package it_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/table/faulty"
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
	oracle(t, seeded(t), sized(2000, 20_000), nil)
}

// TestSearchOracleBehindFaults is the same where transactions conflict, calls
// are throttled, answers are lost, and what is written becomes visible bit by
// bit, versions first.
func TestSearchOracleBehindFaults(t *testing.T) {
	seed := seeded(t)
	var door *faulty.Door
	oracle(t, seed, sized(2000, 20_000), func(inner table.Client) table.Client {
		door = faulty.New(inner, faulty.Config{Seed: seed, Conflict: 0.03, Throttle: 0.02, DropBefore: 0.01, DropAfter: 0.01, Torn: 0.5})
		return door
	})
	counts := door.Counts()
	t.Logf("faults: %+v", counts)
	require.Positive(t, min(counts.Conflicts, counts.Throttles, counts.DroppedBefore, counts.DroppedAfter, counts.Torn, counts.TornReads))
}

func oracle(t *testing.T, seed uint64, operations int, wrap func(table.Client) table.Client) {
	t.Helper()
	s, engine := startOpen(t, wrap, stacktest.Features("sessions_2_0"))
	o := &oracleRun{t: t, m: newModel(), at: []*stacktest.Stack{s, s.Instance(t)}, tally: &counts{}}
	var writers []*writer
	for i := range oracleWriters {
		writers = append(writers, &writer{t: t, m: o.m, r: source(seed, i), name: i, at: o.at, read: o.read, most: sized(150, 400), tally: o.tally})
	}
	for _, f := range append([]facet{{"", "statuses"}}, facetKinds...) {
		for range 4 {
			writers[0].newLabel(f.collection)
		}
	}
	for round := 0; o.tally.writes.Load()+o.tally.searches.Load() < int64(operations); round++ {
		o.round(writers, seed, round)
		o.compare(seed, round)
		require.False(t, t.Failed())
	}
	audited(t, engine.dump(t), s.Org, s.Event)
	c := o.tally
	t.Logf("%d writes (%d refused by a rule, %d without a certain outcome), %d searches (%d beside writes that left room), %d sessions, %d settings",
		c.writes.Load(), c.refused.Load(), c.doubts.Load(), c.searches.Load(), c.unstable.Load(), len(o.m.sessions), len(o.m.entries))
	require.LessOrEqual(t, c.doubts.Load()*100, c.writes.Load(), "more than one write in a hundred was given up")
	require.LessOrEqual(t, o.unavailable.Load()*100, c.searches.Load(), "more than one search in a hundred was given up")
}

type oracleRun struct {
	t           *testing.T
	m           *model
	at          []*stacktest.Stack
	tally       *counts
	unavailable atomic.Int64
}

// round does oracleRound writes and searches.
func (o *oracleRun) round(writers []*writer, seed uint64, round int) {
	var left atomic.Int64
	left.Store(oracleRound)
	together(oracleWriters+oracleSearchers, func(caller int) {
		r := source(seed, 1000+round*100+caller)
		for left.Add(-1) >= 0 && !o.t.Failed() {
			if caller < oracleWriters {
				writers[caller].step()
			} else {
				o.search(o.at[caller%2], draw(r, o.m))
			}
		}
	})
}

// search does a search and checks its answer. It gives the body.
func (o *oracleRun) search(s *stacktest.Stack, q inquiry) []byte {
	asked := q.request(s)
	before := o.m.watermark()
	a := attempt(o.t, s, asked.method, asked.path, asked.body)
	o.tally.searches.Add(1)
	if a.Status == http.StatusServiceUnavailable {
		o.unavailable.Add(1)
		return nil
	}
	if a.Status != http.StatusOK {
		o.t.Errorf("%s: %d %s", q, a.Status, a.Body)
		return nil
	}
	problems, exact := o.m.check(q, readPage(a.Body), before)
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
// each session's own GET.
func (o *oracleRun) compare(seed uint64, round int) {
	require.Empty(o.t, o.m.reload(o.all()))
	r := source(seed, 5000+round)
	for range 10 {
		q := draw(r, o.m)
		var bodies []string
		for _, s := range o.at {
			body := o.search(s, q)
			bodies = append(bodies, string(body))
			if q.way == byList && body != nil {
				o.asGET(s, body)
			}
		}
		if bodies[0] != bodies[1] && bodies[0] != "" && bodies[1] != "" {
			o.t.Errorf("%s: two instances answer\n%s\n%s", q, bodies[0], bodies[1])
		}
	}
}

// asGET: a list shows each session as its GET does, which reads the table.
func (o *oracleRun) asGET(s *stacktest.Stack, list []byte) {
	var listed struct{ Results []json.RawMessage }
	require.NoError(o.t, json.Unmarshal(list, &listed))
	for _, shown := range listed.Results[:min(len(listed.Results), 3)] {
		id := quick(shown)["id"].(string)
		a := attempt(o.t, s, "GET", s.EventPath("/sessions/"+id), nil)
		if a.Status == http.StatusOK {
			require.JSONEq(o.t, string(a.Body), string(shown))
		}
	}
}

// all reads every session of the event the plain way.
func (o *oracleRun) all() map[string]*state {
	s := o.at[0]
	prefix := table.Event(s.Org, s.Event)
	all := map[string]*state{}
	for item, err := range s.Table.Between(context.Background(), prefix+"#RS", "0", "g") {
		require.NoError(o.t, err)
		id := item.SK[len("00#"):]
		all[id] = o.read(id)
	}
	return all
}

// read reads a session's body from the table, deleted or not.
func (o *oracleRun) read(id string) *state {
	s := o.at[0]
	key := table.Key{PK: table.Event(s.Org, s.Event) + "#S#" + id, SK: "B"}
	for {
		item, err := s.Table.Get(context.Background(), key)
		if errors.Is(err, table.ErrBusy) {
			time.Sleep(time.Millisecond)
			continue
		}
		body := &session.Body{}
		if err == nil {
			err = json.Unmarshal(item.Data, body)
		}
		if err != nil {
			o.t.Errorf("read %s: %v", id, err)
			return &state{id: id}
		}
		body.Version = item.Version
		return stateOf(body)
	}
}

// String tells a result apart in a message.
func (r *result) String() string { return fmt.Sprintf("%s of %d", r.id, r.updated) }
