package sound

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrDamaged reports sound that cannot be converted: a floating-point sample that is no number, or bytes that
// are missing.
var ErrDamaged = errors.New("sound: the file is damaged")

// encoding is the encoding of a sample.
type encoding struct {
	isFloat bool
	law     Law
	bits    int
}

// decoders has the decoder of each encoding: it returns the sample at the start of the bytes. Full scale is 1.
var decoders = map[encoding]func([]byte) float32{
	{bits: 8}: whole8, {bits: 16}: whole16, {bits: 24}: whole24, {bits: 32}: whole32,
	{isFloat: true, bits: 32}: float, {isFloat: true, bits: 64}: double,
	{law: ALaw, bits: 8}: aLaw, {law: MuLaw, bits: 8}: muLaw,
}

// whole8 decodes 8 bits without a sign.
func whole8(b []byte) float32 { return float32(int(b[0])-1<<7) / (1 << 7) }

// whole16 decodes 16 bits.
func whole16(b []byte) float32 { return whole32([]byte{0, 0, b[0], b[1]}) }

// whole24 decodes 24 bits.
func whole24(b []byte) float32 { return whole32([]byte{0, b[0], b[1], b[2]}) }

// whole32 decodes 32 bits.
func whole32(b []byte) float32 {
	return float32(int32(binary.LittleEndian.Uint32(b))) / (1 << 31) //nolint:gosec // the bits of a sample with a sign
}

// float decodes a floating-point number of 32 bits.
func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// double decodes a floating-point number of 64 bits.
func double(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }

// Parts of a sample of a telephone (ITU-T G.711): the sign, the step within a segment, and the bits of it.
const (
	signBit  = 0x80
	stepMask = 0x0F
	stepBits = 4
)

// segment returns the number of the segment of a sample, from 0 to 7. The steps of a segment are twice as large as
// those of the one before.
func segment(b byte) int { return int(b&^signBit) >> stepBits }

// aLaw decodes a sample of A-law.
func aLaw(b []byte) float32 {
	bits := b[0] ^ 0x55 // Every other bit is stored inverted.
	size := int(bits&stepMask)<<1 + 1
	if s := segment(bits); s > 0 {
		size = (size + 1<<5) << (s - 1)
	}
	return signed(float32(size)/(1<<12), bits&signBit == 0)
}

// muLaw decodes a sample of µ-law.
func muLaw(b []byte) float32 {
	const bias = 33
	bits := ^b[0] // All bits are stored inverted.
	size := (int(bits&stepMask)<<1+bias)<<segment(bits) - bias
	return signed(float32(size)/(1<<13), bits&signBit != 0)
}

// signed returns the size with a sign.
func signed(size float32, negative bool) float32 {
	if negative {
		return -size
	}
	return size
}

// loudest bounds floating-point samples. A file beyond it has no sound, but bytes of another kind.
const loudest = 1 << 20

// mix appends the mean of the channels of each frame.
func (f Format) mix(mono []float32, raw []byte) ([]float32, error) {
	decode, apart := decoders[encoding{f.Float, f.Law, f.Bits}], f.Bits/8
	share := 1 / float32(f.Channels)
	for frame := int(f.frame()); len(raw) >= frame; raw = raw[frame:] {
		sum := float32(0)
		for at := 0; at < frame; at += apart {
			sum += decode(raw[at:])
		}
		if !(sum < loudest && sum > -loudest) { // A sum that is no number is neither.
			return nil, ErrDamaged
		}
		mono = append(mono, sum*share)
	}
	return mono, nil
}

// store writes a sample with 16 bits. A sample beyond full scale is cut there.
func store(to []byte, sample float32) {
	const full = 1 << 15
	value := math.Round(float64(sample) * full)
	binary.LittleEndian.PutUint16(to, uint16(int16(max(-full, min(full-1, value))))) //nolint:gosec // the bits of a sample with a sign
}
