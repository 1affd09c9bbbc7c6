package batteries_test

import (
	"fmt"
	"slices"
	"sync"
)

// activity says when something was written last: whether it is just now, and
// until when it was, by the model's own clock.
type activity struct {
	busy  int
	ended int64
}

// still is whether nothing was written since the moment.
func (a activity) still(since int64) bool { return a.busy == 0 && a.ended <= since }

// chronicle is the clock of a model, and what is written that is no record: marks
// name what a write is about while it is not known yet which records that are,
// such as an e-mail address.
type chronicle struct {
	mu    sync.Mutex
	clock int64
	marks map[string]*activity
}

// quiet is whether no write with the mark was under way since the moment. The lock
// is held.
func (l *chronicle) quiet(mark string, since int64) bool {
	a := l.marks[mark]
	return a == nil || a.still(since)
}

// versioned is one version of a record, as it was read.
type versioned interface {
	comparable
	key() string
	revision() int64
	// moments are what an answer that shows this version is known by.
	moments() []string
	// bonds are the marks of writes that may turn out to be about the record.
	bonds() []string
}

// known is a record as it was read after the last acknowledged write.
type known[S versioned] struct {
	activity
	state S
	// writes is how many acknowledged writes have changed it; doubt is whether
	// another one may have, which was answered with an error of the service.
	writes int64
	doubt  bool
}

// family is all records of one kind.
type family[S versioned] struct {
	*chronicle
	name string
	// read reads a record from the table.
	read  func(id string) S
	known map[string]*known[S]
	// creating is how many records may be there whose ids are not known yet.
	creating int
	// past has every version that was read, by its moments.
	past map[string]S
}

func newFamily[S versioned](l *chronicle, name string) *family[S] {
	return &family[S]{chronicle: l, name: name, known: map[string]*known[S]{}, past: map[string]S{}}
}

func moment(id string, updated int64) string { return fmt.Sprint(id, " ", updated) }

// job is a write as far as it is known before its answer: the records that it is
// about, how many it makes, and its marks.
type job struct {
	touched []string
	creates int
	marks   []string
}

// begin notes that a write is under way.
func (f *family[S]) begin(j job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock++
	f.creating += j.creates
	for _, id := range j.touched {
		f.known[id].busy++
	}
	for _, mark := range j.marks {
		if f.marks[mark] == nil {
			f.marks[mark] = &activity{}
		}
		f.marks[mark].busy++
	}
}

// end notes that the write has been acknowledged or refused, what was read after
// it, and how often it changed each record. With a doubt it may have been done or
// not; what it may have made, or changed without our knowing which record, is
// looked for at the next reload.
func (f *family[S]) end(j job, read []S, changed map[string]int64, doubt bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock++
	for _, s := range read {
		f.learn(s)
	}
	for _, id := range j.touched {
		f.known[id].busy--
		f.known[id].ended = f.clock
		f.known[id].doubt = f.known[id].doubt || doubt
	}
	for id, times := range changed {
		f.known[id].writes += times
	}
	if doubt {
		return
	}
	f.creating -= j.creates
	for _, mark := range j.marks {
		f.marks[mark].busy--
		f.marks[mark].ended = f.clock
	}
}

// learn takes over a version that was read, if it is the newest. The lock is held.
func (f *family[S]) learn(s S) {
	for _, name := range s.moments() {
		f.past[name] = s
	}
	k := f.known[s.key()]
	if k == nil {
		k = &known[S]{activity: activity{ended: f.clock}, state: s}
		f.known[s.key()] = k
	}
	if k.state.revision() < s.revision() {
		k.state = s
	}
}

// still is whether nothing can have changed the record since the moment. The lock
// is held.
func (f *family[S]) still(k *known[S], since int64) bool {
	return k.still(since) && !slices.ContainsFunc(k.state.bonds(), func(mark string) bool { return !f.quiet(mark, since) })
}

// some gives the ids of the records that keep holds for, in a fixed order.
func (f *family[S]) some(keep func(S) bool) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return keysWhere(f.known, func(k *known[S]) bool { return keep(k.state) })
}

func (f *family[S]) state(id string) S {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[id].state
}

// states are all records as they are known. The lock is held.
func (f *family[S]) states() map[string]S {
	all := make(map[string]S, len(f.known))
	for id, k := range f.known {
		all[id] = k.state
	}
	return all
}

// reload compares the family with all of its records in the table, when nobody
// writes, and takes over what an unanswered request may have made.
func (f *family[S]) reload(all map[string]S) (problems []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wrong := func(format string, args ...any) { problems = append(problems, f.name+" "+fmt.Sprintf(format, args...)) }
	for id, k := range f.known {
		found, there := all[id]
		if !there {
			wrong("%s was acknowledged and is not there", id)
			continue
		}
		k.doubt = k.doubt || !f.still(k, f.clock)
		switch version := found.revision(); {
		case version != k.state.revision() && f.still(k, f.clock):
			wrong("%s has version %d, acknowledged was %d", id, version, k.state.revision())
		case !k.doubt && version != k.writes:
			wrong("%s has version %d after %d acknowledged writes", id, version, k.writes)
		}
	}
	for id, found := range all {
		known := f.known[id] != nil
		if !known && f.creating == 0 {
			wrong("%s is there and was not acknowledged", id)
		}
		f.learn(found)
		f.known[id].doubt = f.known[id].doubt || !known
	}
	f.creating = 0
	return problems
}
