package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Error says where and why a query is refused. Each refusal of this package is an *Error.
type Error struct {
	Position
	Found    string `json:"found" doc:"What stands there."`
	Expected string `json:"expected" doc:"What may stand there."`
	Nearest  string `json:"did_you_mean,omitempty" doc:"The known name that is most like it."`
}

// Error returns the whole message.
func (e *Error) Error() string {
	text := fmt.Sprintf("line %d, column %d: found %s, expected %s", e.Line, e.Column, e.Found, e.Expected)
	if e.Nearest != "" {
		text += "; did you mean " + e.Nearest + "?"
	}
	return text
}

// suggest adds the known name that is nearest to a name, unless none is near.
func (e *Error) suggest(name string, known []string) {
	nearest := 2 + len(name)/5
	for _, k := range known {
		if n := utf8.RuneCountInString(name) - utf8.RuneCountInString(k); max(n, -n) >= nearest {
			continue // The distance is at least n, and takes long to compute of a long name.
		}
		if d := levenshtein.ComputeDistance(name, k); d < nearest {
			e.Nearest, nearest = k, d
		}
	}
}

// token is a word, a literal or a symbol of the text.
type token struct {
	kind kind
	// text is a word as written, the content of a text, the digits of a number, or a symbol.
	text string
	at   Position
}

type kind int

const (
	end kind = iota
	word
	text
	number
	symbol
)

// String names the token in a message.
func (t token) String() string {
	switch t.kind {
	case end:
		return "the end of the query"
	case text:
		return "the text " + quote(shorten(t.text))
	case number:
		return "the number " + t.text
	default:
		return `"` + shorten(t.text) + `"`
	}
}

// shorten returns the beginning of a long text.
func shorten(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// quote returns a text as a literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// MaxLength is the largest number of characters of a query.
const MaxLength = 10_000

// lexer splits a text.
type lexer struct {
	rest []rune
	at   Position
}

// lex returns the tokens of a text, with the end as the last one.
func lex(all string) (tokens []token, err error) {
	l := lexer{rest: []rune(all), at: Position{1, 1}}
	if n := len(l.rest); n > MaxLength {
		return nil, &Error{l.at, fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d", MaxLength), ""}
	}
	for {
		l.take(unicode.IsSpace)
		t, err := l.next(len(tokens) > 0 && tokens[len(tokens)-1].is("."))
		if err != nil {
			return nil, err
		}
		if tokens = append(tokens, t); t.kind == end {
			return tokens, nil
		}
	}
}

// take removes the characters at the start of which a predicate holds, and returns them.
func (l *lexer) take(of func(rune) bool) string {
	n := slices.IndexFunc(l.rest, func(r rune) bool { return !of(r) })
	if n < 0 {
		n = len(l.rest)
	}
	return l.skip(n)
}

// skip removes n characters and returns them.
func (l *lexer) skip(n int) string {
	taken := l.rest[:n]
	for _, r := range taken {
		if l.at.Column++; r == '\n' {
			l.at = Position{l.at.Line + 1, 1}
		}
	}
	l.rest = l.rest[n:]
	return string(taken)
}

// starts reports whether a text comes next.
func (l *lexer) starts(with string) bool {
	return len(l.rest) >= len(with) && string(l.rest[:len(with)]) == with
}

// is reports whether the token is a symbol.
func (t token) is(s string) bool { return t.kind == symbol && t.text == s }

// next returns the next token. A name after a point may begin with a digit: so do names of custom fields.
func (l *lexer) next(afterPoint bool) (token, error) {
	if len(l.rest) == 0 {
		return token{end, "", l.at}, nil
	}
	at, first := l.at, l.rest[0]
	switch {
	case beginsName(first, afterPoint):
		return token{word, l.take(isWord), at}, nil
	case isDigit(first), first == '-' && len(l.rest) > 1 && isDigit(l.rest[1]):
		return l.number()
	case first == '\'':
		return l.text()
	}
	for _, s := range []string{"<=", ">=", "<>", "!=", "=", "<", ">", "(", ")", ",", ".", "*", ";"} {
		if l.starts(s) {
			return token{symbol, l.skip(len(s)), at}, nil
		}
	}
	expected := "a word, a number, a text in single quotes or an operator"
	if first == '"' || first == '`' || first == '[' {
		expected = "a name without quotes, or a text in single quotes"
	}
	return token{}, &Error{at, fmt.Sprintf("the character %q", first), expected, ""}
}

func beginsName(r rune, afterPoint bool) bool { return isLetter(r) || afterPoint && isWord(r) }

func isLetter(r rune) bool { return unicode.IsLetter(r) || r == '_' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func isWord(r rune) bool   { return isLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// maxDigits bounds the digits of a number: a number with so many is exact.
const maxDigits = 15

// number returns a number: digits, and digits after a point.
func (l *lexer) number() (token, error) {
	t := token{number, "", l.at}
	if l.starts("-") {
		t.text = l.skip(1)
	}
	t.text += l.take(isDigit)
	if l.starts(".") && len(l.rest) > 1 && isDigit(l.rest[1]) {
		t.text += l.skip(1) + l.take(isDigit)
	}
	if digits := strings.NewReplacer("-", "", ".", "").Replace(t.text); len(digits) > maxDigits {
		return t, &Error{t.at, fmt.Sprintf("a number of %d digits", len(digits)), fmt.Sprintf("at most %d digits", maxDigits), ""}
	}
	if len(l.rest) > 0 && isWord(l.rest[0]) {
		return t, &Error{t.at, quote(t.text + l.take(isWord)), "a number, or a text in single quotes", ""}
	}
	return t, nil
}

// text returns a text in single quotes, in which two quotes are one.
func (l *lexer) text() (token, error) {
	t := token{text, "", l.at}
	for {
		l.skip(1)
		t.text += l.take(func(r rune) bool { return r != '\'' })
		if len(l.rest) == 0 {
			return t, &Error{t.at, "a text without an end", "a single quote after the text", ""}
		}
		if l.skip(1); !l.starts("'") {
			return t, nil
		}
		t.text += "'"
	}
}
