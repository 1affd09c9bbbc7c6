// Package instance draws conferences whose agenda is to be proposed, and reads the programme of Google I/O 2019. An
// instance is JSON, so that solvers in other languages solve the same.
package instance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/solver"
)

// Instance is a conference. All times are minutes after 00:00 of the first day, a Monday.
type Instance struct {
	Name     string    `json:"name"`
	Slot     int       `json:"slot_minutes"`
	Days     []Day     `json:"days"`
	Rooms    []Room    `json:"rooms"`
	Sessions []Session `json:"sessions"`
	Rules    []Rule    `json:"rules"`
}

// Day is a span in which sessions may be.
type Day struct {
	Starts int `json:"starts"`
	Ends   int `json:"ends"`
}

// Room is a room with seats.
type Room struct {
	ID    string `json:"id"`
	Seats int    `json:"seats"`
}

// Session is a session to place, or a session that stays at Starts in Room.
type Session struct {
	ID       string   `json:"id"`
	Minutes  int      `json:"minutes"`
	People   []string `json:"people"`
	Track    string   `json:"track"`
	Audience int      `json:"audience"`
	Parent   string   `json:"parent"`
	Fixed    bool     `json:"fixed"`
	Starts   int      `json:"starts"`
	Room     string   `json:"room"`
}

// Rule is a rule of the event with its parameters.
type Rule struct {
	ID     string         `json:"id"`
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

// Monday is 00:00 of the first day.
var Monday = time.Date(2027, 5, 10, 0, 0, 0, 0, time.UTC)

func clock(minutes int) time.Time { return Monday.Add(time.Duration(minutes) * time.Minute) }

// Problem returns the instance as the solver takes it.
func (in Instance) Problem() (solver.Problem, error) {
	p := solver.Problem{}
	p.Slot = time.Duration(in.Slot) * time.Minute
	p.Agenda = conflict.Agenda{Rooms: map[string]conflict.Room{}, Zone: time.UTC}
	for _, d := range in.Days {
		p.Days = append(p.Days, block.Day{Starts: clock(d.Starts), Ends: clock(d.Ends)})
	}
	for _, r := range in.Rooms {
		p.Agenda.Rooms[r.ID] = conflict.Room{Name: r.ID, Capacity: &r.Seats}
	}
	for _, r := range in.Rules {
		config, err := json.Marshal(r.Config)
		if err != nil {
			return p, err
		}
		p.Agenda.Rules = append(p.Agenda.Rules, conflict.Parse(r.ID, r.Type, config))
	}
	for _, s := range in.Sessions {
		starts := clock(s.Starts)
		p.Agenda.Sessions = append(p.Agenda.Sessions, &conflict.Session{ID: s.ID, Name: s.ID, Parent: s.Parent, Room: s.Room, Track: s.Track,
			People: s.People, Audience: &s.Audience, Starts: starts, Ends: starts.Add(time.Duration(s.Minutes) * time.Minute)})
		if !s.Fixed {
			p.SessionIDs = append(p.SessionIDs, s.ID)
		}
	}
	return p, nil
}

// Draw returns a conference of about so many sessions. The same seed gives the same conference.
func Draw(sessions int, seed uint64) Instance {
	d := draw{Rand: rand.New(rand.NewPCG(seed, uint64(sessions)))} //nolint:gosec // the draw must be repeatable
	d.Instance = Instance{Name: fmt.Sprintf("%d sessions, seed %d", sessions, seed), Slot: []int{15, 30}[d.IntN(2)]}
	for day := range 2 + sessions/100 {
		d.Days = append(d.Days, Day{day*24*60 + 9*60, day*24*60 + 17*60 + 30})
	}
	d.addSessions(sessions)
	d.addRooms()
	d.fix()
	d.addRules()
	return d.Instance
}

// draw draws one instance.
type draw struct {
	*rand.Rand
	Instance
}

// addSessions draws sessions: each twentieth is a panel with three subsessions.
func (d *draw) addSessions(n int) {
	lengths := []int{30, 30, 45, 60, 60, 60, 90}
	for len(d.Sessions) < n {
		s := Session{ID: fmt.Sprintf("s%03d", len(d.Sessions)), Minutes: lengths[d.IntN(len(lengths))]}
		s.Audience = 10 + min(d.IntN(150), d.IntN(150))
		s.Track = fmt.Sprint("t", d.IntN(1+n/12))
		panel := d.IntN(20) == 0 && len(d.Sessions)+4 <= n
		if panel {
			s.Minutes = 90
		}
		d.addPeople(&s, n)
		d.Sessions = append(d.Sessions, s)
		for range 3 {
			if panel {
				part := Session{ID: fmt.Sprintf("s%03d", len(d.Sessions)), Minutes: 30, Parent: s.ID}
				part.Audience, part.Track = s.Audience, s.Track
				d.addPeople(&part, n)
				d.Sessions = append(d.Sessions, part)
			}
		}
	}
}

// addPeople draws one to three people.
func (d *draw) addPeople(s *Session, n int) {
	for range 1 + d.IntN(3) {
		s.People = append(s.People, fmt.Sprintf("p%03d", d.IntN(1+n*6/5)))
	}
}

// addRooms draws as many rooms as are busy for three quarters of the time.
func (d *draw) addRooms() {
	wanted, open := 0, 0
	for _, s := range d.Sessions {
		if s.Parent == "" {
			wanted += (s.Minutes + d.Slot - 1) / d.Slot * d.Slot
		}
	}
	for _, day := range d.Days {
		open += day.Ends - day.Starts
	}
	for i := range 1 + wanted*13/10/open {
		d.Rooms = append(d.Rooms, Room{fmt.Sprintf("r%02d", i), 60 + 15*d.IntN(8)})
	}
	d.Rooms[0].Seats = 200
}

// fix lets two sessions stay at the start of two days in the largest room.
func (d *draw) fix() {
	for day := range 2 {
		for i := range d.Sessions {
			s := &d.Sessions[i]
			if s.Parent == "" && !s.Fixed && !d.hasParts(s.ID) && s.Minutes >= 45 {
				s.Fixed, s.Room, s.Starts = true, d.Rooms[0].ID, d.Days[day].Starts
				break
			}
		}
	}
}

func (d *draw) hasParts(id string) bool {
	for _, s := range d.Sessions {
		if s.Parent == id {
			return true
		}
	}
	return false
}

// addRules draws rules of each type and level.
func (d *draw) addRules() {
	add := func(kind string, level string, config map[string]any) {
		config["level"] = level
		d.Rules = append(d.Rules, Rule{fmt.Sprint("rule", len(d.Rules)), kind, config})
	}
	add("min_gap_minutes", "error", map[string]any{"minutes": 15})
	add("min_gap_minutes", "warning", map[string]any{"minutes": 45})
	add("time_window", "warning", map[string]any{"starts": "09:30", "ends": "17:00"})
	add("time_window", "error", map[string]any{"starts": "08:00", "ends": "17:30",
		"weekdays": []string{"monday", "tuesday", "wednesday", "thursday"}})
	add("room_capacity", []string{"error", "warning"}[d.IntN(2)], map[string]any{})
	add("track_in_one_room", "warning", map[string]any{"track_id": "t0"})
	add("track_in_one_room", "error", map[string]any{"track_id": "small"})
	for i := range 4 {
		s := &d.Sessions[len(d.Sessions)/2+i]
		if s.Parent == "" && !s.Fixed && !d.hasParts(s.ID) {
			s.Track = "small"
		}
	}
	for range 2 + len(d.Sessions)/20 {
		i := d.IntN(len(d.Sessions) - 1)
		a, b := d.Sessions[i], d.Sessions[i+1+d.IntN(len(d.Sessions)-i-1)]
		if a.Parent == "" && b.Parent == "" && !a.Fixed && !b.Fixed {
			add("order", []string{"error", "warning"}[d.IntN(2)], map[string]any{"before_session_id": a.ID, "after_session_id": b.ID})
		}
	}
	add("free_text", "error", map[string]any{"text": "Be kind."})
}

// Errors counts the conflicts of level error that an agenda has with the proposed sessions and that the fixed sessions alone do not
// have, as package conflict finds them. An overlap is an error, whatever a rule says.
func Errors(p solver.Problem, r solver.Result) (int, error) {
	a := p.Agenda
	a.Sessions = fixed(p)
	a.Rules = slices.DeleteFunc(slices.Clone(a.Rules), func(r conflict.Rule) bool { return strings.HasSuffix(r.Type, "_overlap") })
	before, err := conflict.Check(a)
	if err != nil {
		return 0, err
	}
	a.Sessions = append(a.Sessions, r.Placed...)
	after, err := conflict.Check(a)
	return errorsIn(after) - errorsIn(before), err
}

// errorsIn counts conflicts of level error.
func errorsIn(found []conflict.Found) (n int) {
	for _, f := range found {
		for _, c := range f.Conflicts {
			if c.Level == conflict.Error {
				n++
			}
		}
	}
	return n
}

// Placed is a proposed place.
type Placed struct {
	ID     string `json:"id"`
	Starts int    `json:"starts"`
	Room   string `json:"room"`
}

// PlacesOf returns the proposed places.
func PlacesOf(r solver.Result) []Placed {
	places := []Placed{}
	for _, s := range r.Placed {
		places = append(places, Placed{s.ID, minutes(Monday, s.Starts), s.Room})
	}
	return places
}
