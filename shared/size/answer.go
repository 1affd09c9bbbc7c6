package size

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"lectern/shared/api/encode"
	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// Answer is an encoded answer.
type Answer struct {
	JSON []byte
	// Gzip is the same compressed; nil if the size did not depend on it.
	Gzip []byte
}

// Encode encodes an answer, small enough for the client of the context. A Reducer that is too
// large omits parts, and so does a Page of one result. Encode refuses a Page of several results
// with a 400 that names a page size that fits, and another long answer with a 400. It returns
// the answer to a write in any case.
func Encode(ctx context.Context, answer any) (*Answer, error) {
	client, reducer := Of(ctx), reducerOf(answer)
	for detail := Full; ; {
		encoded, limit, err := client.encode(answer)
		if err != nil || len(encoded.JSON) <= limit {
			return encoded, err
		}
		if detail = reduce(reducer, detail); detail <= Bare {
			continue
		}
		if page, ok := answer.(Page); ok {
			return nil, tooManyResults(ctx, page, limit, len(encoded.JSON))
		}
		if !client.Writes {
			return nil, apierr.Invalid("", "%s", client.message(len(encoded.JSON)))
		}
		return encoded, nil
	}
}

// reducerOf returns the Reducer of an answer: the answer or the only result of a page, since a
// client cannot ask for a smaller page; nil for other answers.
func reducerOf(answer any) Reducer {
	if page, ok := answer.(Page); ok {
		items := page.Items()
		if len(items) != 1 {
			return nil
		}
		answer = items[0]
	}
	reducer, _ := answer.(Reducer)
	return reducer
}

// reduce reduces a record to the next Detail that omits more, and returns the Detail. It
// returns more than Bare if nothing is left to omit.
func reduce(reducer Reducer, detail Detail) Detail {
	for detail++; detail <= Bare; detail++ {
		if reducer != nil && reducer.Reduce(detail) {
			return detail
		}
	}
	return detail
}

// encode encodes an answer, and returns the largest size that the answer may have in bytes of
// JSON.
func (c Client) encode(answer any) (*Answer, int, error) {
	text, err := wire.Encode(answer)
	if err != nil {
		return nil, 0, fmt.Errorf("size: encode answer: %w", err)
	}
	encoded := &Answer{JSON: text}
	if !c.Gzip {
		return encoded, min(Plain, portion(len(text), Payload, escaped(text))), nil
	}
	if len(text) <= Plain || len(text) > Uncompressed {
		return encoded, Uncompressed, nil
	}
	encoded.Gzip = encode.Gzip(text)
	return encoded, min(Uncompressed, portion(len(text), Compressed, len(encoded.Gzip))), nil
}

// escaped returns the bytes of JSON text within a JSON string.
func escaped(text []byte) int {
	return len(text) + bytes.Count(text, []byte{'"'}) + bytes.Count(text, []byte{'\\'})
}

// portion returns how many of n bytes fit into limit, if all n bytes take encoded bytes.
func portion(n, limit, encoded int) int { return int(int64(n) * int64(limit) / int64(encoded)) }

// tooManyResults returns the 400 for a page of so many bytes, which are more than limit. The limit
// of a client without gzip depends on the results of a page, so they are weighed one by one.
func tooManyResults(ctx context.Context, page Page, limit, bytes int) error {
	client := Of(ctx)
	if !client.Gzip {
		limit = Plain
	}
	var weights []int
	for _, item := range page.Items() {
		text, err := wire.Encode(item)
		if err != nil {
			return fmt.Errorf("size: encode result: %w", err)
		}
		weights = append(weights, client.weigh(text)+len(","))
	}
	return smaller(ctx, client.message(bytes), weights, limit-pageFrame)
}

// weigh returns the bytes of JSON text. For a client without gzip, text with more escapes than
// a Lambda has space for counts more, so that every text up to Plain is small enough.
func (c Client) weigh(text []byte) int {
	if c.Gzip {
		return len(text)
	}
	return max(len(text), portion(escaped(text), Plain, Payload))
}

// Text returns the bytes that a text takes in the answer, with its escapes.
func (c Client) Text(text string) int {
	encoded, err := wire.Encode(text)
	if err != nil {
		return len(text)
	}
	return c.weigh(encoded)
}

// JoinLines returns lines of a text that is no JSON as one text, and the same compressed if the size depended on it. The error is the 400
// for lines that are together too long for the client. It names the most lines below the first one that fit: where the client accepts
// gzip, by the compression of a text of at most Uncompressed bytes. A single line that is too long is a 400 for the query.
func JoinLines(ctx context.Context, lines []string) (text, compressed []byte, err error) {
	client, limit, sum := Of(ctx), Plain, 0
	weights := make([]int, len(lines))
	for i, line := range lines {
		if weights[i] = len(line); !client.Gzip {
			encoded, err := wire.Encode(line)
			if err != nil {
				return nil, nil, fmt.Errorf("size: encode line: %w", err)
			}
			weights[i] = max(len(line), portion(len(encoded), Plain, Payload))
		}
		sum += weights[i]
	}
	text = []byte(strings.Join(lines, ""))
	if client.Gzip {
		limit = Uncompressed
		if sum > Compressed && sum <= Uncompressed {
			compressed = encode.Gzip(text)
			limit = min(limit, portion(sum, Compressed, len(compressed)))
		}
	}
	switch {
	case sum <= limit:
		return text, compressed, nil
	case len(lines) <= 2:
		return nil, nil, apierr.Invalid("query", "%s Name fewer fields.", client.message(sum))
	}
	return nil, nil, smaller(ctx, client.message(sum), weights[1:], limit-weights[0])
}

// TooLong returns the 400 for a page whose results together are larger than the limit of the
// client. weights estimate the bytes of the results in the answer.
func TooLong(ctx context.Context, weights []int) *apierr.Error {
	bytes := 0
	for _, weight := range weights {
		bytes += weight
	}
	client := Of(ctx)
	return smaller(ctx, client.message(bytes), weights, client.Limit())
}

// TooMuch returns the 400 for a page that needs more than a request may load, whether the client
// accepts gzip or not. needs completes the sentence "The page would ...", weights are the parts
// of the results, in the unit of limit.
func TooMuch(ctx context.Context, needs string, weights []int, limit int) *apierr.Error {
	return smaller(ctx, "The page would "+needs+".", weights, limit)
}

// smaller returns a 400 that names a page size: the largest with which any selection of the
// results stays within the limit. With gzip the limit of an answer follows from the compression
// of this page, so another page may need a smaller size.
func smaller(ctx context.Context, message string, weights []int, limit int) *apierr.Error {
	name := Of(ctx).PageSize
	return apierr.Invalid(name, "%s Ask again with a %s of %d or less.", message, name, fit(weights, limit))
}

// fit returns the largest number of weights that stay within the limit for any selection of the
// weights; at least 1.
func fit(weights []int, limit int) int {
	fits, sum := 0, 0
	for _, weight := range slices.Backward(slices.Sorted(slices.Values(weights))) {
		if sum += weight; sum > limit {
			break
		}
		fits++
	}
	return max(fits, 1)
}

// message returns the message of an error for an answer of so many bytes of JSON.
func (c Client) message(bytes int) string {
	switch {
	case c.Gzip:
		return "The answer would be larger than 30 MB, or 4.3 MB compressed."
	case bytes <= Uncompressed:
		return "The answer would be larger than 5 MB. A request with Accept-Encoding: gzip is answered up to 30 MB."
	}
	return "The answer would be larger than 30 MB; without Accept-Encoding: gzip the limit is 5 MB."
}

// Space is the space left in the answer of a bulk, in bytes of JSON and in escaped bytes.
type Space struct{ plain, escaped int }

// NewSpace returns the space for the records and errors of a bulk.
func NewSpace(ctx context.Context) Space {
	if Of(ctx).Gzip {
		return Space{plain: Plain - bulkFrame, escaped: math.MaxInt}
	}
	return Space{plain: Plain - bulkFrame, escaped: Payload - bulkFrame}
}

// Fits reports whether there is space for text.
func (s *Space) Fits(text []byte) bool { return len(text) <= s.plain && escaped(text) <= s.escaped }

// Take takes the space of text, and more space than there is for text that does not fit.
func (s *Space) Take(text []byte) {
	s.plain -= len(text)
	s.escaped -= escaped(text)
}
