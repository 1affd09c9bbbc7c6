package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// The formats of numbers beside the plain one.
const (
	// Integer rounds to a whole number: 1,235.
	Integer = "integer"
	// Percent adds a sign to the value as it is: 12.5%.
	Percent = "percent"
	// Currency writes two decimals, without a sign: 1,234.50. A query does not say which currency it is.
	Currency = "currency"
	// Compact writes thousands as k, millions as M, and so on: 1.23k.
	Compact = "compact"
)

// number returns a number in a format. Numbers with more than 15 digits are in scientific notation.
func number(format string, n float64) string {
	if size := math.Abs(n); size >= 1e15 || size != 0 && size < 1e-6 {
		return strconv.FormatFloat(n, 'g', 4, 64)
	}
	switch format {
	case Integer:
		return grouped(n, 0)
	case Percent:
		return trimmed(grouped(n, 2)) + "%"
	case Currency:
		return grouped(n, 2)
	case Compact:
		return compact(n)
	}
	return trimmed(grouped(n, digits(n)))
}

// digits returns how many decimals a plain number has: more for a small number.
func digits(n float64) int {
	switch size := math.Abs(n); {
	case size != 0 && size < 1:
		return min(8, 3-int(math.Floor(math.Log10(size))))
	case size < 100:
		return 4
	}
	return 2
}

// compact returns a number with a letter for its power of a thousand.
func compact(n float64) string {
	letters := []string{"", "k", "M", "G", "T"}
	at := 0
	for ; math.Abs(n) >= 1000 && at < len(letters)-1; at++ {
		n /= 1000
	}
	return trimmed(grouped(n, digits(n))) + letters[at]
}

// grouped returns a number with a comma between thousands.
func grouped(n float64, decimals int) string {
	text := strconv.FormatFloat(math.Abs(n), 'f', decimals, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if decimals > 0 {
		whole += "." + rest
	}
	if n < 0 && strings.Trim(text, "0.") != "" {
		return "-" + whole
	}
	return whole
}

// trimmed returns a number without zeros at the end of its decimals.
func trimmed(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// The space of texts in columns. A wide character takes two.
const (
	titleSpace = 56
	axisSpace  = 50
	nameSpace  = 26
)

// maxMarks is the number of marks without width that a text keeps in a row.
const maxMarks = 4

// label returns a text in one line and within a space. A text that is too long ends with an ellipsis. Characters that XML refuses and
// those that change the direction of a text are left out.
func label(text string, space int) string {
	var kept []rune
	used, marks := 0, 0
	end := 0 // where the text has to end for an ellipsis
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			r = ' '
		}
		if !shown(r) || r == ' ' && (len(kept) == 0 || kept[len(kept)-1] == ' ') {
			continue
		}
		columns := columnsOf(r)
		if columns > 0 {
			marks = 0
		} else if marks++; marks > maxMarks {
			continue
		}
		if used += columns; used > space {
			return strings.TrimRight(string(kept[:end]), " \u200d") + "…"
		}
		kept = append(kept, r)
		if used < space {
			end = len(kept)
		}
	}
	return strings.TrimRight(string(kept), " ")
}

// shown reports whether a text keeps a character.
func shown(r rune) bool {
	switch {
	case r&0xfffe == 0xfffe: // no character
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069': // direction
		return false
	}
	return true
}

// columnsOf returns the width of a character: 0 for a mark, 2 for characters of East Asia and pictures.
func columnsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xff00 && r <= 0xff60, r >= 0x1f000:
		return 2
	}
	return 1
}

// columns returns the width of a text.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}
