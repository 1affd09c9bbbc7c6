// Package size has the limits of long answers in one place (gaps.md section 1, "Long
// answers"). A Lambda returns at most 6 MB, in which compressed bytes are written as
// base64. What an answer leaves out when it is longer belongs to the record packages.
package size

import "context"

const (
	// Plain is how many bytes of JSON an answer has that travels as it is, and the
	// records of a bulk's answer together.
	Plain = 5 << 20
	// Unpacked is how many bytes of JSON an answer has that travels compressed.
	Unpacked = 30 << 20
	// Packed is how many bytes an answer has that was compressed.
	Packed = 4_300_000
	// Payload is what a Lambda may return, less room for the headers. JSON is a string
	// in it, which escapes quotes and backslashes.
	Payload = 6_000_000
	// Held is how many bytes of stored records a request keeps for its answer: as much as
	// a Lambda of 512 MB can decode and write.
	Held = 64 << 20
)

// Shrinker is a record that can be shown with less. Shrink leaves out the next step and
// lists it in the record's omitted: first about and custom fields of people, then
// expansions, then records that the record contains, so that every record can be answered.
// Shrink reports whether there was anything left to leave out.
type Shrinker interface{ Shrink() bool }

type limitKey struct{}

// With returns the context of a request whose client takes gzip or does not.
func With(ctx context.Context, gzip bool) context.Context {
	if gzip {
		return context.WithValue(ctx, limitKey{}, Unpacked)
	}
	return ctx
}

// Limit returns how many bytes of JSON the client of the context can be answered.
func Limit(ctx context.Context) int {
	if limit, ok := ctx.Value(limitKey{}).(int); ok {
		return limit
	}
	return Plain
}

// Message says by what limit an answer is too long.
func Message(limit int) string {
	if limit == Plain {
		return "The answer would be larger than 5 MB. A request with Accept-Encoding: gzip is answered up to 30 MB."
	}
	return "The answer would be larger than 30 MB, or 4.3 MB compressed."
}
