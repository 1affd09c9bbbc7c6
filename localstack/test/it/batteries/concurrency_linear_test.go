package batteries_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// register is a record as a register: what its text is, and how often it was
// changed.
type register struct {
	text    string
	version int64
	deleted bool
}

// The operations on a register.
const (
	opGet     = "get"
	opFind    = "find" // by a search
	opPut     = "put"
	opSwap    = "put if unchanged"
	opDelete  = "delete"
	opRestore = "restore"
)

// asked is what a client asks of a register, told what it is told. A status of
// 0 stands for an answer that leaves open whether it was done.
type asked struct {
	record int
	op     string
	text   string
	seen   int64
}

type told struct {
	status int
	register
}

// linear is the sequential meaning of the operations on registers that are new.
func linear() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: byRecord,
		Init:      func() []any { return []any{register{text: "initial", version: 1}} },
		Step: func(state, input, output any) []any {
			was, in, out := state.(register), input.(asked), output.(told)
			next, status := in.apply(was)
			if out.status == 0 {
				return []any{was, next}
			}
			if out.status != status || !in.shows(out, next) {
				return nil
			}
			return []any{next}
		},
		DescribeOperation: it.Describe,
	}
	return model.ToModel()
}

// byRecord parts a history by the register that its operations are on.
func byRecord(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[int][]porcupine.Operation{}
	for _, op := range history {
		record := op.Input.(asked).record
		parts[record] = append(parts[record], op)
	}
	return slices.Collect(maps.Values(parts))
}

// apply is what the operation makes of the register, and its status.
func (in asked) apply(was register) (next register, status int) {
	next = was
	switch {
	case in.op == opFind:
		return was, http.StatusOK
	case was.deleted != (in.op == opRestore):
		return was, http.StatusNotFound
	case in.op == opGet:
		return was, http.StatusOK
	case in.op == opSwap && in.seen != was.version:
		return was, http.StatusConflict
	case in.op == opDelete:
		next.deleted = true
	case in.op == opRestore:
		next.deleted = false
	default:
		next.text = in.text
	}
	next.version++
	return next, http.StatusOK
}

// shows is whether the answer shows the register. A search shows no version, a
// refusal for a stale version shows no text, a 404 nothing.
func (in asked) shows(out told, next register) bool {
	switch {
	case in.op == opFind:
		return out.deleted == next.deleted && (next.deleted || out.text == next.text)
	case out.status == http.StatusNotFound:
		return true
	case out.status == http.StatusConflict:
		return out.version == next.version
	}
	return out.version == next.version && out.text == next.text
}

// TestLinearizable records what many clients ask of a few records and are told,
// and looks for an order in which every answer is right and comes between its
// request and its arrival.
//
// Where transactions become visible bit by bit, what reads bodies and what reads
// rows are held to that each by itself: a search may leave a record out whose
// deletion is not acknowledged yet, while its body can still be read. What is
// acknowledged, both show.
func TestLinearizable(t *testing.T) {
	seed := it.Seed(t)
	doors := map[string]func(table.Client) table.Client{
		"plain": nil,
		"behind faults": func(inner table.Client) table.Client {
			return faulty.New(inner, faulty.Mixed(seed))
		},
	}
	for name, door := range doors {
		for _, k := range it.Kinds {
			t.Run(name+"/"+k.Collection, func(t *testing.T) {
				s, _ := it.StartWithEngine(t, door)
				checkRegisters(t, k, []*stacktest.Stack{s, s.Instance(t)}, seed, door != nil)
			})
		}
	}
}

// checkRegisters records and checks histories of one kind of record.
func checkRegisters(t *testing.T, k it.Kind, places []*stacktest.Stack, seed uint64, torn bool) {
	t.Helper()
	statuses := map[int]int{}
	for round := range it.Size(2, 25) {
		history := recorded(t, k, places, seed+uint64(round), 8+round%9)
		for _, op := range history {
			statuses[op.Output.(told).status]++
		}
		if !torn {
			checkLinear(t, history)
			continue
		}
		checkLinear(t, only(history, func(in asked, _ told) bool { return in.op != opFind }))
		checkLinear(t, only(history, func(in asked, out told) bool {
			return in.op == opFind || in.op != opGet && out.status != http.StatusNotFound && out.status != http.StatusConflict
		}))
	}
	require.Positive(t, min(statuses[200], statuses[404], statuses[409]))
	t.Logf("answers by status, 0 for an uncertain one: %v", statuses)
}

// only is the part of a history that keep holds for.
func only(history []porcupine.Operation, keep func(asked, told) bool) []porcupine.Operation {
	return slices.DeleteFunc(slices.Clone(history), func(op porcupine.Operation) bool {
		return !keep(op.Input.(asked), op.Output.(told))
	})
}

// checkLinear checks the history of each record by itself, to show the one that
// has no order.
func checkLinear(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	for _, part := range byRecord(history) {
		if porcupine.CheckOperationsTimeout(linear(), part, time.Minute) == porcupine.Ok {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, op := range part {
			t.Logf("%9d-%9d client %d: %s", op.Call/1000, op.Return/1000, op.ClientId, it.Describe(op.Input, op.Output))
		}
		require.Fail(t, "no order of these operations explains their answers")
	}
}

// recorded lets clients work on four new records and records the history.
func recorded(t *testing.T, k it.Kind, places []*stacktest.Stack, seed uint64, clients int) []porcupine.Operation {
	t.Helper()
	ids, marks := make([]string, 4), make([]string, 4)
	for i := range ids {
		made := entity(places[0].Call(t, 200, "POST", places[0].EventPath(k.CreatePath()), k.Draft("initial")).JSON(t))
		ids[i], marks[i] = made.ID(), k.Mark(made)
	}
	var mu sync.Mutex
	var history []porcupine.Operation
	start := time.Now()
	it.Concurrently(clients, func(client int) {
		c := &registrar{t: t, kind: k, r: it.Source(seed, client), s: places[client%2], ids: ids, marks: marks, name: client, seen: map[int]told{}}
		for range it.Size(25, 50) {
			in := c.draw()
			called := time.Since(start)
			out := c.do(in)
			returned := int64(time.Since(start))
			if out.status == 0 {
				returned = math.MaxInt64
			}
			mu.Lock()
			history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(called), Output: out, Return: returned})
			mu.Unlock()
		}
	})
	return history
}

// registrar is one client of the registers.
type registrar struct {
	t    *testing.T
	kind it.Kind
	r    *rand.Rand
	s    *stacktest.Stack
	name int
	// ids and marks are those of the registers.
	ids, marks []string
	made       int
	// seen is the last version that it was shown of each.
	seen map[int]told
}

func (c *registrar) draw() asked {
	in := asked{record: c.r.IntN(len(c.ids)), op: it.OneOf(c.r, []string{opGet, opGet, opFind, opFind, opPut, opPut, opSwap, opSwap, opSwap, opDelete, opRestore, opRestore})}
	if in.op == opSwap {
		in.seen = c.seen[in.record].version
		if in.seen == 0 {
			in.op = opGet
		}
	}
	c.made++
	in.text = fmt.Sprintf("text %d-%d", c.name, c.made)
	return in
}

// do makes the request and reads its answer.
func (c *registrar) do(in asked) told {
	if in.op == opFind {
		return c.find(in)
	}
	path, header := c.s.EventPath(c.kind.Path(c.ids[in.record])), []string(nil)
	method, body := http.MethodPut, any(c.kind.WithText(in.text))
	switch in.op {
	case opGet:
		method, body = http.MethodGet, nil
	case opDelete:
		method, body = http.MethodDelete, nil
	case opRestore:
		method, path, body = http.MethodPost, path+"/restore", nil
	case opSwap:
		header = []string{"If-Match", strconv.Quote(strconv.FormatInt(in.seen, 10))}
	}
	a := c.s.TrySend(c.t, method, path, stacktest.WithHeaders(body, header...))
	out := told{status: a.Status}
	out.version = versionOf(a)
	out.text = entity(it.DecodeObject(a.Body)).Text(c.kind.TextField)
	if a.Status == http.StatusOK {
		c.seen[in.record] = out
	}
	return c.certain(out, a)
}

// find looks a record up by a search.
func (c *registrar) find(in asked) told {
	asked := c.kind.FindByMark(c.s, c.marks[in.record])
	a := c.s.TrySend(c.t, asked.Method, asked.Path, asked.Body)
	out := told{status: a.Status}
	out.deleted = true
	var page it.Page
	_ = json.Unmarshal(a.Body, &page) // What is no page shows nobody.
	for _, r := range page.Results {
		if r.ID() == c.ids[in.record] {
			out.deleted, out.text = false, r.Text(c.kind.TextField)
		}
	}
	return c.certain(out, a)
}

// certain is the answer, or that of an uncertain one.
func (c *registrar) certain(out told, a stacktest.Answer) told {
	switch a.Status {
	case http.StatusOK, http.StatusNotFound, http.StatusConflict:
		return out
	case http.StatusServiceUnavailable:
	default:
		c.t.Errorf("%d %s", a.Status, a.Body)
	}
	return told{}
}
