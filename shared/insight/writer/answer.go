package writer

import (
	"encoding/json"
	"strings"
)

// maxExplanation is the largest number of characters of an explanation.
const maxExplanation = 2000

// answer is an answer of the model. An answer without JSON has no query.
type answer struct {
	Query       string `json:"query"`
	Explanation string `json:"explanation"`
}

// parse returns the first object with a query or an explanation of a text. Words and code fences around
// the object are left out.
func parse(text string) answer {
	for rest := text; ; {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			return answer{}
		}
		rest = rest[at:]
		var a answer
		if json.NewDecoder(strings.NewReader(rest)).Decode(&a) == nil && a != (answer{}) {
			return answer{strings.TrimSpace(a.Query), cut(strings.TrimSpace(a.Explanation), maxExplanation)}
		}
		rest = rest[1:]
	}
}

// declines reports whether the model says that the entities cannot answer.
func (a answer) declines() bool { return a.Query == "" && a.Explanation != "" }

// check returns the mistake of an answer; empty for an accepted query. The error is a failure of the check.
func (a answer) check(with func(text string) error) (mistake string, err error) {
	if a.Query == "" {
		return `it is not a JSON object with "query" and "explanation".`, nil
	}
	if err := with(a.Query); err != nil {
		if mistake = mistakeOf(err); mistake == "" {
			return "", err
		}
	}
	return mistake, nil
}

// cut returns a text with at most so many characters.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
