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

// maxDepth is the largest depth of nested arrays and objects.
const maxDepth = 32

// maxValues is the largest number of values in a body. It limits the memory that a body takes;
// the largest useful bulk has far fewer values.
const maxValues = 200_000

// maxKey is the largest length of a key in bytes: four times the length of the longest name of
// a custom field.
const maxKey = 1024

// object is a JSON object with its keys in the order sent. The order decides which error is
// reported first, and the priority of sort keys.
type object struct {
	keys   []string
	values map[string]any
}

// MarshalJSON writes the properties in the order of keys.
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

// parse reads a JSON object into objects, slices, strings, json.Numbers, bools and nils. It
// refuses input that encoding/json accepts but changes: invalid UTF-8, lone surrogates and
// duplicate keys. It also refuses NUL and too much depth. parse takes linear time.
func parse(raw []byte) (*object, error) {
	if !utf8.Valid(raw) {
		return nil, apierr.Invalid("", "The request body is not valid UTF-8.")
	}
	if !json.Valid(raw) {
		err := json.Unmarshal(raw, new(json.RawMessage)) // Find the position of the mistake.
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

// parser reads the tokens of valid JSON.
type parser struct {
	dec *json.Decoder
	// loneSurrogate reports whether a string has an escape of half a surrogate pair.
	loneSurrogate bool
	// left is the number of values that the rest may have.
	left *int
}

// value reads the value at a path.
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
			return nil, refuse(in(&at, key), "is sent twice.")
		}
		if o.values[key], err = p.value(in(&at, key), depth); err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
	}
	_, err := p.dec.Token()
	return o, err
}

// float returns n as a float64. It refuses a number outside the range of float64, because
// values without a schema are decoded as float64.
func float(n json.Number, at path) (float64, error) {
	f, err := n.Float64()
	if err != nil {
		return 0, refuse(at, "is out of range.")
	}
	return f, nil
}

// key checks a key of the object at a path. The error does not repeat a key that is too long.
func (p parser) key(at path, key string) error {
	if len(key) > maxKey {
		return refuse(at, "has a key of more than %d bytes.", maxKey)
	}
	return p.text(at, key)
}

// text checks a string or a key. The decoder has replaced lone surrogates by U+FFFD.
func (p parser) text(at path, s string) error {
	if strings.ContainsRune(s, 0) {
		return refuse(at, "contains a NUL character.")
	}
	if p.loneSurrogate && strings.ContainsRune(s, utf8.RuneError) {
		return refuse(at, "contains half of a surrogate pair.")
	}
	return nil
}

// hasLoneSurrogate reports whether a string in valid JSON has an escape of half a surrogate
// pair.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch unit := escapedUnit(raw[i:]); {
		case unit < 0xd800 || unit > 0xdfff:
			i++ // Skip the escaped character, which may be a backslash.
		case unit > 0xdbff, !isLow(escapedUnit(raw[min(i+unitLength, len(raw)):])):
			return true
		default:
			i += 2*unitLength - 1
		}
	}
	return false
}

// unitLength is the length of an escape \uXXXX.
const unitLength = 6

// escapedUnit returns the UTF-16 unit of the escape at the start of text, or -1.
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
