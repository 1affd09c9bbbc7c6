package wire

import (
	"bytes"
	"encoding/json"
)

// Encode writes v as JSON without the escapes that only HTML needs and without a
// line end. It is how all that is stored or answered is written: a text weighs
// what it says, and what was kept of an answer is the answer byte for byte.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
