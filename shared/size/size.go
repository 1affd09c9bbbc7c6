// Package size has the limits of long answers (gaps.md section 1, "Long answers"). A Lambda
// returns at most 6 MB, and compressed bytes are encoded as base64. The packages of records
// decide which parts a long answer omits.
package size

import "context"

const (
	// Plain is the largest answer without compression, in bytes of JSON. It is also the limit
	// for all records in the answer of a bulk.
	Plain = 5 << 20
	// Uncompressed is the largest answer with compression, in bytes of JSON.
	Uncompressed = 30 << 20
	// Compressed is the largest answer with compression, in compressed bytes.
	Compressed = 4_300_000
	// Payload is the largest result of a Lambda in bytes, without the headers. The result has
	// the JSON as a string, with escaped quotes and backslashes.
	Payload = 6_000_000
	// Loaded is the limit for the records that a request loads for its answer, in stored
	// bytes: a Lambda of 512 MB can decode and encode as much.
	Loaded = 64 << 20
)

// Shrinker is a record that can omit parts. Shrink omits the next part and adds its name to the
// record's omitted: first about and custom fields of people, then expansions, then records that
// the record contains. Shrink reports whether there was a part to omit. After all steps, every
// record is small enough to be answered.
type Shrinker interface{ Shrink() bool }

type limitKey struct{}

// With returns the context of a request. gzip reports whether the client accepts gzip.
func With(ctx context.Context, gzip bool) context.Context {
	if gzip {
		return context.WithValue(ctx, limitKey{}, Uncompressed)
	}
	return ctx
}

// Limit returns the largest answer for the client of the context, in bytes of JSON.
func Limit(ctx context.Context) int {
	if limit, ok := ctx.Value(limitKey{}).(int); ok {
		return limit
	}
	return Plain
}

// Message returns the message of an error for an answer over a limit: Plain or Uncompressed.
func Message(limit int) string {
	if limit == Plain {
		return "The answer would be larger than 5 MB. A request with Accept-Encoding: gzip is answered up to 30 MB."
	}
	return "The answer would be larger than 30 MB, or 4.3 MB compressed."
}
