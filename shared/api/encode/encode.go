// Package encode has entity tags and compression: the parts of HTTP that depend only on bytes
// and headers.
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

// Tag returns the entity tag of an answer with a version of a record. It depends on the body
// too, since one version can be shown in several forms.
func Tag(version int64, body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf(`"%d.%s"`, version, base64.RawURLEncoding.EncodeToString(sum[:12]))
}

// Matches reports whether the values of an If-None-Match header contain the tag.
func Matches(values []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(values, ","), ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}

// TakesGzip reports whether the values of an Accept-Encoding header accept gzip.
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

// writers keeps gzip writers for reuse, since each has buffers of some hundred kilobytes.
var writers = sync.Pool{New: newWriter}

func newWriter() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}

// Gzip compresses a body.
func Gzip(body []byte) []byte {
	var out bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	// Writing to a buffer does not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

// Gunzip decompresses a body.
func Gunzip(compressed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return body, nil
}
