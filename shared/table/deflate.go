package table

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync"
)

// dictionary1 is text that stored records have in common: the deflated form of a record
// refers to it. It must never change, since deflated records cannot be read without it.
// A better one is added beside it under the next number.
//
//go:embed dictionary/1.txt
var dictionary1 []byte

const (
	// number1 is the first byte of data that is deflated with dictionary1.
	number1 = 1
	// maxInflated is longer than the data of any item: DynamoDB's limit is 400 KB deflated.
	maxInflated = 64 << 20
)

var (
	errNotDeflated = errors.New("table: data is not deflated by a known dictionary")

	// inflaters keep their tables of 40 KB for later use.
	inflaters = sync.Pool{New: func() any { return flate.NewReaderDict(bytes.NewReader(nil), dictionary1) }}
)

// Inflate returns the data that attribute z stores deflated.
func Inflate(short []byte) ([]byte, error) {
	if len(short) == 0 || short[0] != number1 {
		return nil, errNotDeflated
	}
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(short[1:]), dictionary1); err != nil {
		return nil, fmt.Errorf("table: inflate: %w", err)
	}
	out := bytes.NewBuffer(make([]byte, 0, 4*len(short)))
	n, err := out.ReadFrom(io.LimitReader(r, maxInflated))
	if err != nil || n == maxInflated {
		return nil, fmt.Errorf("table: inflate: %w", errors.Join(err, errNotDeflated))
	}
	return out.Bytes(), nil
}
