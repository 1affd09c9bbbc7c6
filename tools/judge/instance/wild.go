package instance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/solver"
)

// Wild returns a problem without sense: sessions with or without times, rooms and people, families of any form, fixed
// sessions in conflict, rules of every type.
func Wild(r *rand.Rand) solver.Problem {
	w := wild{r}
	p := solver.Problem{Slot: time.Duration(5+5*w.IntN(12)) * time.Minute}
	p.KeepTimes, p.KeepRooms = w.IntN(2) == 0, w.IntN(2) == 0
	p.Agenda = conflict.Agenda{Rooms: map[string]conflict.Room{}, Zone: one(w, nil, time.UTC, time.FixedZone("", 5*3600+2700))}
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
	for day := range 1 + w.IntN(3) {
		p.Days = append(p.Days, board.Day{Starts: clock(day*1440 + 480), Ends: clock(day*1440 + 600 + w.IntN(600))})
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
		config["level"] = one(w, "error", "warning")
		text, err := json.Marshal(config)
		if err != nil {
			panic(err)
		}
		p.Agenda.Rules = append(p.Agenda.Rules, conflict.Parse(fmt.Sprint("rule", i), kind, text))
	}
	return p
}

type wild struct{ *rand.Rand }

// one returns one of some values.
func one[T any](w wild, values ...T) T { return values[w.IntN(len(values))] }

// session returns a session of any form.
func (w wild) session(i, sessions int) *conflict.Session {
	s := &conflict.Session{ID: fmt.Sprintf("s%02d", i), Name: fmt.Sprintf("SESS-%d", i), Track: one(w, "", "t1", "t2")}
	s.Room = one(w, "", "gone", "h0", "h1", "h2")
	if w.IntN(3) > 0 {
		s.Starts = clock(1440*w.IntN(3) + 400 + 5*w.IntN(120)).Add(time.Duration(w.IntN(2)) * time.Second)
		s.Ends = s.Starts.Add(time.Duration(5*w.IntN(20)) * time.Minute)
	}
	if w.IntN(10) == 0 {
		s.Ends = time.Time{}
	}
	for range w.IntN(4) {
		s.People = append(s.People, fmt.Sprint("p", w.IntN(10)))
	}
	if w.IntN(4) == 0 {
		s.Parent = fmt.Sprintf("s%02d", w.IntN(sessions+2))
	}
	if audience := w.IntN(140); w.IntN(2) == 0 {
		s.Audience = &audience
	}
	return s
}

// rule returns a rule of any type.
func (w wild) rule(sessions int) (kind string, config map[string]any) {
	switch kind = one(w, "min_gap_minutes", "time_window", "track_in_one_room", "order",
		"room_capacity", "no_room_overlap", "free_text", "mine"); kind {
	case "min_gap_minutes":
		config = map[string]any{"minutes": 5 + w.IntN(60)}
	case "time_window":
		config = map[string]any{"starts": one(w, "08:00", "09:10"), "ends": one(w, "16:00", "20:00")}
		config["weekdays"] = one(w, []string{}, []string{"monday", "wednesday"})
	case "track_in_one_room":
		config = map[string]any{"track_id": one(w, "t1", "t2", "gone")}
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
