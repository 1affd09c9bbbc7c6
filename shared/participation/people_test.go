package participation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/auth"
	"lectern/shared/numbering"
	"lectern/shared/participant"
	"lectern/shared/programme"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/settings"
	"lectern/shared/wire"
)

// full returns the rows of an event with so many sessions, each with two of a tenth as many contacts.
func full(sessions int) (s *eventRows, ids []string) {
	roles := participant.NewRoles(1, wire.At(time.Unix(0, 0)), nil)
	s = &eventRows{caller: &auth.Caller{Event: &programme.Event{}}, set: &settings.Snapshot{Roles: roles}}
	id := func(kind string, i int) string { return fmt.Sprintf("%s0000-0000-4000-8000-%012d", kind, i) }
	index, contacts := session.NewIndex(&numbering.Numbers{}), sessions/10
	for i := range contacts {
		ids = append(ids, id("cccc", i))
	}
	for i := range sessions {
		b := &session.Body{ID: id("aaaa", i)}
		for n, contact := range []string{ids[i%contacts], ids[(i*7+1)%contacts]} {
			b.Participants = append(b.Participants, session.Participant{ContactID: contact, RoleID: roles.All()[n].ID})
		}
		s.rows = append(s.rows, b.Row(index))
	}
	together := make([]session.Row, sessions) // As a catalogue has them that has just been loaded.
	for i, row := range s.rows {
		together[i] = *row
		s.rows[i] = &together[i]
	}
	return s, ids
}

func TestPeopleOfAFullEvent(t *testing.T) {
	s, ids := full(1000)
	require.ElementsMatch(t, ids, slices.Collect(s.people(store.Categories{}, (*participant.Role).IsSpeaker).All()))
	require.Zero(t, s.people(store.Categories{}, func(r *participant.Role) bool { return r.IsCustom }).Len())
	held := s.held(ids[0], ids[1], "nobody")
	require.Len(t, held, 2)
	require.Len(t, held[ids[0]], 2)
	require.Len(t, held[ids[0]][0].SessionIDs, 10)
}

func BenchmarkPeople(b *testing.B) {
	s, ids := full(100_000)
	b.Run("people", func(b *testing.B) {
		for b.Loop() {
			s.people(store.Categories{}, func(*participant.Role) bool { return true })
		}
	})
	b.Run("held", func(b *testing.B) {
		for b.Loop() {
			s.held(ids[:25]...)
		}
	})
}
