package it_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/person"
	"lectern/shared/table"
)

// afterItems calls do after each Query of the items of a contact's sessions.
func (c *checkpoint) afterItems(contact string, do func()) {
	queried := func(keys string) {
		if strings.Contains(keys, "#C#"+contact+" ") && strings.Contains(keys, " S#") {
			do()
		}
	}
	c.queried.Store(&queried)
}

// afterRows calls do after each Query of the versions of the event's sessions.
func (c *checkpoint) afterRows(event int64, do func()) {
	queried := func(keys string) {
		if strings.Contains(keys, fmt.Sprintf("#E#%d#V ", event)) {
			do()
		}
	}
	c.queried.Store(&queried)
}

// mover moves Ann from one session to another in the middle of a question about her.
type mover struct {
	*crowd
	from, to string
	due      atomic.Bool
}

// move moves Ann when a move is due: she joins the new session first, so that she is on a
// session at any time.
func (m *mover) move() {
	if m.due.CompareAndSwap(true, false) {
		m.recast(m.to, "Ann speaker")
		m.recast(m.from)
	}
}

// during asks each question while Ann moves, there and back.
func (m *mover) during(questions ...func()) {
	m.t.Helper()
	for _, ask := range questions {
		m.due.Store(true)
		ask()
		require.False(m.t, m.due.Load(), "Ann has not moved")
		m.from, m.to = m.to, m.from
	}
}

// titles asks for the sessions of Ann's contact on the event.
func (m *mover) titles() { require.Equal(m.t, []string{m.to}, m.titlesOf("Ann")) }

// speaks asks for Ann as a speaker.
func (m *mover) speaks() { m.speaker(200, m.id("Ann")) }

// isFound searches the participants for Ann.
func (m *mover) isFound() {
	require.Equal(m.t, "Ann", m.names("participants", object{"email": emailOf("Ann"), "roleSlugs": []string{"speaker"}}))
}

// TestAMoveInAnOrganizationFromBeforeTheItems: the contact is on one of two sessions at
// any time, and is shown on one.
func TestAMoveInAnOrganizationFromBeforeTheItems(t *testing.T) {
	d, point := startCheckpoint(t)
	c := crowdOf(d)
	c.withoutItems()
	c.meet("Ann")
	c.hold("A", nil, "Ann speaker", "Ann moderator")
	c.hold("B", nil)
	require.Equal(t, []string{"A"}, c.titlesOf("Ann"))
	m := &mover{crowd: c, from: "A", to: "B"}
	point.afterRows(c.Event, m.move)
	m.during(m.titles, m.speaks, m.isFound)
}

// beforeBody calls do before the next batch that reads a session's body.
func (c *checkpoint) beforeBody(session string, do func()) {
	due := atomic.Bool{}
	due.Store(true)
	batched := func(keys string) {
		if strings.Contains(keys, "#S#"+session+" ") && due.CompareAndSwap(true, false) {
			do()
		}
	}
	c.batched.Store(&batched)
}

// TestAPersonIsFoundBetweenARestoreAndADeletion: the contact is on one of two sessions at
// any time. The deleted one is read, and restored, then the other is deleted and read. Then
// the contact joins a third session after the items were read, and the first is deleted.
func TestAPersonIsFoundBetweenARestoreAndADeletion(t *testing.T) {
	for _, items := range []bool{true, false} {
		t.Run(fmt.Sprint(items), func(t *testing.T) {
			d, point := startCheckpoint(t)
			c := crowdOf(d)
			if !items {
				c.withoutItems()
			}
			c.meet("Ann")
			c.hold("A", nil, "Ann speaker")
			c.hold("B", nil, "Ann speaker")
			c.remove(200, c.held["A"].id())
			point.beforeBody(c.held["B"].id(), func() {
				c.restore(200, c.held["A"].id())
				c.remove(200, c.held["B"].id())
			})
			c.speaker(200, c.id("Ann"))
			c.get(404, c.held["B"].id())

			c.hold("C", nil)
			point.beforeBody(c.held["A"].id(), func() {
				c.recast("C", "Ann speaker")
				c.remove(200, c.held["A"].id())
			})
			c.speaker(200, c.id("Ann"))
			c.get(404, c.held["A"].id())
		})
	}
}

// TestAMoveFromAnAnnouncement: the contact was given its role among more people than fit
// into a transaction, and leaves that session for another one.
func TestAMoveFromAnAnnouncement(t *testing.T) {
	d, point := startCheckpoint(t)
	c := crowdOf(d)
	people := c.speakers(100)
	id := c.create(200, object{"title": "A", "participants": people}).id()
	c.hold("B", nil)
	at := -1
	for i := range people {
		if len(c.items(fmt.Sprint("P", i))[id].Roles) == 0 {
			at = i
		}
	}
	require.GreaterOrEqual(t, at, 0)
	name := fmt.Sprint("P", at)
	require.Equal(t, []string{"A"}, c.titlesOf(name))
	moving := atomic.Bool{}
	moving.Store(true)
	point.afterItems(c.id(name), func() {
		if moving.CompareAndSwap(true, false) {
			c.recast("B", name+" speaker")
			c.put(200, id, object{"participants": slices.Delete(slices.Clone(people), at, at+1)})
		}
	})
	require.Equal(t, []string{"B"}, c.titlesOf(name))
	require.False(t, moving.Load())
}

// TestAnItemThatWasLeftBehind by a release that does not know them, or by a write that
// failed after its announcement, costs each answer one more read of the items.
func TestAnItemThatWasLeftBehind(t *testing.T) {
	d, point := startCheckpoint(t)
	c := crowdOf(d)
	c.meet("Ann")
	a := c.hold("A", nil, "Ann speaker")
	c.hold("B", nil, "Ann speaker")
	of := person.Session{Org: c.Org, Event: c.Event, ID: a, Version: 1}
	left, err := c.Table(t).Get(t.Context(), of.Key(c.id("Ann")))
	require.NoError(t, err)
	announcement, err := of.Put(c.id("Ann"), nil)
	require.NoError(t, err)
	c.recast("A")
	read := atomic.Int64{}
	point.afterItems(c.id("Ann"), func() { read.Add(1) })
	require.Equal(t, []string{"B"}, c.titlesOf("Ann"))
	require.EqualValues(t, 1, read.Swap(0))
	for _, behind := range []table.Write{table.Put(left), announcement} {
		require.NoError(t, c.Table(t).Transact(t.Context(), behind))
		require.Equal(t, []string{"B"}, c.titlesOf("Ann"))
		require.EqualValues(t, 2, read.Swap(0))
	}
}
