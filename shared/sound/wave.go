// Package sound reads WAV files, and converts their sound to the encoding of recordings: 16-bit mono sound with
// 16,000 samples a second (decision 46). Each piece of a converted file can be made alone, from a piece of
// the source, so a conversion needs little memory and goes on after any end.
//
// Read wave.go, sample.go, filter.go, convert.go.
package sound

import (
	"encoding/binary"
	"math"
	"slices"
)

// HeaderBytes is the length of the beginning of a file that Parse needs. The sound begins within it.
const HeaderBytes = 64 << 10

// The encodings of WAV files that can be converted. formatExtensible names the encoding in an extension,
// whose first two bytes are one of the others.
const (
	formatPCM        = 1
	formatFloat      = 3
	formatALaw       = 6
	formatMuLaw      = 7
	formatExtensible = 0xFFFE
)

// Limits of the sound that can be converted.
const (
	maxChannels      = 16
	minRate, maxRate = 8_000, 192_000
)

// containers begin a WAV file. RF64 and BW64 are for files over 4 GB.
var containers = []string{"RIFF", "RF64", "BW64"}

const (
	// riffHead is the length of what stands before the first chunk, and chunkHead that of the id and the size
	// before the content of a chunk.
	riffHead, chunkHead = 12, 8
	// unknown is the length of a chunk that the recorder did not know, or that takes more than four bytes.
	unknown = 1<<32 - 1
)

// Law is how 8 bits have the range of 13 or 14, as in telephones (ITU-T G.711).
type Law string

// The laws; empty for numbers.
const (
	ALaw  Law = "a"
	MuLaw Law = "mu"
)

// Format describes the sound of a file, and where the sound is.
type Format struct {
	// Float reports whether samples are floating-point numbers. Whole numbers of 8 bits have no sign.
	Float bool `json:"float,omitempty"`
	// Law is that of samples which are no numbers.
	Law      Law   `json:"law,omitempty"`
	Bits     int   `json:"bits"`
	Channels int   `json:"channels"`
	Rate     int64 `json:"rate"`
	// Start is the place of the first byte, Length the number of bytes.
	Start  int64 `json:"start"`
	Length int64 `json:"length"`
}

// Parse returns the format of a WAV file with uncompressed sound, by the beginning of the file and its size. It
// reports false for any other file, and for a file that ends before its sound. Taken and Convertible report
// what can be done with the sound.
func Parse(head []byte, size int64) (f Format, ok bool) {
	if len(head) < riffHead || string(head[8:riffHead]) != "WAVE" || !slices.Contains(containers, string(head[:4])) {
		return f, false
	}
	long := int64(unknown)
	for at := int64(riffHead); at+chunkHead <= int64(len(head)); {
		id, length := string(head[at:at+4]), int64(binary.LittleEndian.Uint32(head[at+4:]))
		f.Start = at + chunkHead
		content := head[f.Start:min(f.Start+length, int64(len(head)))]
		switch id {
		case "ds64":
			long = longOf(content)
		case "fmt ":
			f.describe(content)
		case "data":
			if length == unknown {
				length = long
			}
			return f, f.measure(length, size-f.Start)
		}
		at = f.Start + length + length%2 // A chunk has an even length.
	}
	return f, false
}

// longOf returns the length of the sound by the chunk that files over 4 GB have.
func longOf(content []byte) int64 {
	const at, end = 8, 16
	if len(content) < end {
		return unknown
	}
	return int64(min(binary.LittleEndian.Uint64(content[at:end]), math.MaxInt64))
}

// formatsOfWave ends the id of a format that has a number of its own in plain files. Other ids are those of
// channels that are no speakers, for example.
const formatsOfWave = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// describe takes the content of a format chunk. A chunk of a compressed or unknown encoding leaves no bits.
func (f *Format) describe(chunk []byte) {
	const plain, extended = 16, 40
	f.Law, f.Bits = "", 0
	if len(chunk) < plain {
		return
	}
	kind := binary.LittleEndian.Uint16(chunk)
	if kind == formatExtensible && len(chunk) >= extended && string(chunk[26:extended]) == formatsOfWave {
		kind = binary.LittleEndian.Uint16(chunk[24:])
	}
	switch kind {
	case formatALaw:
		f.Law = ALaw
	case formatMuLaw:
		f.Law = MuLaw
	case formatPCM, formatFloat:
	default:
		return
	}
	f.Float, f.Channels = kind == formatFloat, int(binary.LittleEndian.Uint16(chunk[2:]))
	f.Rate, f.Bits = int64(binary.LittleEndian.Uint32(chunk[4:])), int(binary.LittleEndian.Uint16(chunk[14:]))
	if block := int64(binary.LittleEndian.Uint16(chunk[12:])); block != f.frame() {
		f.Bits = 0 // Samples with gaps between them.
	}
}

// measure sets the length of a data chunk whose content begins left bytes before the end of the file. A
// recorder that wrote the header first may leave a length of 0. It reports whether the chunk has whole
// samples of all channels, at least one.
func (f *Format) measure(length, left int64) bool {
	frame := f.frame()
	if frame <= 0 {
		return false
	}
	if length == 0 || length == unknown {
		length = left - left%frame // A recorder may have ended within a sample.
	}
	f.Length = length
	return length > 0 && length <= left && length%frame == 0
}

// frame returns the number of bytes of one sample of all channels.
func (f Format) frame() int64 { return int64(f.Channels) * int64(f.Bits) / 8 }

// frames returns the number of samples of a channel.
func (f Format) frames() int64 { return f.Length / f.frame() }

// Seconds returns the length of the sound in seconds.
func (f Format) Seconds() float64 { return float64(f.frames()) / float64(f.Rate) }

// Taken reports whether the sound has the encoding of recordings.
func (f Format) Taken() bool {
	return !f.Float && f.Law == "" && f.Bits == Bits && f.Channels == Channels && f.Rate == Rate
}

// Convertible reports whether the sound can be converted to the encoding of recordings.
func (f Format) Convertible() bool {
	return decoders[encoding{f.Float, f.Law, f.Bits}] != nil && f.Channels >= 1 && f.Channels <= maxChannels &&
		f.Rate >= minRate && f.Rate <= maxRate && Rate/divisor(Rate, f.Rate) <= maxPhases
}
