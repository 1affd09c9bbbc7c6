package wire

import (
	"bytes"
	"encoding/json"
)

// Encode returns the JSON of v, without the escapes for HTML and without a line end. All stored
// and answered JSON is encoded by Encode, so a stored part of an answer is equal to the answer
// byte for byte.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
