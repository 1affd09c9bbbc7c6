package board

// The penalties in minutes of an idle room: another day for a person is as bad as two hours of an idle room.
const (
	// UnplacedPoints is the penalty of a session without a place.
	UnplacedPoints = 1_000_000

	warningPoints = 240
	trackPoints   = 60
	clashPoints   = 60
	dayPoints     = 120
)

// Score has the penalties of an agenda by part, fixed sessions included.
type Score struct {
	Unplaced int `json:"unplaced" doc:"1,000,000 for each session without a place."`
	Warnings int `json:"warnings" doc:"240 for each broken rule of level warning; a short gap counts for each person."`
	Tracks   int `json:"tracks" doc:"60 for each session outside of the room with most sessions of the track."`
	Clashes  int `json:"clashes" doc:"60 for each two sessions of a track at one time."`
	Seats    int `json:"seats" doc:"1 for each seat that a room lacks."`
	Idle     int `json:"idle" doc:"1 for each minute that a room is idle between two sessions of a day."`
	Days     int `json:"days" doc:"120 for each day of a person after the first."`
}

// Total returns the sum of the parts.
func (s *Score) Total() int {
	return s.Unplaced + s.Warnings + s.Tracks + s.Clashes + s.Seats + s.Idle + s.Days
}

// add adds another score, times a sign.
func (s *Score) add(other Score, sign int) {
	s.Unplaced += sign * other.Unplaced
	s.Warnings += sign * other.Warnings
	s.Tracks += sign * other.Tracks
	s.Clashes += sign * other.Clashes
	s.Seats += sign * other.Seats
	s.Idle += sign * other.Idle
	s.Days += sign * other.Days
}
