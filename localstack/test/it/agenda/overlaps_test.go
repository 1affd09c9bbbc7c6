package agenda_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestConflictsAreThoseOfTheSessions compares the conflicts with the sessions as the API lists them, while
// sessions are moved, deleted and restored by another instance.
func TestConflictsAreThoseOfTheSessions(t *testing.T) {
	p := newPlanner(t)
	r := it.Source(it.Seed(t), 1)
	other := &it.Client{Stack: p.Instance(t), T: t}
	draft := func() object {
		starts := float64(r.IntN(16)) / 2
		data := object{"title": "Talk", "starts_at": hour(starts), "ends_at": hour(starts + float64(1+r.IntN(3))/2), "room_id": nil}
		if room := it.OneOf(r, []string{"Big", "Small", ""}); room != "" {
			data["room_id"] = p.rooms[room]
		}
		data["participants"] = it.ParticipantsOf(it.OneOf(r, [][]string{{"Ann speaker"}, {"Bob speaker", "Cem moderator"}, {"Bob moderator", "Ann speaker"}, {}}))
		return data
	}
	var ids []string
	for range it.Size(60, 300) {
		switch {
		case len(ids) < 15 || r.IntN(4) == 0:
			ids = append(ids, other.Create(200, draft()).ID())
		case r.IntN(5) == 0:
			id := it.OneOf(r, ids)
			other.Delete(200, id)
			if r.IntN(2) == 0 {
				other.Restore(200, id)
			} else {
				ids = slices.DeleteFunc(ids, func(known string) bool { return known == id })
			}
		default:
			other.Put(200, it.OneOf(r, ids), draft())
		}
		if len(ids) >= 15 {
			require.Equal(t, expectedOverlaps(p), listedOverlaps(p))
		}
	}
}

// listedOverlaps returns the overlaps that the operation lists.
func listedOverlaps(p *planner) (lines []string) {
	for _, s := range p.ListSettings(conflictsPath) {
		for _, c := range s.List("conflicts") {
			lines = append(lines, fmt.Sprintln(s["session_id"], c["type"], c["session_id"], c["contact_ids"]))
		}
	}
	slices.Sort(lines)
	return lines
}

// expectedOverlaps compares all pairs of the sessions that the API lists.
func expectedOverlaps(p *planner) (lines []string) {
	var all []entity
	for page := 1; ; page++ {
		listed := p.List(fmt.Sprint("page=", page), "page_size=100")
		if all = append(all, listed.Results...); len(all) == listed.Pagination.TotalResults {
			break
		}
	}
	for _, a := range all {
		for _, b := range all {
			if a.ID() == b.ID() || a.Text("starts_at") >= b.Text("ends_at") || b.Text("starts_at") >= a.Text("ends_at") {
				continue
			}
			if room := a.At("room.id"); room != nil && room == b.At("room.id") {
				lines = append(lines, fmt.Sprintln(a.ID(), "room_overlap", b.ID(), nil))
			}
			if both := peopleOnBoth(a, b); len(both) > 0 {
				lines = append(lines, fmt.Sprintln(a.ID(), "participant_overlap", b.ID(), both))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// peopleOnBoth returns the sorted ids of the people on both sessions.
func peopleOnBoth(a, b entity) (both []string) {
	others := it.Texts(b.List("participants"), "id")
	for _, id := range it.Texts(a.List("participants"), "id") {
		if slices.Contains(others, id) {
			both = append(both, id)
		}
	}
	slices.Sort(both)
	return both
}
