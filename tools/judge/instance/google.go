package instance

import (
	"encoding/json"
	"os"
	"strings"
)

// ReadGoogleIO reads the programme of Google I/O 2019 without its places: 1,097 sessions for 17 rooms, on three days of
// twelve hours. A session's first topic is its track.
func ReadGoogleIO(file string) (Instance, error) {
	in := Instance{Name: "Google I/O 2019", Slot: 15}
	var programme struct {
		Rooms    []struct{ ID string }
		Sessions []struct {
			ID                           string
			TagNames, Speakers           []string
			StartTimestamp, EndTimestamp int
		}
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &programme)
	}
	for day := range 3 {
		in.Days = append(in.Days, Day{day*24*60 + 8*60, day*24*60 + 20*60})
	}
	for _, r := range programme.Rooms {
		in.Rooms = append(in.Rooms, Room{r.ID, 1000})
	}
	for _, s := range programme.Sessions {
		added := Session{ID: s.ID, Minutes: (s.EndTimestamp - s.StartTimestamp) / 60_000, People: s.Speakers}
		for _, tag := range s.TagNames {
			if topic, is := strings.CutPrefix(tag, "topic_"); is && added.Track == "" {
				added.Track = topic
			}
		}
		in.Sessions = append(in.Sessions, added)
	}
	return in, err
}
