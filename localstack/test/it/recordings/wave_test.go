package recordings_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// tone is sound of a frequency and a level of full scale.
type tone struct{ hertz, level float64 }

// at returns the sample i with a rate.
func (n tone) at(i, rate int) float64 {
	return n.level * math.Sin(2*math.Pi*n.hertz*float64(i)/float64(rate))
}

// wave describes a WAV file with a tone in each channel. The last tone is that of all further channels.
type wave struct {
	channels, rate, bits int
	float, extended      bool
	law                  uint16 // the number of the format of a telephone
	frames               int
	tones                []tone
}

// encoded appends a sample.
func (w wave) encoded(to []byte, sample float64) []byte {
	full := math.Pow(2, float64(w.bits-1))
	whole := int64(math.Round(max(-full, min(full-1, sample*full))))
	switch {
	case w.law != 0:
		return append(to, w.nearest(sample))
	case w.float && w.bits == 64:
		return binary.LittleEndian.AppendUint64(to, math.Float64bits(sample))
	case w.float:
		return binary.LittleEndian.AppendUint32(to, math.Float32bits(float32(sample)))
	case w.bits == 8:
		return append(to, byte(whole+128))
	case w.bits == 16:
		return binary.LittleEndian.AppendUint16(to, uint16(whole))
	case w.bits == 24:
		return append(to, byte(whole), byte(whole>>8), byte(whole>>16))
	}
	return binary.LittleEndian.AppendUint32(to, uint32(whole))
}

// telephone returns the sample of a byte by the tables of ITU-T G.711, of full scale 1.
func (w wave) telephone(b byte) float64 {
	if w.law == 6 {
		b ^= 0x55
	} else {
		b = ^b
	}
	step, power := float64(b&15), math.Pow(2, float64(b>>4&7))
	size := (2*step+33)*power - 33
	scale, positive := 8192.0, b < 128
	if w.law == 6 {
		scale, positive = 4096, b >= 128
		if size = (2*step + 33) * power / 2; power == 1 {
			size = 2*step + 1
		}
	}
	if positive {
		return size / scale
	}
	return -size / scale
}

// nearest returns the byte whose sample is nearest.
func (w wave) nearest(sample float64) (best byte) {
	for b := range 256 {
		if math.Abs(w.telephone(byte(b))-sample) < math.Abs(w.telephone(best)-sample) {
			best = byte(b)
		}
	}
	return best
}

// file returns the file.
func (w wave) file() []byte {
	var content []byte
	for i := range w.frames {
		for c := range w.channels {
			content = w.encoded(content, w.tones[min(c, len(w.tones)-1)].at(i, w.rate))
		}
	}
	s := sound{container: "RIFF", format: 1, channels: uint16(w.channels), rate: uint32(w.rate), bits: uint16(w.bits), content: content}
	if w.float {
		s.format = 3
	}
	if w.law != 0 {
		s.format = w.law
	}
	if w.extended {
		s.inner, s.format, s.extended = s.format, 0xFFFE, true
	}
	return s.file()
}

// samples returns the sound of a converted file, after a check of the header.
func samples(t *testing.T, file []byte) []float64 {
	t.Helper()
	const header = 44
	require.Greater(t, len(file), header)
	length := uint32(len(file) - header)
	want := sound{container: "RIFF", format: 1, channels: 1, rate: 16_000, bits: 16, content: make([]byte, length)}.file()[:header]
	require.Equal(t, want, file[:header])
	all := make([]float64, length/2)
	for i := range all {
		all[i] = float64(int16(binary.LittleEndian.Uint16(file[header+2*i:]))) / (1 << 15)
	}
	return all
}

// middle leaves out the edges, where the filter has silence on one side.
func middle(all []float64) []float64 { return all[len(all)/4 : len(all)-len(all)/4] }

// level returns the level of a frequency in sound of 16 kHz, and that of everything else.
func level(all []float64, hertz float64) (found, rest float64) {
	var sin, cos, window float64
	for i, s := range all {
		hann := 1 - math.Cos(2*math.Pi*(float64(i)+0.5)/float64(len(all)))
		at := 2 * math.Pi * hertz * float64(i) / 16_000
		sin, cos, window = sin+hann*s*math.Sin(at), cos+hann*s*math.Cos(at), window+hann
	}
	a, b := 2*sin/window, 2*cos/window
	sum := 0.0
	for i, s := range all {
		at := 2 * math.Pi * hertz * float64(i) / 16_000
		sum += math.Pow(s-a*math.Sin(at)-b*math.Cos(at), 2)
	}
	return math.Hypot(a, b), math.Sqrt(2 * sum / float64(len(all)))
}
