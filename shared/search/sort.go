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

// Key is one key to sort by.
type Key struct {
	Name string
	Desc bool
}

// Keyed names the keys that a search can sort by. Its implementations are empty
// types, given to Sort.
type Keyed interface{ SortKeys() []string }

// ByTimes are the keys that every search sorts by.
type ByTimes struct{}

// SortKeys gives the keys' names.
func (ByTimes) SortKeys() []string { return []string{"createdAt", "updatedAt"} }

// Direction is the value of one sort key in a body.
type Direction struct {
	Sort  string `json:"sort" enum:"asc,desc" doc:"The direction."`
	Order *int   `json:"order,omitempty" doc:"The key's priority, lowest first. Keys without one come last, as written."`
}

// Sort is the sort of a search body: an object of Direction by key, and by
// nothing else than the keys K names (spec.md section 4). Keys is in order of
// priority.
type Sort[K Keyed] struct{ Keys []Key }

// IsZero is true when nothing is sorted by: the search's own order applies.
func (s Sort[K]) IsZero() bool { return len(s.Keys) == 0 }

// UnmarshalJSON reads the object, keeping the order its keys were written in.
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
		var by Direction
		if err := dec.Decode(&by); err != nil {
			return err
		}
		priority := math.MaxInt
		if by.Order != nil {
			priority = *by.Order
		}
		// Behind its equals, so that the order written decides among them.
		at, _ := slices.BinarySearchFunc(priorities, priority, func(p, target int) int {
			return cmp.Or(cmp.Compare(p, target), -1)
		})
		priorities = slices.Insert(priorities, at, priority)
		s.Keys = slices.Insert(s.Keys, at, Key{Name: fmt.Sprint(name), Desc: by.Sort == "desc"})
	}
	return nil
}

// Schema describes the object, which refuses any other key.
func (s Sort[K]) Schema(r huma.Registry) *huma.Schema {
	var keys K
	schema := &huma.Schema{
		Type:                 huma.TypeObject,
		Properties:           map[string]*huma.Schema{},
		AdditionalProperties: false,
	}
	for _, name := range keys.SortKeys() {
		schema.Properties[name] = r.Schema(reflect.TypeFor[Direction](), true, "SortDirection")
	}
	return schema
}
