package idempotency

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// maxPart bounds message, details and options of an error that is kept, in bytes each:
// the errors of a hundred operations then fit an item.
const maxPart = 500

// refusal is the stored form of an error, with the fields that its JSON leaves out.
type refusal struct {
	Status       int           `json:"status"`
	ValidOptions []string      `json:"valid_options,omitempty"`
	Error        *apierr.Error `json:"error"`
}

// path is the form of the path of a property, and of its name alone. quoted finds a quoted name.
var (
	path   = regexp.MustCompile(`^[a-z0-9_][A-Za-z0-9_-]*(\[\d+\]|\.[a-z0-9_][A-Za-z0-9_-]*)*$`)
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// hidden stands for a name that has another form.
const hidden = "…"

// EncodeError returns an error in the form of Result.Error, without long parts. A name that a client has
// sent is kept only if it has the form of a property's name: any other may be text about a person.
func EncodeError(e *apierr.Error) (json.RawMessage, error) {
	short, options := *e, e.ValidOptions
	if field, _ := e.Details["field"].(string); field != "" && !path.MatchString(field) {
		short.Message = hideName(short.Message, field)
		short.Details = maps.Clone(e.Details)
		short.Details["field"] = hidden
	}
	short.Message = quoted.ReplaceAllStringFunc(short.Message, func(text string) string {
		if name, err := strconv.Unquote(text); err == nil && (path.MatchString(name) || slices.Contains(options, name)) {
			return text
		}
		return strconv.Quote(hidden)
	})
	if len(short.Message) > maxPart {
		short.Message = strings.ToValidUTF8(short.Message[:maxPart], "") + "…"
	}
	if isLong(short.Details) {
		short.Details = nil
	}
	if isLong(options) {
		options = nil
	}
	return wire.Encode(refusal{e.Status, options, &short})
}

// hideName replaces a name in a text, but not inside of a word.
func hideName(text, name string) string {
	var b strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			b.WriteString(text[from:])
			return b.String()
		}
		at += from
		end := at + len(name)
		if splits(text, at) || splits(text, end) {
			_, size := utf8.DecodeRuneInString(text[at:])
			b.WriteString(text[from : at+size])
			from = at + size
			continue
		}
		b.WriteString(text[from:at] + hidden)
		from = end
	}
}

// splits reports whether a place in a text is inside of a word.
func splits(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return isOfWord(before) && isOfWord(after)
}

func isOfWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_')
}

func isLong(part any) bool {
	text, err := wire.Encode(part)
	return err != nil || len(text) > maxPart
}

// DecodeError returns the error that EncodeError has encoded.
func DecodeError(text json.RawMessage) error {
	var kept refusal
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("idempotency: decode a kept error: %w", err)
	}
	if kept.Error == nil {
		return errors.New("idempotency: decode a kept error: it has no error")
	}
	kept.Error.Status, kept.Error.ValidOptions = kept.Status, kept.ValidOptions
	return kept.Error
}
