package agenda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/api"
	"lectern/shared/apierr"
)

// maxConfig bounds the bytes of a rule's parameters.
const maxConfig = 12 << 10

// configs checks the parameters of the known types.
var configs = map[string]func([]byte) error{
	"no_room_overlap":        decoded[levelAlone],
	"no_participant_overlap": decoded[levelAlone],
	"room_capacity":          decoded[levelAlone],
	"min_gap_minutes":        decoded[minGap],
	"time_window":            decoded[timeWindow],
	"track_in_one_room":      decoded[trackInOneRoom],
	"order":                  decoded[order],
	"free_text":              decoded[freeText],
}

// The parameters by type. A rule keeps properties beside them.

// Leveled is the parameter of every type that a check of conflicts evaluates: how bad a broken rule
// is.
type Leveled struct {
	Level string `json:"level,omitempty" enum:"error,warning"`
}

type levelAlone struct {
	Leveled
	_ struct{} `json:"-" additionalProperties:"true"`
}

type minGap struct {
	Leveled
	Minutes int      `json:"minutes" minimum:"1" maximum:"1440"`
	_       struct{} `json:"-" additionalProperties:"true"`
}

type timeWindow struct {
	Leveled
	Starts   string   `json:"starts" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of day such as 09:30"`
	Ends     string   `json:"ends" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of day such as 09:30"`
	Weekdays []string `json:"weekdays,omitempty" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" uniqueItems:"true"`
	_        struct{} `json:"-" additionalProperties:"true"`
}

func (w timeWindow) check() error {
	if w.Ends <= w.Starts {
		return apierr.Invalid("config.ends", "config.ends must be after config.starts.")
	}
	return nil
}

type trackInOneRoom struct {
	Leveled
	TrackID string   `json:"track_id" format:"uuid"`
	_       struct{} `json:"-" additionalProperties:"true"`
}

type order struct {
	Leveled
	Before string   `json:"before_session_id" format:"uuid"`
	After  string   `json:"after_session_id" format:"uuid"`
	_      struct{} `json:"-" additionalProperties:"true"`
}

func (o order) check() error {
	if o.Before == o.After {
		return apierr.Invalid("config.after_session_id", "config.after_session_id must be another session than config.before_session_id.")
	}
	return nil
}

type freeText struct {
	Text string   `json:"text" minLength:"1" maxLength:"3000" pattern:"\\S"`
	_    struct{} `json:"-" additionalProperties:"true"`
}

const aboutRules = "A rule says what the schedule of the event should keep. " +
	"`type` cannot change; `config` has the parameters of the type, and an update replaces it as a whole:\n\n" +
	"- `no_room_overlap`, `no_participant_overlap`, `room_capacity`: none\n" +
	"- `min_gap_minutes`: `minutes`, %d to %d\n" +
	"- `time_window`: `starts` and `ends` such as `09:30`, and `weekdays`, a list of names such as `monday`; without it every day\n" +
	"- `track_in_one_room`: `track_id`\n" +
	"- `order`: `before_session_id`, `after_session_id`\n" +
	"- `free_text`: `text`, up to %s characters\n\n" +
	"`level` is `error`, as without it, or `warning`; a `free_text` is for people and has none. " +
	"Any other type is kept with any `config` and never evaluated. `config` has at most %s bytes of JSON. " +
	"A rule may name tracks and sessions that are not there any more."

// AboutRules describes the rules and the limits of their parameters in Markdown.
func AboutRules() string {
	return fmt.Sprintf(aboutRules, limit[minGap]("Minutes", "minimum"), limit[minGap]("Minutes", "maximum"),
		grouped(limit[freeText]("Text", "maxLength")), grouped(maxConfig))
}

// limit returns the number in a tag of a parameter.
func limit[T any](field, tag string) int {
	of, _ := reflect.TypeFor[T]().FieldByName(field)
	n, _ := strconv.Atoi(of.Tag.Get(tag))
	return n
}

// grouped returns a number of thousands with a comma before the last three digits.
func grouped(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// checkLength refuses parameters of more than maxConfig.
func (c Config) checkLength() error {
	if len(c) > maxConfig {
		return apierr.Invalid("config", "config must not be longer than %d bytes.", maxConfig)
	}
	return nil
}

// check refuses parameters that a rule of the type cannot have. Parameters of an unknown
// type are bounded only.
func (c Config) check(kind string) error {
	if check := configs[kind]; check != nil {
		return check(c)
	}
	return nil
}

// within is a body with parameters of type T, so that an error names config.minutes.
type within[T any] struct {
	Config T `json:"config"`
}

// decoded reads parameters of type T and returns the 400 of a value that does not fit.
func decoded[T any](config []byte) error {
	in, refused := api.Decode[within[T]](slices.Concat([]byte(`{"config":`), config, []byte("}")))
	if refused != nil {
		return refused
	}
	if of, ok := any(in.Config).(interface{ check() error }); ok {
		return of.check()
	}
	return nil
}

// UnmarshalJSON keeps the object without the blanks between the parts.
func (c *Config) UnmarshalJSON(data []byte) error {
	var out bytes.Buffer
	err := json.Compact(&out, data)
	*c = out.Bytes()
	return err
}

// MarshalJSON returns the object as sent.
func (c Config) MarshalJSON() ([]byte, error) { return c, nil }

// Schema returns the schema of any object.
func (Config) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Examples: []any{map[string]any{"minutes": 15}}}
}
