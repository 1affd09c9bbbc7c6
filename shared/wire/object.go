package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Object is a JSON object with properties in the order of their addition. The zero Object is
// empty.
type Object struct {
	// text is the object without its closing brace.
	text []byte
	err  error
}

// Add adds a property. A value that cannot be encoded makes MarshalJSON fail.
func (o *Object) Add(name string, value any) {
	separator := byte(',')
	if len(o.text) == 0 {
		separator = '{'
	}
	o.text = append(o.text, separator)
	o.add(name, name)
	o.text = append(o.text, ':')
	o.add(name, value)
}

// add appends a value. Null and plain texts, the most frequent values, need no encoder.
func (o *Object) add(name string, value any) {
	if value == nil {
		o.text = append(o.text, "null"...)
		return
	}
	if text, ok := value.(string); ok && plain(text) {
		o.text = append(append(append(o.text, '"'), text...), '"')
		return
	}
	text, err := Encode(value)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("wire: encode %s: %w", name, err)
	}
	o.text = append(o.text, text...)
}

// plain reports whether a text needs no escapes: it is printable ASCII without quotes and
// backslashes.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Len returns the bytes of the object as JSON, without its last brace.
func (o Object) Len() int { return len(o.text) }

// With returns a copy of the object with an additional property.
func (o Object) With(name string, value any) Object {
	o.text = slices.Clip(o.text)
	o.Add(name, value)
	return o
}

// Edit returns a copy of the object in which edit has replaced the values. The copy does not
// have the properties for which edit returns nil.
func (o Object) Edit(edit func(name string, value any) any) Object {
	text, err := o.MarshalJSON()
	copied, in := Object{err: err}, json.NewDecoder(bytes.NewReader(text))
	_, err = in.Token() // The brace.
	for err == nil && in.More() {
		var value json.RawMessage
		name, _ := in.Token()
		err = in.Decode(&value)
		if edited := edit(name.(string), value); edited != nil {
			copied.Add(name.(string), edited)
		}
	}
	copied.err = cmp.Or(copied.err, err)
	return copied
}

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o.text) == 0 {
		return []byte("{}"), o.err
	}
	return append(slices.Clip(o.text), '}'), o.err
}
