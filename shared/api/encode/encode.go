// Package encode holds the parts of an answer's way over HTTP that depend on
// bytes and headers alone: entity tags and compression.
package encode

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Tag is the entity tag of a record's version in the form it is answered in.
func Tag(version int64, body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf(`"%d.%s"`, version, base64.RawURLEncoding.EncodeToString(sum[:12]))
}

// Matches is whether the values of an If-None-Match header have the tag.
func Matches(values []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(values, ","), ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}

// TakesGzip is whether a client with these Accept-Encoding values takes gzip.
func TakesGzip(values []string) bool {
	takes := map[string]bool{}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(part, ";")
		quality := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
			quality, _ = strconv.ParseFloat(q, 64)
		}
		takes[strings.ToLower(strings.TrimSpace(name))] = quality > 0
	}
	if yes, named := takes["gzip"]; named {
		return yes
	}
	return takes["*"]
}

// zippers are kept, as each has buffers of some hundred kilobytes.
var zippers = sync.Pool{New: func() any {
	zipper, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return zipper
}}

// Gzip compresses.
func Gzip(body []byte) []byte {
	var out bytes.Buffer
	zipper := zippers.Get().(*gzip.Writer)
	defer zippers.Put(zipper)
	zipper.Reset(&out)
	// Writing to a buffer does not fail.
	_, _ = zipper.Write(body)
	_ = zipper.Close()
	return out.Bytes()
}

// Gunzip unpacks what Gzip, or any gzip, has packed.
func Gunzip(zipped []byte) ([]byte, error) {
	unzipper, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	body, err := io.ReadAll(unzipper)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return body, nil
}
