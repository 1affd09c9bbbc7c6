// Package size has the policy for long answers (gaps.md section 1, "Long answers"). This file
// has the limits, detail.go the order in which a long answer omits parts, and answer.go applies
// both.
package size

import "context"

// The limits of an answer. A Lambda returns at most 6 MB, and compressed bytes are encoded as
// base64.
const (
	// Plain is the largest answer without compression, in bytes of JSON.
	Plain = 5 << 20
	// Uncompressed is the largest answer with compression, in bytes of JSON.
	Uncompressed = 30 << 20
	// Compressed is the largest answer with compression, in compressed bytes.
	Compressed = 4_300_000
	// Payload is the largest result of a Lambda in bytes, without the headers. The result has
	// the JSON as a string, with escaped quotes and backslashes.
	Payload = 6_000_000
)

// The limits of parts of an answer.
const (
	// pageFrame is the largest size of a page without its results, in bytes.
	pageFrame = 1 << 10
	// bulkFrame is the space in the answer of a bulk for all except records and errors, in
	// bytes.
	bulkFrame = 100 << 10
	// BulkWord is the largest length of an unknown action in the answer of a bulk, in
	// characters.
	BulkWord = 100
	// BulkMessage is the largest message of an error in the answer of a bulk without space for
	// more, in bytes.
	BulkMessage = 2 << 10
	// Biographies is the largest size of the texts about the contacts of an account in the
	// answer of a bulk, in bytes. A bulk keeps a hundred of such answers.
	Biographies = 1 << 20
)

// The limits of what a request loads for its answer.
const (
	// Loaded is the limit for loaded records, in stored bytes: a Lambda of 512 MB can decode
	// and encode as much.
	Loaded = 64 << 20
	// Parties is the limit for the contacts and accounts of a page: more than an answer of
	// 30 MB can show at two kilobytes each.
	Parties = 15_000
)

// Client is what the size of an answer depends on.
type Client struct {
	// Gzip reports whether the client accepts gzip.
	Gzip bool
	// PageSize is the parameter for a smaller page; empty for a request without pages.
	PageSize string
	// Writes reports whether the request writes. A write is never refused for the size of its
	// answer.
	Writes bool
}

type clientKey struct{}

// With returns the context of a request of the client.
func With(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// Of returns the client of a context; the zero Client for a context without a client.
func Of(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}

// Limit returns the largest answer for the client, in bytes of JSON.
func (c Client) Limit() int {
	if c.Gzip {
		return Uncompressed
	}
	return Plain
}
