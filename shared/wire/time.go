package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// layout is the form of an instant: UTC, always three decimals.
const layout = "2006-01-02T15:04:05.000Z"

// Time is an instant in milliseconds. In JSON it is RFC 3339 in UTC with three decimals.
type Time struct{ time.Time }

// At returns t in UTC, cut to milliseconds.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime reads an RFC 3339 instant with an offset or Z, and with a year of four digits in
// UTC. The letters may be in lower case.
func ParseTime(text string) (Time, error) {
	text = strings.ToUpper(text)
	t, err := time.Parse(time.RFC3339, text)
	if year := t.UTC().Year(); err != nil || year < 0 || year > maxYear || !instant.MatchString(text) {
		return Time{}, fmt.Errorf("%q is not an RFC 3339 time with an offset", text)
	}
	return At(t), nil
}

// instant matches RFC 3339. time.Parse also accepts a comma, an hour of one digit, and an offset
// of more than a day.
var instant = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// maxYear is the last year in RFC 3339.
const maxYear = 9999

// After returns the time of a change to a record that was last changed at last: now, or a
// millisecond after last if the clock is behind (design.md section 3).
func After(last Time, now time.Time) Time {
	if at := At(now); at.After(last.Time) {
		return at
	}
	return At(last.Add(time.Millisecond))
}

// String returns the JSON form without quotes.
func (t Time) String() string { return t.UTC().Format(layout) }

// MarshalJSON writes the instant as String does.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads an instant as ParseTime does.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a time must be a string")
	}
	parsed, err := ParseTime(text)
	*t = parsed
	return err
}

// Schema returns the schema of the JSON form.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}
