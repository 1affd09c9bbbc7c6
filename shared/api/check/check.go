// Package check holds what a client sent against the schemas that huma makes
// from the input types. It owns every refusal of shape: its message, its field
// as the client wrote it, and that the first one decides. It does not own the
// schemas nor any rule about records.
//
// It stands in for huma's own validation, which lets null pass for an absent
// property, takes keys in any case, names a missing property by its parent and
// lets Go's type names through to the caller.
package check

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// Body checks a request body, which must be a JSON object, and gives the bytes
// to decode: those sent, or where these would decode to something else, the
// same value rewritten. The error is an *apierr.Error of status 400.
func Body(r huma.Registry, s *huma.Schema, raw []byte) ([]byte, error) {
	o, err := parse(raw)
	if err != nil {
		return nil, err
	}
	c := checker{registry: r}
	if _, err := c.value(s, o, path{}); err != nil {
		return nil, err
	}
	if !c.changed {
		return raw, nil
	}
	return wire.Encode(o)
}

// Param checks the values that were sent for a parameter, one or more, and
// gives them as one text: a list joined by commas, whether it was sent with
// commas, repeated, or both. The error is an *apierr.Error of status 400.
func Param(r huma.Registry, s *huma.Schema, name string, values []string) (string, error) {
	c := checker{registry: r}
	if s.Type == huma.TypeArray {
		return c.listParam(s, name, strings.Join(values, ","))
	}
	if len(values) > 1 {
		return "", apierr.Invalid(name, "%s is there twice.", name)
	}
	return c.param(s, name, values[0])
}

func (c *checker) listParam(s *huma.Schema, name, joined string) (string, error) {
	texts := strings.Split(joined, ",")
	items := make([]any, len(texts))
	for i, text := range texts {
		plain, err := c.param(s.Items, name, text)
		if err != nil {
			return "", err
		}
		texts[i], items[i] = plain, plain
	}
	bounds := &huma.Schema{Type: s.Type, Items: &huma.Schema{}, MinItems: s.MinItems, MaxItems: s.MaxItems, UniqueItems: s.UniqueItems}
	return strings.Join(texts, ","), c.array(bounds, items, in(nil, name))
}

// param checks one value that is not a list. The event of a gateway is JSON, in which
// bytes that are not UTF-8 have become U+FFFD: who sends that is told the same.
func (c *checker) param(s *huma.Schema, name, text string) (string, error) {
	if strings.ContainsRune(text, utf8.RuneError) || strings.ContainsRune(text, 0) {
		return "", apierr.Invalid(name, "%s has a NUL, bytes that are not UTF-8, or U+FFFD, which stands for such bytes.", name)
	}
	plain, err := c.value(s, typed(s.Type, text), in(nil, name))
	if number, ok := plain.(json.Number); ok {
		return number.String(), err
	}
	if s.Type == huma.TypeBoolean {
		return text, err
	}
	plainText, _ := plain.(string)
	return plainText, err
}

// typed is a parameter's text as the value that a body would have there; a text
// that is none stays a text. An integer has one form: 1e3 and 03 in a path name no
// event.
func typed(kind, text string) any {
	switch kind {
	case huma.TypeInteger:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			return json.Number(text)
		}
	case huma.TypeNumber:
		if json.Valid([]byte(text)) {
			return json.Number(text)
		}
	case huma.TypeBoolean:
		if text == "true" || text == "false" {
			return text == "true"
		}
	}
	return text
}

// bodies keeps the registry and schema of each type that Decode was asked for.
var bodies sync.Map

type body struct {
	registry huma.Registry
	schema   *huma.Schema
}

// Decode reads one JSON object by the rules of a request body of type T, for
// bodies within a body. Fields are named from the object on. The error is an
// *apierr.Error of status 400.
func Decode[T any](raw []byte) (*T, error) {
	t := reflect.TypeFor[T]()
	kept, ok := bodies.Load(t)
	if !ok {
		r := NewRegistry()
		s := r.Schema(t, true, t.Name())
		Finish(r)
		kept, _ = bodies.LoadOrStore(t, body{r, s})
	}
	plain, err := Body(kept.(body).registry, kept.(body).schema, raw)
	if err != nil {
		return nil, err
	}
	into := new(T)
	if err := json.Unmarshal(plain, into); err != nil {
		return nil, Unfit()
	}
	return into, nil
}

// Unfit is the answer to a body that passed every check and still does not
// decode, for which no more can be said.
func Unfit() *apierr.Error {
	return apierr.Invalid("", "The request body does not fit its description.")
}
