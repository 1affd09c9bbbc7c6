package conflict

import (
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
	timeWindow           = "time_window"
	trackInOneRoom       = "track_in_one_room"
	inOrder              = "order"
)

// Rule is a rule of the event.
type Rule struct {
	ID, Type string
	Level    Level
	parameters
	// opens and closes are the times of day of a time_window.
	opens, closes time.Duration
}

// parameters are the parameters of all types of rules.
type parameters struct {
	Minutes  int      `json:"minutes"`
	Starts   string   `json:"starts"`
	Ends     string   `json:"ends"`
	Weekdays []string `json:"weekdays"`
	TrackID  string   `json:"track_id"`
	Before   string   `json:"before_session_id"`
	After    string   `json:"after_session_id"`
}

// Parse returns a rule of a type from its parameters in JSON. Its level is Error unless the
// parameters say Warning. A rule whose parameters do not fit has no type, so no check evaluates it.
func Parse(id, kind string, config []byte) Rule {
	r := Rule{ID: id, Type: kind, Level: Error}
	var level struct {
		Level any `json:"level"`
	}
	if json.Unmarshal(config, &level) == nil && level.Level == string(Warning) {
		r.Level = Warning
	}
	if !r.read(config) {
		r.Type = ""
	}
	return r
}

// read reads the parameters of the rule's type, and reports whether they fit.
func (r *Rule) read(config []byte) bool {
	switch r.Type {
	case minGapMinutes, trackInOneRoom, inOrder:
		return json.Unmarshal(config, &r.parameters) == nil
	case timeWindow:
		if json.Unmarshal(config, &r.parameters) != nil {
			return false
		}
		opens, err := time.Parse(clock, r.Starts)
		closes, failed := time.Parse(clock, r.Ends)
		r.opens, r.closes = timeOfDay(opens), timeOfDay(closes)
		return err == nil && failed == nil
	}
	return true
}

// clock is the form of a time of day in parameters.
const clock = "15:04"

// timeOfDay returns the time that a clock shows, since 00:00.
func timeOfDay(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// gap returns the time that a min_gap_minutes asks for.
func (r *Rule) gap() time.Duration { return time.Duration(r.Minutes) * time.Minute }

// allows reports whether a session is within a time_window: on one day, on one of the weekdays, and
// between the times of day. Both times are local.
func (r *Rule) allows(starts, ends time.Time) bool {
	oneDay := starts.YearDay() == ends.YearDay() && starts.Year() == ends.Year()
	weekday := strings.ToLower(starts.Weekday().String())
	return oneDay && (len(r.Weekdays) == 0 || slices.Contains(r.Weekdays, weekday)) &&
		timeOfDay(starts) >= r.opens && timeOfDay(ends) <= r.closes
}

// window describes a time_window in words.
func (r *Rule) window() string {
	text := fmt.Sprintf("between %s and %s", r.Starts, r.Ends)
	if len(r.Weekdays) > 0 {
		text += " on " + strings.Join(r.Weekdays, ", ")
	}
	return text
}
