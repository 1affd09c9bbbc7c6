package search

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// Key is a key to sort by.
type Key struct {
	Name string
	Desc bool
}

// sortable is an empty type that names the keys of a Sort.
type sortable interface{ SortKeys() []string }

// ByTimes names the sort keys of every search.
type ByTimes struct{}

// SortKeys returns the names of the keys.
func (ByTimes) SortKeys() []string { return []string{"createdAt", "updatedAt"} }

// direction is the value of one sort key in a body.
type direction struct {
	Sort  string `json:"sort" enum:"asc,desc" doc:"The direction."`
	Order *int   `json:"order,omitempty" doc:"The key's priority, lowest first. Keys without one come last, as written."`
}

// Sort is the sort of a search body: an object with a direction for each key (spec.md section
// 4). It refuses keys that K does not name. Keys is in order of priority.
type Sort[K sortable] struct{ Keys []Key }

// IsZero reports whether the sort has no keys. Then the search uses its default order.
func (s Sort[K]) IsZero() bool { return len(s.Keys) == 0 }

// UnmarshalJSON reads the object. Keys with the same priority keep the order of the object.
func (s *Sort[K]) UnmarshalJSON(data []byte) error {
	s.Keys = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("sort must be an object")
	}
	var priorities []int
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var by direction
		if err := dec.Decode(&by); err != nil {
			return err
		}
		priority := math.MaxInt
		if by.Order != nil {
			priority = *by.Order
		}
		// Insert the key after the keys of equal priority.
		at, _ := slices.BinarySearchFunc(priorities, priority, func(p, target int) int {
			return cmp.Or(cmp.Compare(p, target), -1)
		})
		priorities = slices.Insert(priorities, at, priority)
		s.Keys = slices.Insert(s.Keys, at, Key{Name: fmt.Sprint(name), Desc: by.Sort == "desc"})
	}
	return nil
}

// Schema returns the schema of the object.
func (s Sort[K]) Schema(r huma.Registry) *huma.Schema {
	var keys K
	schema := &huma.Schema{
		Type:                 huma.TypeObject,
		Properties:           map[string]*huma.Schema{},
		AdditionalProperties: false,
	}
	for _, name := range keys.SortKeys() {
		schema.Properties[name] = r.Schema(reflect.TypeFor[direction](), true, "SortDirection")
	}
	return schema
}
