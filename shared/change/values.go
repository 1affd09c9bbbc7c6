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

// maxValue is how many bytes of a value are kept, so that the changed values of
// a whole record stay below the size of an item.
const maxValue = 8 << 10

// Cut stands for a value over maxValue bytes.
type Cut struct {
	// Text is the beginning of the value's JSON.
	Text string `json:"cut"`
	// SHA256 is the hex form of the hash of the whole JSON, Bytes its length.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// cut is v, or what stands for it when it is too long.
func cut(v any) any {
	data := encode(v)
	if len(data) <= maxValue {
		return json.RawMessage(data)
	}
	hash := sha256.Sum256(data)
	end := maxValue
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
