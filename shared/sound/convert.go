package sound

import (
	"context"
	"encoding/binary"
)

// The encoding of recordings.
const (
	Bits     = 16
	Channels = 1
	Rate     = 16_000
	// sampleBytes is the number of bytes of a sample.
	sampleBytes = Bits / 8 * Channels
)

const (
	// blockBytes and blockFrames limit what is read of the source at once.
	blockBytes, blockFrames = 4 << 20, 1 << 20
	// plainHeader and longHeader are the lengths of the header of a converted file, up to 4 GB and beyond.
	plainHeader, longHeader = 44, 80
)

// samples returns the number of samples of the converted sound. The last may be the only one of a short rest.
func (f Format) samples() int64 {
	common := divisor(Rate, f.Rate)
	phases, step := Rate/common, f.Rate/common
	return (f.frames()*phases + step - 1) / step
}

// Size returns the size of the converted file.
func (f Format) Size() int64 { return int64(len(f.Header())) + f.samples()*sampleBytes }

// ConvertedSeconds returns the length in seconds of the converted sound.
func (f Format) ConvertedSeconds() float64 { return float64(f.samples()) / Rate }

// Header returns the beginning of the converted file, up to the sound. No file begins so that needs a
// conversion.
func (f Format) Header() []byte {
	length := f.samples() * sampleBytes
	if length+plainHeader > unknown {
		return header("RF64", unknown, length)
	}
	return header("RIFF", uint32(length), 0) //nolint:gosec // the length is below unknown
}

// header returns the header of a file. long is the length of the sound of a file over 4 GB.
func header(container string, length uint32, long int64) []byte {
	const formatChunk, longChunk = 16, 28
	h := make([]byte, 0, longHeader)
	h = append(h, container...)
	h = binary.LittleEndian.AppendUint32(h, uint32(min(int64(length)+plainHeader-chunkHead, unknown)))
	h = append(h, "WAVE"...)
	if long > 0 {
		h = append(h, "ds64"...)
		h = binary.LittleEndian.AppendUint32(h, longChunk)
		h = binary.LittleEndian.AppendUint64(h, uint64(long)+longHeader-chunkHead)
		h = binary.LittleEndian.AppendUint64(h, uint64(long))
		h = binary.LittleEndian.AppendUint64(h, uint64(long)/sampleBytes)
		h = binary.LittleEndian.AppendUint32(h, 0)
	}
	h = append(h, "fmt "...)
	h = binary.LittleEndian.AppendUint32(h, formatChunk)
	h = binary.LittleEndian.AppendUint16(h, formatPCM)
	h = binary.LittleEndian.AppendUint16(h, Channels)
	h = binary.LittleEndian.AppendUint32(h, Rate)
	h = binary.LittleEndian.AppendUint32(h, Rate*sampleBytes)
	h = binary.LittleEndian.AppendUint16(h, sampleBytes)
	h = binary.LittleEndian.AppendUint16(h, Bits)
	h = append(h, "data"...)
	return binary.LittleEndian.AppendUint32(h, length)
}

// Source reads at most n bytes of a file from a place in it.
type Source func(ctx context.Context, from, n int64) ([]byte, error)

// Conversion converts the sound of a file.
type Conversion struct {
	Format
	source Source
	filter *filter
}

// Convert returns the conversion of a file whose sound is Convertible.
func (f Format) Convert(source Source) *Conversion { return &Conversion{f, source, newFilter(f.Rate)} }

// Piece returns n bytes of the converted file from a place in it, or fewer at the end. Both are even. It
// returns ErrDamaged for sound that cannot be converted.
func (c *Conversion) Piece(ctx context.Context, from, n int64) ([]byte, error) {
	head := c.Header()
	before := int64(len(head))
	n = min(n, c.Size()-from)
	piece := make([]byte, n)
	done := int64(0)
	if from < before {
		done = int64(copy(piece, head[from:]))
	}
	w := window{Conversion: c, next: (from + done - before) / sampleBytes, end: (from + n - before) / sampleBytes}
	w.start = c.filter.first(w.next)
	for w.next < w.end {
		if err := w.read(ctx); err != nil {
			return nil, err
		}
		done += w.produce(piece[done:])
	}
	return piece, nil
}

// window has the samples of the source that the next samples of the result need.
type window struct {
	*Conversion
	// next is the next sample of the result, and end the sample after the last.
	next, end int64
	// start is the place of the first sample of mono in the source. Beside the source is silence.
	start int64
	mono  []float32
}

// read appends a block of the source.
func (w *window) read(ctx context.Context) error {
	at := w.start + int64(len(w.mono))
	for ; at < 0; at++ {
		w.mono = append(w.mono, 0)
	}
	last := w.filter.first(w.end-1) + 2*w.filter.half
	n := min(blockFrames, blockBytes/w.frame(), last-at)
	read := min(n, w.frames()-at)
	if read > 0 {
		raw, err := w.source(ctx, w.Start+at*w.frame(), read*w.frame())
		if err == nil && int64(len(raw)) != read*w.frame() {
			err = ErrDamaged
		}
		if err == nil {
			w.mono, err = w.mix(w.mono, raw)
		}
		if err != nil {
			return err
		}
		n -= read
	}
	w.mono = append(w.mono, make([]float32, max(n, 0))...)
	return nil
}

// produce writes the samples of the result that the window is enough for, and drops what no later sample needs.
// It returns the number of bytes.
func (w *window) produce(to []byte) (written int64) {
	needed := 2 * w.filter.half
	for ; w.next < w.end; w.next++ {
		first := w.filter.first(w.next) - w.start
		if first+needed > int64(len(w.mono)) {
			break
		}
		store(to[written:], w.filter.sample(w.next, w.mono[first:first+needed]))
		written += sampleBytes
	}
	dropped := min(w.filter.first(w.next)-w.start, int64(len(w.mono)))
	w.start += dropped
	w.mono = append(w.mono[:0], w.mono[dropped:]...)
	return written
}
