package it_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/change"
)

const (
	attached = "session.speaker.attached"
	detached = "session.speaker.detached"
)

// publishes checks that one change of the session came since the last call, and its
// published kinds.
func (n *news) publishes(id, action string, kinds ...change.Kind) {
	n.t.Helper()
	fresh := n.since()
	require.Len(n.t, fresh, 1)
	require.Equal(n.t, []any{id, action}, []any{fresh[0].RecordID, fresh[0].Action})
	require.Equal(n.t, kinds, fresh[0].Kinds)
}

// TestChangesTellWhoWasGivenARole, or was taken one: beside the change of the
// session, each with the next number. Another order or acceptance is neither.
func TestChangesTellWhoWasGivenARole(t *testing.T) {
	s := newTroupe(newDesk(t, "speaker_acceptance"), "Ann", "Bob")
	n := newsOf(s.desk)
	var id string
	recast := func(people ...object) {
		t.Helper()
		s.put(200, id, object{"participants": people})
	}
	const people = "participants"
	id = s.titled("A")[0]
	n.since()
	ann, bob := s.part("Ann", "speaker"), s.part("Bob", "speaker")
	recast(ann)
	n.publishes(id, updated, publishes(updated, 2, people), publishes(attached, 3, people))
	s.put(200, id, object{"title": "B", "participants": []object{bob}})
	n.publishes(id, updated, publishes(updated, 4, people, "title"), publishes(attached, 5, people), publishes(detached, 6, people))
	recast(bob, ann)
	n.publishes(id, updated, publishes(updated, 7, people), publishes(attached, 8, people))
	recast(ann, bob)
	n.publishes(id, updated, publishes(updated, 9, people))
	recast(ann, s.part("Bob", "speaker", object{"acceptance_status": "accepted"}))
	n.publishes(id, updated, publishes(updated, 10, people))
	s.put(200, id, object{"title": "C"})
	n.publishes(id, updated, publishes(updated, 11, "title"))
	recast(ann, s.part("Ann", "moderator"), bob)
	n.publishes(id, updated, publishes(updated, 12, people), publishes(attached, 13, people))
	recast(s.part("Ann", "chairperson"), s.part("Ann", "moderator"), bob)
	n.publishes(id, updated, publishes(updated, 14, people), publishes(attached, 15, people), publishes(detached, 16, people))
	s.bulk(updating(id, object{"participants": []object{}}))
	n.publishes(id, updated, publishes(updated, 17, people), publishes(detached, 18, people))
}

// TestASessionIsMadeWithItsRoles, and keeps them while it is deleted.
func TestASessionIsMadeWithItsRoles(t *testing.T) {
	s := newTroupe(newDesk(t, "sessions_2_0"), "Ann")
	n := newsOf(s.desk)
	id := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}}).id()
	fresh := n.since()
	require.Len(t, fresh, 1)
	require.Len(t, fresh[0].Kinds, 2)
	require.Subset(t, fresh[0].Kinds[0].Fields, []string{"title", "participants"})
	require.Equal(t, publishes(created, 1, fresh[0].Kinds[0].Fields...), fresh[0].Kinds[0])
	require.Equal(t, publishes(attached, 2, "participants"), fresh[0].Kinds[1])
	s.remove(200, id)
	n.publishes(id, deleted, publishes(deleted, 3, "deleted_at"))
	s.restore(200, id)
	n.publishes(id, "session.restored", publishes(updated, 4, "deleted_at"))
	s.fire("contacts", "Ann")
	require.Empty(t, n.since(), "who leaves the event keeps the role")
	copied := s.done("session-duplicate", object{"session_id": id}).id()
	fresh = n.since()
	require.Equal(t, []string{copied, created, attached}, []string{fresh[0].RecordID, fresh[0].Kinds[0].Name, fresh[0].Kinds[1].Name})
}
