package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// layout is how an instant is written: UTC, always three decimals.
const layout = "2006-01-02T15:04:05.000Z"

// Time is an instant cut to milliseconds. In JSON it is RFC 3339 in UTC with
// three decimals; read, it must carry an offset or Z.
type Time struct{ time.Time }

// At is t in UTC, cut to milliseconds.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime reads an RFC 3339 instant, which must carry an offset or Z.
func ParseTime(text string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return Time{}, fmt.Errorf("%q is not an RFC 3339 time with an offset", text)
	}
	return At(t), nil
}

// String is the JSON form without quotes.
func (t Time) String() string { return t.UTC().Format(layout) }

// Same is whether both are the same instant, to the millisecond.
func (t Time) Same(u Time) bool { return t.UnixMilli() == u.UnixMilli() }

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

// Schema describes the JSON form.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}
