package instance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/solver"
)

// Wild returns a problem without sense: sessions with or without times, rooms and people, families of any form, fixed
// sessions in conflict, rules of every type. Some problems lie before 1970, over a change of clocks, or have a day in another
// century.
func Wild(r *rand.Rand) solver.Problem {
	w := wild{r, one(r, 0, 0, 0, -25_000, -43)}
	p := solver.Problem{}
	p.Slot = time.Duration(5+5*w.IntN(12)) * time.Minute
	p.KeepTimes, p.KeepRooms = w.IntN(2) == 0, w.IntN(2) == 0
	p.Agenda = conflict.Agenda{Rooms: map[string]conflict.Room{}, Zone: one(r, nil, time.UTC, time.FixedZone("", 5*3600+2700), berlin)}
	for i := range 1 + w.IntN(4) {
		room := conflict.Room{Name: fmt.Sprint("Hall ", i)}
		if seats := w.IntN(120); seats > 20 {
			room.Capacity = &seats
		}
		p.Agenda.Rooms[fmt.Sprint("h", i)] = room
		if w.IntN(3) == 0 {
			p.RoomIDs = append(p.RoomIDs, fmt.Sprint("h", i))
		}
	}
	opens := one(r, 0, 480)
	for day := range 1 + w.IntN(3) {
		if day == 2 && w.IntN(3) == 0 {
			day = 90_000
		}
		p.Days = append(p.Days, block.Day{Starts: w.clock(day, opens), Ends: w.clock(day, 600+w.IntN(600))})
	}
	sessions := 1 + w.IntN(30)
	for i := range sessions {
		s := w.session(i, sessions)
		p.Agenda.Sessions = append(p.Agenda.Sessions, s)
		if w.IntN(5) > 0 {
			p.SessionIDs = append(p.SessionIDs, s.ID)
		}
	}
	for i := range w.IntN(8) {
		kind, config := w.rule(sessions)
		config["level"] = one(r, "error", "warning")
		text, err := json.Marshal(config)
		if err != nil {
			panic(err)
		}
		p.Agenda.Rules = append(p.Agenda.Rules, conflict.Parse(fmt.Sprint("rule", i), kind, text))
	}
	return p
}

// wild draws a problem. Day 0 is so many days after Monday.
type wild struct {
	*rand.Rand
	from int
}

// berlin is a zone in which clocks change.
var berlin = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

// one returns one of some values.
func one[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// clock returns the time of a minute of a day.
func (w wild) clock(day, minute int) time.Time { return clock((w.from+day)*1440 + minute) }

// session returns a session of any form.
func (w wild) session(i, sessions int) *conflict.Session {
	s := &conflict.Session{ID: fmt.Sprintf("s%02d", i), Name: fmt.Sprintf("SESS-%d", i), Track: one(w.Rand, "", "t1", "t2")}
	s.Room = one(w.Rand, "", "gone", "h0", "h1", "h2")
	if w.IntN(3) > 0 {
		s.Starts = w.clock(w.IntN(3), 400+5*w.IntN(120)).Add(time.Duration(w.IntN(2)) * time.Second)
		s.Ends = s.Starts.Add(time.Duration(5*w.IntN(20))*time.Minute + one(w.Rand, 0, 0, 45*time.Second))
	}
	s.Length = one(w.Rand, 0, 40*time.Minute)
	if w.IntN(10) == 0 {
		s.Ends = time.Time{}
	}
	for range w.IntN(4) {
		s.People = append(s.People, fmt.Sprint("p", w.IntN(10)))
	}
	if w.IntN(4) == 0 {
		s.Parent, s.Elsewhere = fmt.Sprintf("s%02d", w.IntN(sessions+2)), w.IntN(2) == 0
	}
	if audience := w.IntN(140); w.IntN(2) == 0 {
		s.Audience = &audience
	}
	return s
}

// rule returns a rule of any type.
func (w wild) rule(sessions int) (kind string, config map[string]any) {
	switch kind = one(w.Rand, "min_gap_minutes", "time_window", "track_in_one_room", "order",
		"room_capacity", "no_room_overlap", "free_text", "mine"); kind {
	case "min_gap_minutes":
		config = map[string]any{"minutes": 5 + w.IntN(60)}
	case "time_window":
		config = map[string]any{"starts": one(w.Rand, "08:00", "09:10"), "ends": one(w.Rand, "16:00", "20:00")}
		config["weekdays"] = one(w.Rand, []string{}, []string{"monday", "wednesday"})
	case "track_in_one_room":
		config = map[string]any{"track_id": one(w.Rand, "t1", "t2", "gone")}
	case "order":
		before := w.IntN(sessions)
		config = map[string]any{
			"before_session_id": fmt.Sprintf("s%02d", before),
			"after_session_id":  fmt.Sprintf("s%02d", (before+1+w.IntN(sessions))%(sessions+1)),
		}
	default:
		config = map[string]any{}
	}
	return kind, config
}
