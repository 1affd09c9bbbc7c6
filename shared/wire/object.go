package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Object is a JSON object that is written property by property and keeps their
// order. The zero Object is empty.
type Object struct {
	// text is the object without its closing brace.
	text []byte
	err  error
}

// Add writes one more property, whose name needs no escapes. A value that cannot be
// written makes MarshalJSON fail.
func (o *Object) Add(name string, value any) {
	separator := byte(',')
	if len(o.text) == 0 {
		separator = '{'
	}
	o.text = append(append(append(o.text, separator, '"'), name...), '"', ':')
	o.add(name, value)
}

// add writes a value; most are plain texts or nothing, for which no encoder is needed.
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

// plain is whether a text is written as it is: printable ASCII without quotes and
// backslashes.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// With is a copy of the object with one more property; the original stays as it is.
func (o Object) With(name string, value any) Object {
	o.text = slices.Clip(o.text)
	o.Add(name, value)
	return o
}

// Edit returns a copy of the object with the values that edit returns for its properties,
// without those for which it returns nil.
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
