package sound_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/sound"
)

// noise is a file of bytes without a header.
type noise []byte

func (n noise) read(_ context.Context, from, most int64) ([]byte, error) {
	return n[from:min(from+most, int64(len(n)))], nil
}

// newNoise returns a file with so many bytes.
func newNoise(n int64) noise {
	all, draw := make(noise, n), rand.NewChaCha8([32]byte{})
	_, _ = draw.Read(all)
	return all
}

// TestAPieceIsThatOfTheWhole, wherever it begins.
func TestAPieceIsThatOfTheWhole(t *testing.T) {
	for _, f := range []sound.Format{
		{Bits: 16, Channels: 2, Rate: 44_100, Start: 10, Length: 400_000}, {Bits: 8, Channels: 1, Rate: 8_000, Length: 30_001},
		{Bits: 24, Channels: 3, Rate: 192_000, Start: 1, Length: 900_000}, {Bits: 16, Channels: 1, Rate: 48_000, Length: 2},
	} {
		source := newNoise(f.Start + f.Length)
		c := f.Convert(source.read)
		whole, err := c.Piece(t.Context(), 0, f.Size())
		require.NoError(t, err)
		require.EqualValues(t, f.Size(), len(whole))
		for _, size := range []int64{2, 46, 1000, 65_536} {
			var joined []byte
			for from := int64(0); from < f.Size(); from += size * 7 {
				for at := from; at < min(from+size*7, f.Size()); at += size {
					if size < 1000 && at > 5000 {
						joined = append(joined, whole[at:min(at+size, f.Size())]...)
						continue
					}
					piece, err := c.Piece(t.Context(), at, size)
					require.NoError(t, err)
					joined = append(joined, piece...)
				}
			}
			require.True(t, bytes.Equal(whole, joined), "%v in pieces of %d", f, size)
		}
	}
}

// TestALongFileHasALongHeader: more than 4 GB of sound, which RIFF cannot tell.
func TestALongFileHasALongHeader(t *testing.T) {
	f := sound.Format{Bits: 8, Channels: 1, Rate: 8_000, Length: 1_200_000_000}
	header := f.Header()
	require.Equal(t, "RF64", string(header[:4]))
	require.EqualValues(t, f.Size()-8, binary.LittleEndian.Uint64(header[20:]))
	read, ok := sound.Parse(header, f.Size())
	require.True(t, ok)
	require.Equal(t, sound.Format{Bits: 16, Channels: 1, Rate: 16_000, Start: 80, Length: 4_800_000_000}, read)
	require.True(t, read.Taken())
	f.Length = 1_000_000_000
	read, ok = sound.Parse(f.Header(), f.Size())
	require.True(t, ok)
	require.EqualValues(t, 4_000_000_000, read.Length)
}

// BenchmarkPiece converts parts of 8 MB; the figure is that of the source.
func BenchmarkPiece(b *testing.B) {
	for name, f := range map[string]sound.Format{
		"44.1 kHz, 16 bits, stereo": {Bits: 16, Channels: 2, Rate: 44_100}, "48 kHz, 16 bits, stereo": {Bits: 16, Channels: 2, Rate: 48_000},
		"48 kHz, 24 bits, stereo": {Bits: 24, Channels: 2, Rate: 48_000}, "96 kHz, 32 bits of float, stereo": {Float: true, Bits: 32, Channels: 2, Rate: 96_000},
		"48 kHz, 8 bits, mono": {Bits: 8, Channels: 1, Rate: 48_000}, "8 kHz, 8 bits, mono": {Bits: 8, Channels: 1, Rate: 8_000},
		"16 kHz, 16 bits, stereo": {Bits: 16, Channels: 2, Rate: 16_000},
	} {
		f.Length = int64(f.Bits/8*f.Channels) * f.Rate * 60
		source := make(noise, f.Length)
		c := f.Convert(source.read)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(f.Length)
			for b.Loop() {
				if _, err := c.Piece(b.Context(), 0, f.Size()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
