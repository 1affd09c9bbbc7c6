package wire

import (
	"fmt"
	"slices"
)

// Object is a JSON object that is written property by property and keeps their
// order. The zero Object is empty. A copy may be added to without changing the
// original.
type Object struct {
	// text is the object without its closing brace.
	text []byte
	err  error
}

// With is the object with one more property, whose name needs no escapes. A value
// that cannot be written makes MarshalJSON fail.
func (o Object) With(name string, value any) Object {
	text, err := Encode(value)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("wire: encode %s: %w", name, err)
	}
	separator := byte(',')
	if len(o.text) == 0 {
		separator = '{'
	}
	o.text = append(slices.Clip(o.text), separator, '"')
	o.text = append(append(o.text, name...), '"', ':')
	o.text = append(o.text, text...)
	return o
}

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o.text) == 0 {
		return []byte("{}"), o.err
	}
	return append(slices.Clip(o.text), '}'), o.err
}
