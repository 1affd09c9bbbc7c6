package people_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/person"
	"lectern/shared/table"
)

// afterItems calls do after each Query of the items of a contact's sessions.
func afterItems(c *it.Gate, contact string, do func()) {
	queried := func(keys string) {
		if strings.Contains(keys, "#C#"+contact+" ") && strings.Contains(keys, " S#") {
			do()
		}
	}
	c.Queried.Store(&queried)
}

// afterRows calls do after each Query of the versions of the event's sessions.
func afterRows(c *it.Gate, event int64, do func()) {
	queried := func(keys string) {
		if strings.Contains(keys, fmt.Sprintf("#E#%d#V ", event)) {
			do()
		}
	}
	c.Queried.Store(&queried)
}

// mover moves Ann from one session to another in the middle of a question about her.
type mover struct {
	*it.Programme
	from, to string
	due      atomic.Bool
}

// move moves Ann when a move is due: she joins the new session first, so that she is on a
// session at any time.
func (m *mover) move() {
	if m.due.CompareAndSwap(true, false) {
		m.SetPeople(m.to, "Ann speaker")
		m.SetPeople(m.from)
	}
}

// during asks each question while Ann moves, there and back.
func (m *mover) during(questions ...func()) {
	m.T.Helper()
	for _, ask := range questions {
		m.due.Store(true)
		ask()
		require.False(m.T, m.due.Load(), "Ann has not moved")
		m.from, m.to = m.to, m.from
	}
}

// titles asks for the sessions of Ann's contact on the event.
func (m *mover) titles() { require.Equal(m.T, []string{m.to}, titlesOf(m.Programme, "Ann")) }

// speaks asks for Ann as a speaker.
func (m *mover) speaks() { speaker(m.Programme, 200, m.ContactID("Ann")) }

// isFound searches the participants for Ann.
func (m *mover) isFound() {
	require.Equal(m.T, "Ann", m.FindNames("participants", object{"email": it.EmailOf("Ann"), "roleSlugs": []string{"speaker"}}))
}

// TestAMoveInAnOrganizationFromBeforeTheItems: the contact is on one of two sessions at
// any time, and is shown on one.
func TestAMoveInAnOrganizationFromBeforeTheItems(t *testing.T) {
	d, point := it.StartBehindGate(t)
	c := it.ProgrammeOf(d)
	withoutItems(c.People)
	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann speaker", "Ann moderator")
	c.AddSession("B", nil)
	require.Equal(t, []string{"A"}, titlesOf(c, "Ann"))
	m := &mover{Programme: c, from: "A", to: "B"}
	afterRows(point, c.Event, m.move)
	m.during(m.titles, m.speaks, m.isFound)
}

// beforeBody calls do before the next batch that reads a session's body.
func beforeBody(c *it.Gate, session string, do func()) {
	due := atomic.Bool{}
	due.Store(true)
	batched := func(keys string) {
		if strings.Contains(keys, "#S#"+session+" ") && due.CompareAndSwap(true, false) {
			do()
		}
	}
	c.Batched.Store(&batched)
}

// TestAPersonIsFoundBetweenARestoreAndADeletion: the contact is on one of two sessions at
// any time. The deleted one is read, and restored, then the other is deleted and read. Then
// the contact joins a third session after the items were read, and the first is deleted.
func TestAPersonIsFoundBetweenARestoreAndADeletion(t *testing.T) {
	for _, items := range []bool{true, false} {
		t.Run(fmt.Sprint(items), func(t *testing.T) {
			d, point := it.StartBehindGate(t)
			c := it.ProgrammeOf(d)
			if !items {
				withoutItems(c.People)
			}
			c.AddPeople("Ann")
			c.AddSession("A", nil, "Ann speaker")
			c.AddSession("B", nil, "Ann speaker")
			c.Delete(200, c.Held["A"].ID())
			beforeBody(point, c.Held["B"].ID(), func() {
				c.Restore(200, c.Held["A"].ID())
				c.Delete(200, c.Held["B"].ID())
			})
			speaker(c, 200, c.ContactID("Ann"))
			c.Get(404, c.Held["B"].ID())

			c.AddSession("C", nil)
			beforeBody(point, c.Held["A"].ID(), func() {
				c.SetPeople("C", "Ann speaker")
				c.Delete(200, c.Held["A"].ID())
			})
			speaker(c, 200, c.ContactID("Ann"))
			c.Get(404, c.Held["A"].ID())
		})
	}
}

// TestAMoveFromAnAnnouncement: the contact was given its role among more people than fit
// into a transaction, and leaves that session for another one.
func TestAMoveFromAnAnnouncement(t *testing.T) {
	d, point := it.StartBehindGate(t)
	c := it.ProgrammeOf(d)
	people := c.AddSpeakers(100)
	id := c.Create(200, object{"title": "A", "participants": people}).ID()
	c.AddSession("B", nil)
	at := -1
	for i := range people {
		if len(items(c.People, fmt.Sprint("P", i))[id].Roles) == 0 {
			at = i
		}
	}
	require.GreaterOrEqual(t, at, 0)
	name := fmt.Sprint("P", at)
	require.Equal(t, []string{"A"}, titlesOf(c, name))
	moving := atomic.Bool{}
	moving.Store(true)
	afterItems(point, c.ContactID(name), func() {
		if moving.CompareAndSwap(true, false) {
			c.SetPeople("B", name+" speaker")
			c.Put(200, id, object{"participants": slices.Delete(slices.Clone(people), at, at+1)})
		}
	})
	require.Equal(t, []string{"B"}, titlesOf(c, name))
	require.False(t, moving.Load())
}

// TestAnItemThatWasLeftBehind by a release that does not know them, or by a write that
// failed after its announcement, costs each answer one more read of the items.
func TestAnItemThatWasLeftBehind(t *testing.T) {
	d, point := it.StartBehindGate(t)
	c := it.ProgrammeOf(d)
	c.AddPeople("Ann")
	a := c.AddSession("A", nil, "Ann speaker")
	c.AddSession("B", nil, "Ann speaker")
	of := person.Session{Org: c.Org, Event: c.Event, ID: a, Version: 1}
	left, err := c.Table(t).Get(t.Context(), of.Key(c.ContactID("Ann")))
	require.NoError(t, err)
	announcement, err := of.Put(c.ContactID("Ann"), nil)
	require.NoError(t, err)
	c.SetPeople("A")
	read := atomic.Int64{}
	afterItems(point, c.ContactID("Ann"), func() { read.Add(1) })
	require.Equal(t, []string{"B"}, titlesOf(c, "Ann"))
	require.EqualValues(t, 1, read.Swap(0))
	for _, behind := range []table.Write{table.Put(left), announcement} {
		require.NoError(t, c.Table(t).Transact(t.Context(), behind))
		require.Equal(t, []string{"B"}, titlesOf(c, "Ann"))
		require.EqualValues(t, 2, read.Swap(0))
	}
}
