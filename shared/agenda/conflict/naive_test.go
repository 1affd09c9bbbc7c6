package conflict_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/agenda/conflict"
)

// naive checks an agenda by comparing all pairs of sessions for each rule, in the order of the
// lists. It shares no code with the check.
type naive struct {
	conflict.Agenda
	rules []plainRule
}

// plainRule is a rule as a client sent it.
type plainRule struct {
	ID, Type string
	Config   map[string]any
}

func (r plainRule) level() string {
	if r.Config["level"] == "warning" {
		return "warning"
	}
	return "error"
}

// text returns a parameter as a text; empty without the parameter.
func (r plainRule) text(name string) string {
	text, _ := r.Config[name].(string)
	return text
}

// parsed returns the rules as the check takes them.
func parsed(rules []plainRule) (all []conflict.Rule) {
	for _, r := range rules {
		config, err := json.Marshal(r.Config)
		if err != nil {
			panic(err)
		}
		all = append(all, conflict.Parse(r.ID, r.Type, config))
	}
	return all
}

// lines returns a line for each conflict, without its message.
func lines(found []conflict.Found) (all []string) {
	for _, f := range found {
		for _, c := range f.Conflicts {
			all = append(all, fmt.Sprintf("%s: %s %s rule=%s other=%s people=%s", f.Session.ID, c.Type, c.Level, c.RuleID, c.SessionID,
				strings.Join(c.ContactIDs, ",")))
		}
	}
	return all
}

// lines returns the lines that the check must have.
func (n naive) lines() (all []string) {
	order := slices.Clone(n.Sessions)
	slices.SortFunc(order, func(a, b *conflict.Session) int {
		return cmp.Or(cmp.Compare(when(a), when(b)), cmp.Compare(a.ID, b.ID))
	})
	for _, s := range order {
		add := func(what, level, rule, other string, people []string) {
			all = append(all, fmt.Sprintf("%s: %s %s rule=%s other=%s people=%s", s.ID, what, level, rule, other, strings.Join(people, ",")))
		}
		level, rule := n.withoutRule("no_room_overlap")
		for _, o := range order {
			if o != s && n.room(s) && s.Room == o.Room && overlap(s, o) && !family(s, o) {
				add("room_overlap", level, rule, o.ID, nil)
			}
		}
		level, rule = n.withoutRule("no_participant_overlap")
		for _, o := range order {
			if both := on(s, o); o != s && len(both) > 0 && overlap(s, o) && !family(s, o) {
				add("participant_overlap", level, rule, o.ID, both)
			}
		}
		level, rule = n.withoutRule("room_capacity")
		if n.room(s) && n.Rooms[s.Room].Capacity != nil && s.Audience != nil && *s.Audience > *n.Rooms[s.Room].Capacity {
			add("room_capacity", level, rule, "", nil)
		}
		for _, r := range n.rules {
			for _, o := range order {
				if broken, people := n.breaks(r, s, o); broken {
					other := o.ID
					if o == s {
						other = ""
					}
					add("rule", r.level(), r.ID, other, people)
				}
			}
		}
	}
	return all
}

// breaks reports whether two sessions break a rule, or one session if both are the same.
func (n naive) breaks(r plainRule, s, o *conflict.Session) (broken bool, people []string) {
	switch r.Type {
	case "min_gap_minutes":
		minutes, _ := r.Config["minutes"].(int)
		both := on(s, o)
		if s == o || len(both) == 0 || !timed(s) || !timed(o) || overlap(s, o) || family(s, o) || s.Parent != "" && s.Parent == o.Parent {
			return false, nil
		}
		apart := o.Starts.Sub(s.Ends)
		if s.Starts.After(o.Starts) {
			apart = s.Starts.Sub(o.Ends)
		}
		return apart < time.Duration(minutes)*time.Minute, both
	case "time_window":
		return s == o && timed(s) && !n.inside(r, s), nil
	case "track_in_one_room":
		home := n.home(r.text("track_id"))
		return home != nil && n.room(s) && s.Track == home.Track && s.Room != home.Room && o == home, nil
	case "order":
		before, after := r.text("before_session_id"), r.text("after_session_id")
		return timed(s) && timed(o) && (s.ID == before && o.ID == after && s.Ends.After(o.Starts) ||
			s.ID == after && o.ID == before && o.Ends.After(s.Starts)), nil
	}
	return false, nil
}

// withoutRule returns level and id of the first rule of a type.
func (n naive) withoutRule(kind string) (level, id string) {
	for _, r := range n.rules {
		if r.Type == kind {
			return r.level(), r.ID
		}
	}
	return "error", ""
}

// inside reports whether start and end of a session are in the window of a rule, on one day.
func (n naive) inside(r plainRule, s *conflict.Session) bool {
	zone := n.Zone
	if zone == nil {
		zone = time.UTC
	}
	day := s.Starts.In(zone).Format(time.DateOnly)
	weekdays, _ := r.Config["weekdays"].([]string)
	if len(weekdays) > 0 && !slices.Contains(weekdays, strings.ToLower(s.Starts.In(zone).Format("Monday"))) {
		return false
	}
	for _, at := range []time.Time{s.Starts, s.Ends} {
		local := at.In(zone)
		if local.Format(time.DateOnly) != day || local.Format("15:04:05") < r.text("starts")+":00" || local.Format("15:04:05") > r.text("ends")+":00" {
			return false
		}
	}
	return true
}

// home returns the first session in the room with most sessions of a track.
func (n naive) home(track string) (home *conflict.Session) {
	most := 0
	for _, s := range n.Sessions {
		if track == "" || s.Track != track || !n.room(s) {
			continue
		}
		sessions, first := 0, s
		for _, o := range n.Sessions {
			if o.Track == track && o.Room == s.Room {
				sessions++
				if when(o) < when(first) || when(o) == when(first) && o.ID < first.ID {
					first = o
				}
			}
		}
		if sessions > most || sessions == most && (when(first) < when(home) || when(first) == when(home) && first.ID < home.ID) {
			most, home = sessions, first
		}
	}
	return home
}

func (n naive) room(s *conflict.Session) bool {
	_, known := n.Rooms[s.Room]
	return known
}

// when returns the times of a session as a text that sorts by them.
func when(s *conflict.Session) string {
	if !timed(s) {
		return "z"
	}
	return s.Starts.UTC().Format(time.RFC3339) + s.Ends.UTC().Format(time.RFC3339)
}

func timed(s *conflict.Session) bool {
	return !s.Starts.IsZero() && !s.Ends.IsZero() && s.Starts.Before(s.Ends)
}

func overlap(a, b *conflict.Session) bool {
	return timed(a) && timed(b) && a.Starts.Before(b.Ends) && b.Starts.Before(a.Ends)
}

func family(a, b *conflict.Session) bool { return a.Parent == b.ID || b.Parent == a.ID }

// on returns the sorted people on both sessions.
func on(a, b *conflict.Session) (both []string) {
	for _, id := range a.People {
		if slices.Contains(b.People, id) && !slices.Contains(both, id) {
			both = append(both, id)
		}
	}
	slices.Sort(both)
	return both
}
