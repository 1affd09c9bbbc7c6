package change

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxValue is the largest number of bytes kept of a value. Where the values of a
	// record pass maxValues, New halves the limit down to minValue and then keeps
	// hashes alone.
	maxValue = 8 << 10
	minValue = 256
	// maxValues and maxNames bound the bytes of all values and of the names that a
	// kind lists. A record stays below about 100 KB then: a transaction may have a
	// hundred records, and an item 400 KB.
	maxValues = 70 << 10
	maxNames  = 10 << 10
	// maxPlain is the length up to which a value is kept without a hash.
	maxPlain = 100
)

// Others is the last field of a record with too many fields. Its new value is the Cut of
// the list of the other values.
const Others = "..."

// Cut replaces a long value.
type Cut struct {
	// Text is the beginning of the value's JSON.
	Text string `json:"cut"`
	// SHA256 is the hex form of the hash of the whole JSON, Bytes its length.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// told reports whether the old or the new value is there.
func (v Value) told() bool { return v.Old != nil || v.New != nil }

// Named returns the fields of values without the values.
func Named(values []Value) []Value {
	named := make([]Value, len(values))
	for i, v := range values {
		named[i].Field = v.Field
	}
	return named
}

// fitted returns the values cut to the size of a record; long values lose most.
func fitted(values []Value) []Value {
	all := slices.Clone(values)
	for limit := maxValue; ; limit /= 2 {
		if limit < minValue {
			limit = 0
		}
		size := 0
		for i, v := range values {
			all[i] = Value{Field: v.Field, Old: cut(encode(v.Old), limit), New: cut(encode(v.New), limit)}
			size += len(encode(all[i]))
		}
		if size <= maxValues {
			return all
		}
		if limit == 0 {
			return first(all)
		}
	}
}

// first returns the values that fit, and Others for the rest.
func first(values []Value) []Value {
	size := 0
	for i, v := range values {
		if size += len(encode(v)); size > maxValues {
			return append(values[:i:i], Value{Field: Others, New: cut(encode(values[i:]), 0)})
		}
	}
	return values
}

// listed returns the names that fit, and Others for the rest.
func listed(names []string) []string {
	size := 0
	for i, name := range names {
		if size += len(encode(name)); size > maxNames {
			return append(names[:i:i], Others)
		}
	}
	return names
}

// cut returns the JSON, or a Cut of JSON over limit bytes.
func cut(data []byte, limit int) any {
	if len(data) <= max(limit, maxPlain) {
		return json.RawMessage(data)
	}
	hash := sha256.Sum256(data)
	end := limit
	for !utf8.RuneStart(data[end]) {
		end--
	}
	return Cut{Text: string(data[:end]), SHA256: hex.EncodeToString(hash[:]), Bytes: len(data)}
}

// Diff returns the values that differ between two records, which are JSON objects, by
// top-level key in order of the alphabet. A nil before is a new record; an absent key is
// null. Diff leaves out the keys in except and times of a change.
func Diff(before, after any, except ...string) []Value {
	was, is := properties(before), properties(after)
	var values []Value
	for name := range union(was, is) {
		if name == "updated_at" || name == "updatedAt" || slices.Contains(except, name) {
			continue
		}
		if !bytes.Equal(was[name], is[name]) {
			values = append(values, Value{Field: name, Old: was[name], New: is[name]})
		}
	}
	slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.Field, b.Field) })
	return values
}

// properties returns the top-level values of a record.
func properties(record any) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(encode(record), &all); err != nil {
		panic("change: a record is not a JSON object: " + err.Error())
	}
	return all
}

// union returns the keys of a and b.
func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(b)
	maps.Copy(all, a)
	return all
}
