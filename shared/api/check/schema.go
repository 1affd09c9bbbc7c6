package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// exact is the limit below which float64 represents every integer.
const exact = 1 << 53

// notBlank is the pattern of a text with a character other than space.
const notBlank = `\S`

// checker compares a value with its schema.
type checker struct {
	registry huma.Registry
	// changed reports whether a value was rewritten for the decoder.
	changed bool
}

// value checks the value at a path and returns the value for the decoder.
func (c *checker) value(s *huma.Schema, v any, at path) (any, error) {
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
		return nil, refuse(at, "must not be null.")
	}
	if s.Type == "" {
		return v, checkNumbers(v, at)
	}
	if !fits(s.Type, v) {
		return nil, refuse(at, "must be %s.", article(s.Type))
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

// anyOf checks v with the first alternative that has the type of v.
func (c *checker) anyOf(alternatives []*huma.Schema, v any, at path) (any, error) {
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
	return nil, refuse(at, "must be %s.", strings.Join(kinds, " or "))
}

// fits reports whether v has the type of a schema.
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

func (c *checker) number(s *huma.Schema, n json.Number, at path) (any, error) {
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
		return nil, refuse(at, "must be at least %s.", digits(*s.Minimum))
	case s.Maximum != nil && f > *s.Maximum:
		return nil, refuse(at, "must be at most %s.", digits(*s.Maximum))
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(f)):
		return nil, refuse(at, "must be one of %s.", list(s.Enum))
	}
	return n, nil
}

// digits returns a number in decimal digits, without an exponent.
func digits(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// integer returns n without a fraction or exponent: Go does not decode 1191.0 as an integer.
func (c *checker) integer(s *huma.Schema, n json.Number, f float64, at path) (json.Number, error) {
	size := 64
	if s.Format == "int32" {
		size = 32
	}
	if strings.ContainsAny(string(n), ".eE") {
		if f != math.Trunc(f) {
			return "", refuse(at, "must be an integer.")
		}
		if math.Abs(f) <= exact {
			n, c.changed = json.Number(strconv.FormatInt(int64(f), 10)), true
		}
	}
	if _, err := strconv.ParseInt(string(n), 10, size); err != nil {
		return "", refuse(at, "is out of range.")
	}
	return n, nil
}

func (c *checker) text(s *huma.Schema, text string, at path) (any, error) {
	if err := length(s, text, at); err != nil {
		return nil, err
	}
	plain, wanted := format(s.Format, text)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		return nil, refuse(at, "must be one of %s.", list(s.Enum))
	case wanted != "":
		return nil, refuse(at, "must be %s.", wanted)
	case s.Pattern == notBlank && strings.TrimSpace(text) == "":
		return nil, refuse(at, "must not be blank.")
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(text):
		return nil, refuse(at, "must match %s.", cmp.Or(s.PatternDescription, s.Pattern))
	}
	c.changed = c.changed || plain != text
	return plain, nil
}

// length checks the number of characters.
func length(s *huma.Schema, text string, at path) error {
	n := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && n == 0 && *s.MinLength > 0:
		return refuse(at, "must not be empty.")
	case s.MinLength != nil && n < *s.MinLength:
		return refuse(at, "must be at least %d characters long.", *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		return refuse(at, "must be at most %d characters long.", *s.MaxLength)
	}
	return nil
}

func (c *checker) array(s *huma.Schema, items []any, at path) error {
	switch {
	case s.MinItems != nil && len(items) < *s.MinItems:
		return refuse(at, "needs at least %s.", count(*s.MinItems))
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		return refuse(at, "takes at most %s.", count(*s.MaxItems))
	}
	if c.checksItself(s.Items) {
		return nil
	}
	seen := map[any]bool{}
	for i, sent := range items {
		field := item(&at, i)
		v, err := c.value(s.Items, sent, field)
		if err != nil {
			return err
		}
		if s.UniqueItems && seen[v] {
			return refuse(field, "is in the list twice.")
		}
		if s.UniqueItems {
			seen[v] = true
		}
		items[i] = v
	}
	return nil
}

// selfChecking is a type with values that this package does not check in a list. The type's
// UnmarshalJSON checks a value and keeps the error, so that a wrong entry does not refuse the
// whole list.
type selfChecking interface{ ChecksItself() }

// checksItself reports whether the type of a schema is selfChecking.
func (c *checker) checksItself(s *huma.Schema) bool {
	if s.Ref == "" {
		return false
	}
	t := c.registry.TypeFromRef(s.Ref)
	return t != nil && t.Implements(reflect.TypeFor[selfChecking]())
}

func (c *checker) object(s *huma.Schema, o *object, at path) error {
	for _, name := range s.Required {
		if _, sent := o.values[name]; !sent {
			return refuse(in(&at, name), "is required.")
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
		if o.values[key], err = c.value(property, o.values[key], entry(s, &at, key)); err != nil {
			return err
		}
	}
	c.dropIgnored(s, o)
	return nil
}

// entry returns the path of a property for errors. The path of a custom field is its key alone,
// the internal name: custom fields are in a map of values without a schema.
func entry(s *huma.Schema, at *path, key string) path {
	others, _ := s.AdditionalProperties.(*huma.Schema)
	if s.Properties[key] == nil && others != nil && others.Type == "" && others.Ref == "" && len(others.AnyOf) == 0 {
		return in(nil, key)
	}
	return in(at, key)
}

// property returns the schema of a key; nil for an ignored key.
func (c *checker) property(s *huma.Schema, key string, at path) (*huma.Schema, error) {
	if property := s.Properties[key]; property != nil {
		return property, nil
	}
	if others, ok := s.AdditionalProperties.(*huma.Schema); ok {
		return others, nil
	}
	if s.AdditionalProperties == false {
		return nil, refuse(in(&at, key), "is not known here.")
	}
	return nil, nil
}

// dropIgnored removes ignored keys, since encoding/json would decode Title as title.
func (c *checker) dropIgnored(s *huma.Schema, o *object) {
	if _, typed := s.AdditionalProperties.(*huma.Schema); typed || len(s.Properties) == 0 {
		return
	}
	ignored := func(key string) bool { return s.Properties[key] == nil }
	if kept := slices.DeleteFunc(slices.Clone(o.keys), ignored); len(kept) < len(o.keys) {
		o.keys, c.changed = kept, true
	}
}

// patterns caches the compiled patterns of the schemas.
var patterns sync.Map

func pattern(text string) *regexp.Regexp {
	if cached, ok := patterns.Load(text); ok {
		return cached.(*regexp.Regexp)
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
