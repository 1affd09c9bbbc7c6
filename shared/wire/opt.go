// Package wire has types for the properties of stored records and request bodies: Opt, for a
// property that is absent, null or set; Time, an instant in milliseconds; and the bodies of
// creates and updates. Each type has its JSON form and its schema for OpenAPI.
package wire

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Opt is a property of a body, or a query parameter, that is absent, null or a value. The zero
// Opt is absent. A field with `json:",omitzero"` is not encoded if it is absent.
type Opt[T any] struct {
	// Value must be field 0, since huma writes a query parameter into field 0.
	Value T
	// Sent reports whether the client sent the property.
	Sent bool
	// Null reports whether the client sent null; then Value is zero.
	Null bool
}

// Some returns an Opt with the value v.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Sent: true} }

// Null returns an Opt with null.
func Null[T any]() Opt[T] { return Opt[T]{Sent: true, Null: true} }

// IsZero reports whether the property is absent.
func (o Opt[T]) IsZero() bool { return !o.Sent }

// Has reports whether the property has a value other than null.
func (o Opt[T]) Has() bool { return o.Sent && !o.Null }

// Into stores the property in a field that cannot be null. Null stores the zero value. An absent
// property changes nothing.
func (o Opt[T]) Into(stored *T) {
	if o.Sent {
		*stored = o.Value
	}
}

// IntoPointer stores the property in a pointer. Null stores nil. An absent property changes
// nothing.
func (o Opt[T]) IntoPointer(stored **T) {
	switch {
	case o.Null:
		*stored = nil
	case o.Sent:
		*stored = &o.Value
	}
}

// UnmarshalJSON reads null or a value, and sets Sent.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	*o = Opt[T]{Sent: true}
	if bytes.Equal(data, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// MarshalJSON writes the value, or null without a value.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Has() {
		return []byte("null"), nil
	}
	return Encode(o.Value)
}

// Schema returns the schema of T, nullable. The tag `nullable:"false"` makes a property refuse
// null.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	schema := huma.SchemaFromType(r, reflect.TypeFor[T]())
	if schema.Ref != "" {
		return &huma.Schema{AnyOf: []*huma.Schema{schema, {Type: "null"}}}
	}
	schema.Nullable = true
	return schema
}

// Receiver returns the field in which huma stores the value of a query parameter.
func (o *Opt[T]) Receiver() reflect.Value { return reflect.ValueOf(o).Elem().Field(0) }

// OnParamSet sets Sent for a query parameter.
func (o *Opt[T]) OnParamSet(isSet bool, _ any) { o.Sent = isSet }
