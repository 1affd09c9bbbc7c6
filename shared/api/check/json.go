package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// maxDepth is how deep arrays and objects may stand in each other.
const maxDepth = 32

// maxValues bounds what a body takes in memory: many times what the largest bulk
// has that means anything.
const maxValues = 200_000

// maxKey is the longest key in bytes: four times what the name of a custom field
// may have.
const maxKey = 1024

// object is a JSON object that keeps the order in which its keys were written:
// it decides which error comes first, and what a sort goes by.
type object struct {
	keys   []string
	values map[string]any
}

// MarshalJSON writes the properties in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	properties := make([][]byte, len(o.keys))
	for i, key := range o.keys {
		name, err := wire.Encode(key)
		if err != nil {
			return nil, err
		}
		value, err := wire.Encode(o.values[key])
		if err != nil {
			return nil, err
		}
		properties[i] = slices.Concat(name, []byte(":"), value)
	}
	return slices.Concat([]byte("{"), bytes.Join(properties, []byte(",")), []byte("}")), nil
}

// parse reads a JSON object into objects, slices, strings, json.Numbers, bools
// and nils. It refuses what encoding/json would silently change or choose
// from: invalid UTF-8, lone surrogates, NUL, duplicate keys, great depth. Its
// time grows with the length of raw alone.
func parse(raw []byte) (*object, error) {
	if !utf8.Valid(raw) {
		return nil, apierr.Invalid("", "The request body is not valid UTF-8.")
	}
	if !json.Valid(raw) {
		err := json.Unmarshal(raw, new(json.RawMessage)) // It says where, but reads twice.
		return nil, apierr.Invalid("", "The request body is not valid JSON: %v.", err)
	}
	p := parser{dec: json.NewDecoder(bytes.NewReader(raw)), loneSurrogate: hasLoneSurrogate(raw), left: new(int)}
	*p.left = maxValues
	p.dec.UseNumber()
	v, err := p.value(path{}, 0)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, apierr.Invalid("", "The request body must be a JSON object.")
	}
	return o, nil
}

// parser reads tokens of a text that is known to be valid JSON.
type parser struct {
	dec           *json.Decoder
	loneSurrogate bool
	// left is how many values may still come.
	left *int
}

// value reads one value, which stands at the path.
func (p parser) value(at path, depth int) (any, error) {
	token, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if *p.left--; *p.left < 0 {
		return nil, apierr.Invalid("", "The request body has more than %d values.", maxValues)
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return nil, apierr.Invalid(at.String(), "The request body is nested deeper than %d levels.", maxDepth)
		}
		if token == '[' {
			return p.array(at, depth+1)
		}
		return p.object(at, depth+1)
	case string:
		return token, p.text(at, token)
	case json.Number:
		_, err := float(token, at)
		return token, err
	default:
		return token, nil
	}
}

func (p parser) array(at path, depth int) (any, error) {
	items := []any{}
	for p.dec.More() {
		v, err := p.value(item(&at, len(items)), depth)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := p.dec.Token()
	return items, err
}

func (p parser) object(at path, depth int) (any, error) {
	o := &object{values: map[string]any{}}
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string)
		if err := p.key(at, key); err != nil {
			return nil, err
		}
		if _, twice := o.values[key]; twice {
			return nil, refuse(in(&at, key), "is there twice.")
		}
		if o.values[key], err = p.value(in(&at, key), depth); err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
	}
	_, err := p.dec.Token()
	return o, err
}

// float is n as a float64, which every number must fit: there is no other kind
// where the schema leaves a value open.
func float(n json.Number, at path) (float64, error) {
	f, err := n.Float64()
	if err != nil {
		return 0, refuse(at, "is out of range.")
	}
	return f, nil
}

// key checks a key of the object at the path. One that is too long is not
// repeated.
func (p parser) key(at path, key string) error {
	if len(key) > maxKey {
		return refuse(at, "has a key of more than %d bytes.", maxKey)
	}
	return p.text(at, key)
}

// text checks a string or a key. A lone surrogate was decoded to U+FFFD.
func (p parser) text(at path, s string) error {
	if strings.ContainsRune(s, 0) {
		return refuse(at, "contains a NUL character.")
	}
	if p.loneSurrogate && strings.ContainsRune(s, utf8.RuneError) {
		return refuse(at, "contains half of a surrogate pair.")
	}
	return nil
}

// hasLoneSurrogate is whether a string of raw, which is valid JSON, has an escape
// of half a surrogate pair.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch unit := escapedUnit(raw[i:]); {
		case unit < 0xd800 || unit > 0xdfff:
			i++ // Whatever is escaped, it begins no other escape.
		case unit > 0xdbff, !isLow(escapedUnit(raw[min(i+unitLength, len(raw)):])):
			return true
		default:
			i += 2*unitLength - 1
		}
	}
	return false
}

// unitLength is how long the escape \uXXXX is.
const unitLength = 6

// escapedUnit is the UTF-16 unit that text begins with as an escape, or -1.
func escapedUnit(text []byte) int {
	if len(text) < unitLength || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:unitLength]), 16, 16)
	if err != nil {
		return -1
	}
	return int(unit)
}

func isLow(unit int) bool { return unit >= 0xdc00 && unit <= 0xdfff }
