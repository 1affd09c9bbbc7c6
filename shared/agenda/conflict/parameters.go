package conflict

import (
	"cmp"
	"time"
)

// TakesTime reports whether the session has a start and a later end.
func (s *Session) TakesTime() bool { return s.scheduled() }

// Gap returns the time that a min_gap_minutes asks for; 0 for a rule of another type.
func (r *Rule) Gap() time.Duration {
	if r.Type != minGapMinutes {
		return 0
	}
	return r.gap()
}

// Track returns the track of a track_in_one_room; empty for a rule of another type.
func (r *Rule) Track() string {
	if r.Type != trackInOneRoom {
		return ""
	}
	return r.track
}

// Order returns the sessions of an order; empty for a rule of another type.
func (r *Rule) Order() (before, after string) {
	if r.Type != inOrder {
		return "", ""
	}
	return r.before, r.after
}

// Window describes a time_window in words; empty for a rule of another type.
func (r *Rule) Window() string {
	if r.Type != timeWindow {
		return ""
	}
	return r.window()
}

// Allows reports whether a session keeps a time_window in a zone; nil means UTC. A rule of another type
// allows every time.
func (r *Rule) Allows(s *Session, zone *time.Location) bool {
	return r.Type != timeWindow || !s.scheduled() || r.allows(localOf(s, cmp.Or(zone, time.UTC)))
}
