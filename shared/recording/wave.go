package recording

import (
	"encoding/binary"
	"math"
	"slices"
)

// containers begin a WAV file. RF64 and BW64 are for files over 4 GB.
var containers = []string{"RIFF", "RF64", "BW64"}

// headerBytes is the length of the beginning of a file that is read. The sound begins within it.
const headerBytes = 64 << 10

// formatPCM and formatExtensible are the formats of WAV files with uncompressed sound. The second names
// the encoding in an extension, whose first two bytes are formatPCM.
const (
	formatPCM        = 1
	formatExtensible = 0xFFFE
)

// chunkHead is the length of the id and the size before the content of a chunk.
const chunkHead = 8

// duration returns the length in seconds of the sound in a WAV file, by the beginning of the file and
// its size. It reports false for every other sound than the one that is taken, and for a file that ends
// before its sound.
func duration(head []byte, size int64) (seconds float64, ok bool) {
	const riff = 12
	if len(head) < riff || string(head[8:riff]) != "WAVE" || !slices.Contains(containers, string(head[:4])) {
		return 0, false
	}
	taken, long := false, int64(unknown)
	for at := int64(riff); at+chunkHead <= int64(len(head)); {
		id, length := string(head[at:at+4]), int64(binary.LittleEndian.Uint32(head[at+4:]))
		content := at + chunkHead
		switch id {
		case "ds64":
			long = longOf(head[content:min(content+length, int64(len(head)))])
		case "fmt ":
			taken = isTaken(head[content:min(content+length, int64(len(head)))])
		case "data":
			if length == unknown {
				length = long
			}
			return soundOf(length, size-content, taken)
		}
		at = content + length + length%2 // A chunk has an even length.
	}
	return 0, false
}

// unknown is the length of a chunk that the recorder did not know, or that takes more than four bytes.
const unknown = 1<<32 - 1

// longOf returns the length of the sound by the chunk that files over 4 GB have.
func longOf(content []byte) int64 {
	const at, end = 8, 16
	if len(content) < end {
		return unknown
	}
	return int64(min(binary.LittleEndian.Uint64(content[at:end]), math.MaxInt64))
}

// soundOf returns the length in seconds of a data chunk, whose content begins left bytes before the end
// of the file. A recorder that wrote the header first may leave a length of 0.
func soundOf(length, left int64, taken bool) (seconds float64, ok bool) {
	if length == 0 || length == unknown {
		length = left
	}
	if !taken || length <= 0 || length > left || length%(sampleBits/8) != 0 {
		return 0, false
	}
	return float64(length) / bytesASecond, true
}

// isTaken reports whether the content of a format chunk describes the sound that is taken.
func isTaken(format []byte) bool {
	const plain, extended = 16, 26
	if len(format) < plain {
		return false
	}
	kind := binary.LittleEndian.Uint16(format)
	if kind == formatExtensible && len(format) >= extended {
		kind = binary.LittleEndian.Uint16(format[24:])
	}
	return kind == formatPCM && binary.LittleEndian.Uint16(format[2:]) == channels &&
		binary.LittleEndian.Uint32(format[4:]) == sampleRate && binary.LittleEndian.Uint16(format[14:]) == sampleBits
}
