package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/change"
)

const (
	attached = "session.speaker.attached"
	detached = "session.speaker.detached"
)

// publishes checks that one change of the session came since the last call, and its
// published kinds.
func (n *sessionChanges) publishes(id, action string, kinds ...change.Kind) {
	n.T.Helper()
	fresh := n.Since()
	require.Len(n.T, fresh, 1)
	require.Equal(n.T, []any{id, action}, []any{fresh[0].RecordID, fresh[0].Action})
	require.Equal(n.T, kinds, fresh[0].Kinds)
}

// TestChangesTellWhoWasGivenARole, or was taken one: beside the change of the
// session, each with the next number. Another order or acceptance is neither.
func TestChangesTellWhoWasGivenARole(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "speaker_acceptance"), "Ann", "Bob")
	n := changesOf(s.Client)
	var id string
	recast := func(people ...object) {
		t.Helper()
		s.Put(200, id, object{"participants": people})
	}
	const people = "participants"
	id = s.NewSessions("A")[0]
	n.Since()
	ann, bob := s.Participant("Ann", "speaker"), s.Participant("Bob", "speaker")
	recast(ann)
	n.publishes(id, updated, it.Publishes(updated, 2, people), it.Publishes(attached, 3, people))
	s.Put(200, id, object{"title": "B", "participants": []object{bob}})
	n.publishes(id, updated, it.Publishes(updated, 4, people, "title"), it.Publishes(attached, 5, people), it.Publishes(detached, 6, people))
	recast(bob, ann)
	n.publishes(id, updated, it.Publishes(updated, 7, people), it.Publishes(attached, 8, people))
	recast(ann, bob)
	n.publishes(id, updated, it.Publishes(updated, 9, people))
	recast(ann, s.Participant("Bob", "speaker", object{"acceptance_status": "accepted"}))
	n.publishes(id, updated, it.Publishes(updated, 10, people))
	s.Put(200, id, object{"title": "C"})
	n.publishes(id, updated, it.Publishes(updated, 11, "title"))
	recast(ann, s.Participant("Ann", "moderator"), bob)
	n.publishes(id, updated, it.Publishes(updated, 12, people), it.Publishes(attached, 13, people))
	recast(s.Participant("Ann", "chairperson"), s.Participant("Ann", "moderator"), bob)
	n.publishes(id, updated, it.Publishes(updated, 14, people), it.Publishes(attached, 15, people), it.Publishes(detached, 16, people))
	s.Bulk(it.Updating(id, object{"participants": []object{}}))
	n.publishes(id, updated, it.Publishes(updated, 17, people), it.Publishes(detached, 18, people))
}

// TestASessionIsMadeWithItsRoles, and keeps them while it is deleted.
func TestASessionIsMadeWithItsRoles(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "sessions_2_0"), "Ann")
	n := changesOf(s.Client)
	id := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}}).ID()
	fresh := n.Since()
	require.Len(t, fresh, 1)
	require.Len(t, fresh[0].Kinds, 2)
	require.Subset(t, fresh[0].Kinds[0].Fields, []string{"title", "participants"})
	require.Equal(t, it.Publishes(created, 1, fresh[0].Kinds[0].Fields...), fresh[0].Kinds[0])
	require.Equal(t, it.Publishes(attached, 2, "participants"), fresh[0].Kinds[1])
	s.Delete(200, id)
	n.publishes(id, deleted, it.Publishes(deleted, 3, "deleted_at"))
	s.Restore(200, id)
	n.publishes(id, "session.restored", it.Publishes(updated, 4, "deleted_at"))
	s.DeletePerson("contacts", "Ann")
	require.Empty(t, n.Since(), "who leaves the event keeps the role")
	copied := s.Command("session-duplicate", object{"session_id": id}).ID()
	fresh = n.Since()
	require.Equal(t, []string{copied, created, attached}, []string{fresh[0].RecordID, fresh[0].Kinds[0].Name, fresh[0].Kinds[1].Name})
}
