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

// dictionary1 is text that many stored records contain. Deflated records refer to the
// dictionary and cannot be read without it, so it must never change. A better dictionary gets
// the next number.
//
//go:embed dictionary/1.txt
var dictionary1 []byte

const (
	// number1 is the first byte of data that is deflated with dictionary1.
	number1 = 1
	// writeUnit is the number of bytes of an item that one write unit pays for.
	writeUnit = 1 << 10
	// maxInflated is longer than the data of any item: DynamoDB's limit is 400 KB deflated.
	maxInflated = 64 << 20
)

var (
	errNotDeflated = errors.New("table: data is not deflated by a known dictionary")

	// deflaters and inflaters keep their tables of about 1 MB and 40 KB for later use.
	deflaters = sync.Pool{New: func() any {
		w, err := flate.NewWriterDict(nil, flate.DefaultCompression, dictionary1)
		if err != nil {
			panic(err) // The level is one that flate has.
		}
		return w
	}}
	inflaters = sync.Pool{New: func() any { return flate.NewReaderDict(bytes.NewReader(nil), dictionary1) }}
)

// deflated returns the data as attribute z stores it, and reports whether that saves a write
// unit. beside is the number of bytes of the item without its data.
func deflated(data []byte, beside int) (short []byte, saves bool) {
	if beside+len(data) <= writeUnit {
		return nil, false
	}
	out := bytes.NewBuffer(make([]byte, 0, len(data)/2+writeUnit))
	out.WriteByte(number1)
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(out)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // A buffer takes everything.
	}
	return out.Bytes(), writeUnits(beside+out.Len()) < writeUnits(beside+len(data))
}

// writeUnits returns the write units of an item of so many bytes.
func writeUnits(size int) int { return (size + writeUnit - 1) / writeUnit }

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
