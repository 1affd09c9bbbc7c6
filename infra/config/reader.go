package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// reader takes typed values from a context and collects mistakes, so that a single run
// names all of them. A value from the command line is text, so text is parsed where a
// number, a boolean or an object is expected.
type reader struct {
	values map[string]any
	// path is the prefix of keys in mistakes, for example "us.".
	path     string
	known    map[string]bool
	mistakes *[]string
}

// newReader returns a reader of a context.
func newReader(values map[string]any) *reader {
	return &reader{values: values, known: map[string]bool{}, mistakes: new([]string)}
}

// take returns a value without a change, nil if absent. Empty text is a mistake: an unset
// variable in -c key=$VARIABLE would silently choose the default, for example every
// region, or a table that was not restored.
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

// mistake notes a mistake of a key.
func (r *reader) mistake(key, format string, args ...any) {
	*r.mistakes = append(*r.mistakes, r.path+key+" "+fmt.Sprintf(format, args...))
}

// text returns a text that fits, or fallback if the value is absent. kind describes the
// expected text in a mistake.
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

// required notes a mistake if a value is missing.
func (r *reader) required(key, kind string) {
	if r.values[key] == nil {
		r.mistake(key, "is missing: %s", kind)
	}
}

// number returns a whole number from least to most, or fallback if the value is absent.
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

// boolean returns true or false, or fallback if the value is absent.
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

// address returns an address of http or https without a final slash, empty if absent.
func (r *reader) address(key string) string {
	return strings.TrimSuffix(r.text(key, "", "an address such as https://example.org", isAddress), "/")
}

// isAddress reports whether text is an address of http or https.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// object returns a reader of the values below a key, and whether the key is given.
func (r *reader) object(key string) (inner *reader, given bool) {
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

// unknown notes a mistake for each key that was not read. At the top, the CDK has keys too:
// with a colon, or with an at sign at the start.
func (r *reader) unknown() {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		ofCDK := r.path == "" && (strings.Contains(key, ":") || strings.HasPrefix(key, "@"))
		if !r.known[key] && !ofCDK {
			r.mistake(key, "is unknown")
		}
	}
}

// shown returns a value as JSON, for a mistake.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
