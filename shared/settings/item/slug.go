package item

import (
	"strings"
	"unicode"
)

// Slug turns a name into an identifier: letters and digits in lower case, with
// an underscore for whatever stands between them. It is empty for a name that
// has neither.
func Slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
	})
	return strings.Join(words, "_")
}
