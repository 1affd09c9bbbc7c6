package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// contextOf gives the values of cdk.json and of -c, and those that the CDK keeps
// there for itself.
func contextOf(app awscdk.App) map[string]any {
	all, _ := app.Node().GetAllContext(nil).(map[string]any)
	return all
}

// reader takes typed values out of a context and collects what is wrong with them,
// so that one run names every mistake. A value from the command line is text, so
// numbers, booleans and objects are read from their text too.
type reader struct {
	values map[string]any
	// path stands before the names in mistakes, such as "us.".
	path     string
	known    map[string]bool
	mistakes *[]string
}

func newReader(values map[string]any) *reader {
	return &reader{values: values, known: map[string]bool{}, mistakes: new([]string)}
}

// take gives a value as it stands, nil where it is absent. Empty text, as an unset
// variable leaves it in -c key=$VARIABLE, is a mistake, since it would silently mean the
// default: every region, any account, a table that was not restored.
func (r *reader) take(key string) any {
	value := r.values[key]
	if value == "" {
		if !r.known[key] {
			r.mistake(key, "is empty: leave it out, or give it a value")
		}
		value = nil
	}
	r.known[key] = true
	return value
}

func (r *reader) mistake(key, format string, args ...any) {
	*r.mistakes = append(*r.mistakes, r.path+key+" "+fmt.Sprintf(format, args...))
}

// text is a value that fits, or fallback where it is absent. kind says in a mistake
// what it should be.
func (r *reader) text(key, fallback, kind string, fits func(string) bool) string {
	value := r.take(key)
	if value == nil {
		return fallback
	}
	text, ok := value.(string)
	if !ok || !fits(text) {
		r.mistake(key, "is not %s: %s", kind, shown(value))
		return fallback
	}
	return text
}

// required notes that a value is missing.
func (r *reader) required(key, kind string) {
	if r.values[key] == nil {
		r.mistake(key, "is missing: %s", kind)
	}
}

// number is a whole number from least to most, or fallback where it is absent.
func (r *reader) number(key string, fallback, least, most int) int {
	value := r.take(key)
	if value == nil {
		return fallback
	}
	n, err := strconv.Atoi(strings.Trim(shown(value), `"`))
	if err != nil || n < least || n > most {
		r.mistake(key, "is not a number from %d to %d: %s", least, most, shown(value))
		return fallback
	}
	return n
}

func (r *reader) boolean(key string, fallback bool) bool {
	switch value := r.take(key); value {
	case nil:
		return fallback
	case true, "true":
		return true
	case false, "false":
		return false
	default:
		r.mistake(key, "is neither true nor false: %s", shown(value))
		return fallback
	}
}

// address is an address of http or https without a final slash, empty where it is
// absent.
func (r *reader) address(key string) string {
	return strings.TrimSuffix(r.text(key, "", "an address such as https://example.org", func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
	}), "/")
}

// object is a reader of the values below a key; there is none where it is absent.
func (r *reader) object(key string) (inner *reader, there bool) {
	inner = &reader{path: r.path + key + ".", known: map[string]bool{}, mistakes: r.mistakes}
	switch value := r.take(key).(type) {
	case nil:
		return inner, false
	case map[string]any:
		inner.values = value
	case string:
		if json.Unmarshal([]byte(value), &inner.values) != nil {
			r.mistake(key, "is not an object: %s", shown(value))
		}
	default:
		r.mistake(key, "is not an object: %s", shown(value))
	}
	return inner, true
}

// unknown names the keys that nobody asked for. At the top, those of the CDK have a colon
// or begin with an at sign.
func (r *reader) unknown() {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		own := r.path == "" && (strings.Contains(key, ":") || strings.HasPrefix(key, "@"))
		if !r.known[key] && !own {
			r.mistake(key, "is unknown")
		}
	}
}

// shown is a value as JSON, for a mistake.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
