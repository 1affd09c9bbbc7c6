// Package wire holds the value types that both stored records and request
// bodies are made of and that Go has no type for: a property that may be
// absent, null or set, and an instant in milliseconds. It knows how they are
// written in JSON and how they are described in OpenAPI, and no rule beyond.
package wire

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Opt is a property of a body, or a query parameter, that may be absent, null
// or a value. The zero Opt is absent; a field with `json:",omitzero"` then
// leaves it out when encoded.
type Opt[T any] struct {
	// Value stands first: huma writes a query parameter into field 0.
	Value T
	// Sent is whether the property was there at all.
	Sent bool
	// Null is whether it was there as null; Value is then zero.
	Null bool
}

// Some is an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Sent: true} }

// Null is an Opt that was sent as null.
func Null[T any]() Opt[T] { return Opt[T]{Sent: true, Null: true} }

// IsZero is true for an absent property.
func (o Opt[T]) IsZero() bool { return !o.Sent }

// Has is true when there is a value: sent and not null.
func (o Opt[T]) Has() bool { return o.Sent && !o.Null }

// Into stores what was sent in a property of a record that cannot be null: null
// makes it zero, and what is absent leaves it.
func (o Opt[T]) Into(stored *T) {
	if o.Sent {
		*stored = o.Value
	}
}

// IntoPointer stores what was sent in a property that is nil for null; what is
// absent leaves it.
func (o Opt[T]) IntoPointer(stored **T) {
	switch {
	case o.Null:
		*stored = nil
	case o.Sent:
		*stored = &o.Value
	}
}

// UnmarshalJSON reads null or a value; either way the property was sent.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	*o = Opt[T]{Sent: true}
	if bytes.Equal(data, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// MarshalJSON writes null unless there is a value.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Has() {
		return []byte("null"), nil
	}
	return Encode(o.Value)
}

// Schema is that of T, nullable. A property that refuses null says so with the
// tag `nullable:"false"`.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	schema := huma.SchemaFromType(r, reflect.TypeFor[T]())
	if schema.Ref != "" {
		return &huma.Schema{AnyOf: []*huma.Schema{schema, {Type: "null"}}}
	}
	schema.Nullable = true
	return schema
}

// Receiver is where huma puts the parsed value of a query parameter.
func (o *Opt[T]) Receiver() reflect.Value { return reflect.ValueOf(o).Elem().Field(0) }

// OnParamSet notes whether a query parameter was there.
func (o *Opt[T]) OnParamSet(isSet bool, _ any) { o.Sent = isSet }
