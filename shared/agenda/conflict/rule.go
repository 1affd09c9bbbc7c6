package conflict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The types of rules that a check evaluates (gaps.md section 4).
const (
	noRoomOverlap        = "no_room_overlap"
	noParticipantOverlap = "no_participant_overlap"
	roomCapacity         = "room_capacity"
	minGapMinutes        = "min_gap_minutes"
	TimeWindow           = "time_window"
	trackInOneRoom       = "track_in_one_room"
	inOrder              = "order"
)

// Rule is a rule of the event, with the parameters of all types.
type Rule struct {
	ID, Type string
	Level    Level

	// Track is the track of a track_in_one_room, Before and After are the sessions of an order. They are empty for a
	// rule of another type.
	Track, Before, After string

	minutes       int
	starts, ends  string
	weekdays      []string
	opens, closes time.Duration // starts and ends as times of day
}

// Parse returns a rule of a type from its parameters in JSON. Its level is Error unless the
// parameters say Warning. A rule whose parameters do not fit has neither
// type nor parameters, so no check evaluates it.
func Parse(id, kind string, config []byte) Rule {
	r, level, sent := Rule{ID: id, Type: kind, Level: Error}, Error, parameters{}
	fits := json.Unmarshal(config, &sent) == nil && r.read(sent)
	if sent.into("level", &level) && level == Warning {
		r.Level = Warning
	}
	if !fits {
		return Rule{ID: id, Level: r.Level}
	}
	return r
}

// parameters are the parameters of a rule by name. A rule keeps other properties beside them, also
// a Minutes beside minutes, so the names must be exact.
type parameters map[string]json.RawMessage

// into reads a parameter, and reports whether it fits; a parameter that was not sent does.
func (p parameters) into(name string, to any) bool {
	text, sent := p[name]
	return !sent || json.Unmarshal(text, to) == nil
}

// id reads the parameter of a name as an id, which a client may write in capitals.
func (p parameters) id(name string, to *string) bool {
	fits := p.into(name, to)
	*to = strings.ToLower(*to)
	return fits
}

// read reads the parameters of the rule's type, and reports whether they fit.
func (r *Rule) read(sent parameters) bool {
	switch r.Type {
	case minGapMinutes:
		minutes := 0.0 // 15.0 and 1.5e1 are whole numbers, too.
		fits := sent.into("minutes", &minutes)
		r.minutes = int(minutes)
		return fits
	case trackInOneRoom:
		return sent.id("track_id", &r.Track)
	case inOrder:
		return sent.id("before_session_id", &r.Before) && sent.id("after_session_id", &r.After)
	case TimeWindow:
		return sent.into("weekdays", &r.weekdays) && sent.into("starts", &r.starts) && sent.into("ends", &r.ends) && r.readClocks()
	}
	return true
}

// readClocks reads the times of day of a time_window, and reports whether they fit.
func (r *Rule) readClocks() bool {
	opens, err := time.Parse(clock, r.starts)
	closes, failed := time.Parse(clock, r.ends)
	r.opens, r.closes = timeOfDay(opens), timeOfDay(closes)
	return err == nil && failed == nil
}

// clock is the form of a time of day in parameters.
const clock = "15:04"

// timeOfDay returns the time that a clock shows, since 00:00.
func timeOfDay(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// Gap returns the time that a min_gap_minutes asks for; 0 for a rule of another type.
func (r *Rule) Gap() time.Duration { return time.Duration(r.minutes) * time.Minute }

// Local is a time with an end on the clocks of a zone.
type Local struct {
	// oneDay reports whether the end is on the day of the start.
	oneDay  bool
	weekday string
	// starts and ends are times of day.
	starts, ends time.Duration
}

// LocalOf returns a time with an end on the clocks of a zone; nil means UTC.
func LocalOf(starts, ends time.Time, zone *time.Location) Local {
	zone = cmp.Or(zone, time.UTC)
	starts, ends = starts.In(zone), ends.In(zone)
	return Local{
		oneDay:  starts.YearDay() == ends.YearDay() && starts.Year() == ends.Year(),
		weekday: strings.ToLower(starts.Weekday().String()), starts: timeOfDay(starts), ends: timeOfDay(ends),
	}
}

// Allows reports whether a session is within a time_window: on one day, on one of the weekdays, and
// with start and end between the times of day. Where clocks are set back, an end can be an earlier time of day than its start.
func (r *Rule) Allows(l Local) bool {
	return l.oneDay && (len(r.weekdays) == 0 || slices.Contains(r.weekdays, l.weekday)) && r.isOpen(l.starts) && r.isOpen(l.ends)
}

// isOpen reports whether a time of day is within a time_window.
func (r *Rule) isOpen(at time.Duration) bool { return at >= r.opens && at <= r.closes }

// FirstOf returns the first rule of a type, which gives its id and level to conflicts that need no rule. Without such
// a rule, FirstOf returns a rule of level Error without an id.
func FirstOf(rules []Rule, kind string) Rule {
	for _, r := range rules {
		if r.Type == kind {
			return r
		}
	}
	return Rule{Level: Error}
}

// window describes a time_window in words.
func (r *Rule) window() string {
	text := fmt.Sprintf("between %s and %s", r.starts, r.ends)
	if len(r.weekdays) > 0 {
		text += " on " + strings.Join(r.weekdays, ", ")
	}
	return text
}
