package item

import (
	"strings"
	"unicode"
)

// Slug turns a name into an identifier: letters and digits in lower case, with an underscore
// for everything between. A name without letters and digits gives an empty slug.
func Slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
	})
	return strings.Join(words, "_")
}
