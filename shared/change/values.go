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
	// maxValue is how many bytes of a value are kept at most. Where all together
	// pass maxValues, the limit is halved down to minValue, and then only hashes
	// are kept.
	maxValue = 8 << 10
	minValue = 256
	// maxValues and maxNames bound the bytes of all values and of the names that a
	// kind lists. A record stays below about 100 KB then: a transaction may hold a
	// hundred, and an item 400 KB.
	maxValues = 70 << 10
	maxNames  = 10 << 10
	// maxPlain is how long a value is not worth a hash.
	maxPlain = 100
)

// Others stands, as the last field of a record, for fields beyond what it can
// hold; its new value is the Cut of a list of their values.
const Others = "..."

// Cut stands for a value that is too long.
type Cut struct {
	// Text is the beginning of the value's JSON.
	Text string `json:"cut"`
	// SHA256 is the hex form of the hash of the whole JSON, Bytes its length.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// fitted are the values cut to what a record may hold: the longest most.
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

// first are as many values as fit, and Others for the rest.
func first(values []Value) []Value {
	size := 0
	for i, v := range values {
		if size += len(encode(v)); size > maxValues {
			return append(values[:i:i], Value{Field: Others, New: cut(encode(values[i:]), 0)})
		}
	}
	return values
}

// listed are as many names as fit, and Others for the rest.
func listed(names []string) []string {
	size := 0
	for i, name := range names {
		if size += len(encode(name)); size > maxNames {
			return append(names[:i:i], Others)
		}
	}
	return names
}

// cut is the value of the JSON, or what stands for it when it is over limit bytes.
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

// Diff gives the values that differ between two records, which are JSON
// objects, by top-level key in order of the alphabet. A nil before is a new
// record; a key that is absent on one side is null there. The keys in except,
// and times of a change, are left out.
func Diff(before, after any, except ...string) []Value {
	was, is := keys(before), keys(after)
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

func keys(record any) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(encode(record), &all); err != nil {
		panic("change: a record is not a JSON object: " + err.Error())
	}
	return all
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(b)
	maps.Copy(all, a)
	return all
}
