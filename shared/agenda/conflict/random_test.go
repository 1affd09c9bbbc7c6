package conflict_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/agenda/conflict"
)

// TestNoConflictIsMissedOrInvented compares the check with the naive check on random agendas.
func TestNoConflictIsMissedOrInvented(t *testing.T) {
	seed, conflicts := it.Seed(t), map[string]int{}
	for i := range it.Size(200, 2_000) {
		a, rules := newDraw(seed, i).agenda()
		found, err := conflict.Check(a)
		require.NoError(t, err)
		require.Equal(t, naive{a, rules}.lines(), lines(found), "agenda %d", i)
		for _, f := range found {
			for _, c := range f.Conflicts {
				require.NotEmpty(t, c.Message)
				conflicts[string(c.Type)+" "+string(c.Level)]++
				for _, r := range rules {
					if c.Type == conflict.BrokenRule && c.RuleID == r.ID {
						conflicts[r.Type]++
					}
				}
			}
		}
	}
	t.Log(conflicts)
	for _, kind := range []string{
		"room_overlap error", "room_overlap warning", "participant_overlap error", "participant_overlap warning", "room_capacity error",
		"room_capacity warning", "rule error", "rule warning", "min_gap_minutes", "time_window", "track_in_one_room", "order",
	} {
		require.Greater(t, conflicts[kind], it.Size(0, 100), kind) // Few agendas have a warning of each kind.
	}
}

// draw draws a random agenda.
type draw struct {
	*rand.Rand
	ids []string
	// grain is the step of times: with a long one, many sessions overlap or touch.
	grain time.Duration
}

func newDraw(seed uint64, i int) *draw {
	return &draw{Rand: it.Source(seed, i)}
}

// first are days on which agendas begin: an ordinary day, those on which clocks in Europe change, and the last of a
// year.
var first = []string{"2026-06-10", "2026-03-29", "2026-10-24", "2026-12-31"}

func (d *draw) agenda() (conflict.Agenda, []plainRule) {
	zone, err := time.LoadLocation(it.OneOf(d.Rand, []string{"Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu", "UTC"}))
	if err != nil {
		panic(err)
	}
	a := conflict.Agenda{Zone: zone, Rooms: d.rooms()}
	if d.IntN(10) == 0 {
		a.Zone = nil
	}
	begin, err := time.ParseInLocation(time.DateOnly, it.OneOf(d.Rand, first), zone)
	if err != nil {
		panic(err)
	}
	for i := range d.IntN(60) {
		d.ids = append(d.ids, fmt.Sprint("s", i))
	}
	days := 1 + d.IntN(3)
	d.grain = it.OneOf(d.Rand, []time.Duration{5 * time.Minute, 30 * time.Minute})
	for i, id := range d.ids {
		s := &conflict.Session{ID: id, Name: "SESS-" + id, Room: d.room(), Track: it.OneOf(d.Rand, []string{"", "t1", "t2", "t3"})}
		d.times(s, begin.Add(time.Duration(d.IntN(days*24*int(time.Hour/d.grain)))*d.grain))
		for range d.IntN(4) {
			s.People = append(s.People, fmt.Sprint("p", d.IntN(12)))
		}
		if i > 0 && d.IntN(4) == 0 {
			s.Parent = it.OneOf(d.Rand, d.ids)
		}
		if s.Parent == id {
			s.Parent = ""
		}
		if d.IntN(2) == 0 {
			audience := d.IntN(200)
			s.Audience = &audience
		}
		a.Sessions = append(a.Sessions, s)
	}
	var rules []plainRule
	for i := range d.IntN(8) {
		rules = append(rules, d.rule(fmt.Sprint("r", i)))
	}
	a.Rules = parsed(rules)
	return a, rules
}

func (d *draw) rooms() map[string]conflict.Room {
	rooms := map[string]conflict.Room{}
	for i := range 1 + d.IntN(5) {
		room := conflict.Room{Name: fmt.Sprint("Hall ", i)}
		if capacity := d.IntN(150); capacity > 20 {
			room.Capacity = &capacity
		}
		rooms[fmt.Sprint("h", i)] = room
	}
	return rooms
}

// room returns no room, a room that may not exist, or most often one of a few.
func (d *draw) room() string {
	return it.OneOf(d.Rand, []string{"", "h0", "h0", "h1", "h1", "h2", "h3", "h4"})
}

// times gives a session times; one of them, none, or times without length too.
func (d *draw) times(s *conflict.Session, starts time.Time) {
	length := time.Duration(d.IntN(16)) * d.grain
	if d.IntN(20) == 0 {
		length = 30*time.Minute + 20*time.Second
	}
	if d.IntN(12) > 0 {
		s.Starts = starts
	}
	if d.IntN(12) > 0 {
		s.Ends = starts.Add(length).UTC()
	}
}

// rule returns a rule of any type.
func (d *draw) rule(id string) plainRule {
	config := map[string]any{}
	if level := d.IntN(4); level < 3 {
		config["level"] = []any{"warning", "error", 7}[level]
	}
	kind := it.OneOf(d.Rand, []string{
		"no_room_overlap", "no_participant_overlap", "room_capacity", "min_gap_minutes", "min_gap_minutes", "time_window",
		"track_in_one_room", "order", "order", "free_text", "of_my_own",
	})
	switch kind {
	case "min_gap_minutes":
		config["minutes"] = it.OneOf(d.Rand, []int{1, 5, 10, 15, 30, 30, 60, 60, 90, 1440})
	case "time_window":
		config["starts"], config["ends"] = fmt.Sprintf("0%d:%02d", d.IntN(10), d.IntN(60)), fmt.Sprintf("1%d:%02d", d.IntN(10), d.IntN(60))
		if d.IntN(2) == 0 {
			config["weekdays"] = []string{"wednesday", "sunday", "thursday", "saturday"}
		}
	case "track_in_one_room":
		config["track_id"] = it.OneOf(d.Rand, []string{"t1", "t2", "t3", "gone"})
	case "order":
		ids := append([]string{"gone"}, d.ids...)
		config["before_session_id"], config["after_session_id"] = it.OneOf(d.Rand, ids), it.OneOf(d.Rand, ids)
		if config["before_session_id"] == config["after_session_id"] {
			config["after_session_id"] = "another"
		}
	case "free_text":
		config["text"] = "Be kind."
	}
	return plainRule{id, kind, config}
}
