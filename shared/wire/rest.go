package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// Rest has the properties of an object that its Go type lacks. A later release wrote the properties,
// and a release that changes the object keeps them.
type Rest map[string]json.RawMessage

// DecodeWithRest decodes an object, and returns its Rest. It reads the text twice only for an object
// with unknown properties.
func DecodeWithRest[T any](text []byte, into *T) (Rest, error) {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(into) == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, err
	}
	var rest Rest
	if err := json.Unmarshal(text, &rest); err != nil {
		return nil, err
	}
	maps.DeleteFunc(rest, func(name string, _ json.RawMessage) bool { return has(reflect.TypeFor[T](), name) })
	return rest, nil
}

// has reports whether a struct type has a property.
func has(t reflect.Type, property string) bool {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if strings.EqualFold(name, property) { // As package json finds properties.
			return true
		}
	}
	return false
}

// Encode writes an object with its Rest.
func (r Rest) Encode(object any) ([]byte, error) {
	text, err := Encode(object)
	if err != nil || len(r) == 0 {
		return text, err
	}
	rest, err := Encode(r)
	if err != nil {
		return nil, err
	}
	return append(append(text[:len(text)-1], ','), rest[1:]...), nil
}
