package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
)

// exact is the largest magnitude up to which every integer is a float64.
const exact = 1 << 53

// checker walks a value and its schema together.
type checker struct {
	registry huma.Registry
	// changed is whether a value had to be rewritten for the decoder.
	changed bool
}

// value checks v, which stands at the field named at, and gives it as the
// decoder shall see it.
func (c *checker) value(s *huma.Schema, v any, at string) (any, error) {
	for s.Ref != "" {
		s = c.registry.SchemaFromRef(s.Ref)
	}
	if len(s.AnyOf) > 0 {
		return c.anyOf(s.AnyOf, v, at)
	}
	if v == nil {
		if s.Nullable || s.Type == "" {
			return nil, nil
		}
		return nil, apierr.Invalid(at, "%s must not be null.", subject(at))
	}
	if s.Type == "" {
		return v, nil
	}
	if !fits(s.Type, v) {
		return nil, apierr.Invalid(at, "%s must be %s.", subject(at), article(s.Type))
	}
	switch v := v.(type) {
	case string:
		return c.text(s, v, at)
	case json.Number:
		return c.number(s, v, at)
	case []any:
		return v, c.array(s, v, at)
	case *object:
		return v, c.object(s, v, at)
	}
	return v, nil
}

// anyOf checks v against the first alternative of its kind.
func (c *checker) anyOf(alternatives []*huma.Schema, v any, at string) (any, error) {
	var kinds []string
	for _, s := range alternatives {
		for s.Ref != "" {
			s = c.registry.SchemaFromRef(s.Ref)
		}
		if v == nil && (s.Type == "null" || s.Nullable) {
			return nil, nil
		}
		if v != nil && fits(s.Type, v) {
			return c.value(s, v, at)
		}
		if s.Type != "null" {
			kinds = append(kinds, article(s.Type))
		}
	}
	return nil, apierr.Invalid(at, "%s must be %s.", subject(at), strings.Join(kinds, " or "))
}

// fits is whether v is of the schema type, whatever else the schema asks.
func fits(schemaType string, v any) bool {
	switch v.(type) {
	case string:
		return schemaType == huma.TypeString || schemaType == ""
	case json.Number:
		return schemaType == huma.TypeInteger || schemaType == huma.TypeNumber || schemaType == ""
	case bool:
		return schemaType == huma.TypeBoolean || schemaType == ""
	case []any:
		return schemaType == huma.TypeArray || schemaType == ""
	default:
		return schemaType == huma.TypeObject || schemaType == ""
	}
}

func article(schemaType string) string {
	switch schemaType {
	case huma.TypeBoolean:
		return "true or false"
	case huma.TypeInteger, huma.TypeArray, huma.TypeObject:
		return "an " + schemaType
	default:
		return "a " + schemaType
	}
}

func (c *checker) number(s *huma.Schema, n json.Number, at string) (any, error) {
	f, err := float(n, at)
	if err != nil {
		return nil, err
	}
	if s.Type == huma.TypeInteger {
		if n, err = c.integer(s, n, f, at); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Minimum != nil && f < *s.Minimum:
		return nil, apierr.Invalid(at, "%s must be at least %v.", subject(at), *s.Minimum)
	case s.Maximum != nil && f > *s.Maximum:
		return nil, apierr.Invalid(at, "%s must be at most %v.", subject(at), *s.Maximum)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(f)):
		return nil, apierr.Invalid(at, "%s must be one of %s.", subject(at), list(s.Enum))
	}
	return n, nil
}

// integer gives n without a fraction or exponent: 1191.0 is an integer in JSON
// and none to Go.
func (c *checker) integer(s *huma.Schema, n json.Number, f float64, at string) (json.Number, error) {
	size := 64
	if s.Format == "int32" {
		size = 32
	}
	if strings.ContainsAny(string(n), ".eE") {
		if f != math.Trunc(f) {
			return "", apierr.Invalid(at, "%s must be an integer.", subject(at))
		}
		if math.Abs(f) <= exact {
			n, c.changed = json.Number(strconv.FormatInt(int64(f), 10)), true
		}
	}
	if _, err := strconv.ParseInt(string(n), 10, size); err != nil {
		return "", apierr.Invalid(at, "%s is out of range.", subject(at))
	}
	return n, nil
}

func (c *checker) text(s *huma.Schema, text, at string) (any, error) {
	if err := length(s, text, at); err != nil {
		return nil, err
	}
	plain, wanted := format(s.Format, text)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		return nil, apierr.Invalid(at, "%s must be one of %s.", subject(at), list(s.Enum))
	case wanted != "":
		return nil, apierr.Invalid(at, "%s must be %s.", subject(at), wanted)
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(text):
		return nil, apierr.Invalid(at, "%s must match %s.", subject(at), cmp.Or(s.PatternDescription, s.Pattern))
	}
	c.changed = c.changed || plain != text
	return plain, nil
}

// length counts characters, not bytes.
func length(s *huma.Schema, text, at string) error {
	n := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && n == 0 && *s.MinLength > 0:
		return apierr.Invalid(at, "%s must not be empty.", subject(at))
	case s.MinLength != nil && n < *s.MinLength:
		return apierr.Invalid(at, "%s must be at least %d characters long.", subject(at), *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		return apierr.Invalid(at, "%s must be at most %d characters long.", subject(at), *s.MaxLength)
	}
	return nil
}

func (c *checker) array(s *huma.Schema, items []any, at string) error {
	switch {
	case s.MinItems != nil && len(items) < *s.MinItems:
		return apierr.Invalid(at, "%s needs at least %s.", subject(at), count(*s.MinItems))
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		return apierr.Invalid(at, "%s takes at most %s.", subject(at), count(*s.MaxItems))
	}
	seen := map[any]bool{}
	for i, item := range items {
		field := at + "[" + strconv.Itoa(i) + "]"
		item, err := c.value(s.Items, item, field)
		if err != nil {
			return err
		}
		if s.UniqueItems && seen[item] {
			return apierr.Invalid(field, "%s is in the list twice.", field)
		}
		if s.UniqueItems {
			seen[item] = true
		}
		items[i] = item
	}
	return nil
}

func (c *checker) object(s *huma.Schema, o *object, at string) error {
	for _, name := range s.Required {
		if _, sent := o.values[name]; !sent {
			return apierr.Invalid(join(at, name), "%s is required.", join(at, name))
		}
	}
	for _, key := range o.keys {
		property, err := c.property(s, key, at)
		if err != nil {
			return err
		}
		if property == nil {
			continue
		}
		if o.values[key], err = c.value(property, o.values[key], join(at, key)); err != nil {
			return err
		}
	}
	c.drop(s, o)
	return nil
}

// property gives the schema of a key; nil for one that is free or ignored.
func (c *checker) property(s *huma.Schema, key, at string) (*huma.Schema, error) {
	if property := s.Properties[key]; property != nil {
		return property, nil
	}
	if others, ok := s.AdditionalProperties.(*huma.Schema); ok {
		return others, nil
	}
	if s.AdditionalProperties == false {
		return nil, apierr.Invalid(join(at, key), "%s is not known here.", join(at, key))
	}
	return nil, nil
}

// drop takes ignored keys out, as encoding/json would take Title for title.
func (c *checker) drop(s *huma.Schema, o *object) {
	if _, typed := s.AdditionalProperties.(*huma.Schema); typed || len(s.Properties) == 0 {
		return
	}
	ignored := func(key string) bool { return s.Properties[key] == nil }
	if kept := slices.DeleteFunc(slices.Clone(o.keys), ignored); len(kept) < len(o.keys) {
		o.keys, c.changed = kept, true
	}
}

// patterns keeps the compiled patterns of the schemas.
var patterns sync.Map

func pattern(text string) *regexp.Regexp {
	if kept, ok := patterns.Load(text); ok {
		return kept.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	patterns.Store(text, compiled)
	return compiled
}

func list(options []any) string {
	texts := make([]string, 0, len(options))
	for _, option := range options {
		if option != nil {
			texts = append(texts, fmt.Sprint(option))
		}
	}
	return strings.Join(texts, ", ")
}

func count(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return strconv.Itoa(n) + " entries"
}
