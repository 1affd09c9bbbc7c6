// Package check compares bodies and parameters with the schemas that huma makes from the input
// types. It writes the errors about the shape of a request: the message, and the field as the
// client wrote it. Only the first mistake is reported. The package knows no rules of records.
//
// Package check replaces the validation of huma. huma accepts null for an absent property,
// ignores the case of keys, reports a missing property under the name of the parent, and shows
// type names of Go to the caller.
//
// Read check.go, schema.go; then json.go, path.go, number.go, format.go, registry.go.
package check

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// Body checks a request body, which must be a JSON object, and returns the bytes to decode.
// Body rewrites values that encoding/json would decode differently from the schema, for example
// 1.0 for an integer. The error is an *apierr.Error with status 400.
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

// Param checks the values of a parameter and returns them as one text. A list is joined by
// commas, even if the client repeated the parameter. The error is an *apierr.Error with status
// 400.
func Param(r huma.Registry, s *huma.Schema, name string, values []string) (string, error) {
	c := checker{registry: r}
	if s.Type == huma.TypeArray {
		return c.listParam(s, name, strings.Join(values, ","))
	}
	if len(values) > 1 {
		return "", apierr.Invalid(name, "%s is sent twice.", name)
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

// param checks a single value. API Gateway replaces bytes that are not UTF-8 by U+FFFD, so
// U+FFFD is refused too.
func (c *checker) param(s *huma.Schema, name, text string) (string, error) {
	if strings.ContainsRune(text, utf8.RuneError) || strings.ContainsRune(text, 0) {
		return "", apierr.Invalid(name, "%s must not contain NUL, U+FFFD or bytes that are not UTF-8.", name)
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

// Encoded returns a body of application/x-www-form-urlencoded as the JSON object of a schema. A parameter without a value is absent, and
// one that the schema has not is ignored. The error is an *apierr.Error with status 400.
func Encoded(r huma.Registry, s *huma.Schema, raw []byte) ([]byte, error) {
	sent, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, apierr.Invalid("", "The request body is not valid.")
	}
	if s.Ref != "" {
		s = r.SchemaFromRef(s.Ref)
	}
	body := map[string]any{}
	for name, property := range s.Properties {
		switch values := sent[name]; {
		case len(values) > 1:
			return nil, apierr.Invalid(name, "%s is sent twice.", name)
		case len(values) == 1 && values[0] != "":
			body[name] = typed(property.Type, values[0])
		}
	}
	return wire.Encode(body)
}

// typed converts the text of a parameter to the JSON value of the kind. It returns the text
// itself if the text does not fit. An integer has only one form: 1e3 and 03 do not fit.
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

// bodies caches a body for each type that Decode was called with.
var bodies sync.Map

type body struct {
	registry huma.Registry
	schema   *huma.Schema
}

// Decode checks and decodes a JSON object inside a body, by the rules of a request body of type
// T. The field in an error is relative to the object. The error is an *apierr.Error with status
// 400.
func Decode[T any](raw []byte) (*T, error) {
	t := reflect.TypeFor[T]()
	cached, ok := bodies.Load(t)
	if !ok {
		r := NewRegistry()
		s := r.Schema(t, true, t.Name())
		Finish(r)
		cached, _ = bodies.LoadOrStore(t, body{r, s})
	}
	plain, err := Body(cached.(body).registry, cached.(body).schema, raw)
	if err != nil {
		return nil, err
	}
	into := new(T)
	if err := json.Unmarshal(plain, into); err != nil {
		return nil, Undecodable()
	}
	return into, nil
}

// Undecodable returns the 400 for a body that passed every check but cannot be decoded. The
// cause is unknown.
func Undecodable() *apierr.Error {
	return apierr.Invalid("", "The request body does not match the schema of the operation.")
}
