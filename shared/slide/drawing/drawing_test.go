package drawing_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/slide"
	"lectern/shared/slide/drawing"
	"lectern/shared/wire"
)

// names returns so many names.
func names(n int, name string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(name, " ", i))
	}
	return all
}

// at returns facts with a title and speakers.
func at(title string, speakers ...string) *slide.Facts {
	from, to := wire.At(time.Date(2027, 5, 11, 7, 0, 0, 0, time.UTC)), wire.At(time.Date(2027, 5, 11, 7, 45, 0, 0, time.UTC))
	return &slide.Facts{Title: title, StartsAt: &from, EndsAt: &to, Zone: "Europe/Paris", Room: "Hall 1", Speakers: speakers}
}

// encoded returns a picture of a color as a PNG.
func encoded(t *testing.T, width, height int, c color.Color) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		p.Set(i%width, i/width, c)
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, p))
	return out.Bytes()
}

// TestNoTextLeavesItsPlace, however long it is: the margins of the slide stay blank.
func TestNoTextLeavesItsPlace(t *testing.T) {
	blank, err := drawing.Decode(nil, nil)
	require.NoError(t, err)
	long := strings.Repeat("A long title with many words ", 9)[:255]
	for name, f := range map[string]*slide.Facts{
		"plain": at("A talk", "Ada Lovelace", "Bob Babbage"), "long": at(long, names(100, "A very long name of a person")...),
		"one word": at(strings.Repeat("W", 255), strings.Repeat("M", 510)), "empty": {Title: "A talk"},
		"French": at("Être à l’œuvre — «\u00a0déjà\u00a0»", "Zoë Çelik"), "Greek": at("Ελληνικά και μαθηματικά", "Υπατία"),
		"Arabic": at(strings.Repeat("كلمة طويلة ", 23), names(60, "ابن الهيثم")...), "Japanese": at(strings.Repeat("日本語の長い題名", 31), names(60, "関孝和")...),
		"mixed": at("日本語 and العربية and Ελληνικά", "Ada", "ابن", "関"), "accents": at(strings.Repeat("Z\u0335\u0321\u0316", 60)),
	} {
		file, err := blank.PNG(f)
		require.NoError(t, err, name)
		again, err := blank.PNG(f)
		require.NoError(t, err, name)
		require.Equal(t, file, again, "%s: the same facts give the same bytes", name)
		shown, err := png.Decode(bytes.NewReader(file))
		require.NoError(t, err, name)
		require.Equal(t, image.Pt(drawing.Width, drawing.Height), shown.Bounds().Size(), name)
		requireBlank(t, shown, name)
	}
}

// requireBlank requires that the margins of a slide without a background have no ink. Outlines may stand out of
// their lines by some pixels.
func requireBlank(t *testing.T, shown image.Image, name string) {
	t.Helper()
	white := color.RGBA{0xff, 0xff, 0xff, 0xff}
	inner := image.Rect(100, 60, drawing.Width-100, drawing.Height-60)
	for y := range drawing.Height {
		for x := 30; x < drawing.Width; x++ {
			if (image.Point{X: x, Y: y}).In(inner) {
				x = inner.Max.X - 1
				continue
			}
			if shown.At(x, y) != color.Color(white) {
				require.Equal(t, white, shown.At(x, y), "%s at %d, %d", name, x, y)
			}
		}
	}
}

// TestPicturesCoverTheSlide: the background is seen at the edges, also through the panel, and the logo at the
// right top.
func TestPicturesCoverTheSlide(t *testing.T) {
	green, red := color.RGBA{0, 0x80, 0, 0xff}, color.RGBA{0xff, 0, 0, 0xff}
	for _, size := range []image.Point{{40, 30}, {1, 1}, {300, 2}, {2, 300}, {1920, 1080}} {
		p, err := drawing.Decode(encoded(t, size.X, size.Y, green), encoded(t, size.X, size.Y, red))
		require.NoError(t, err)
		began := time.Now()
		file, err := p.PNG(at("A talk", "Ada Lovelace"))
		require.NoError(t, err)
		t.Logf("a slide of %d bytes took %v", len(file), time.Since(began))
		shown, err := png.Decode(bytes.NewReader(file))
		require.NoError(t, err)
		for _, corner := range []image.Point{{0, 0}, {drawing.Width - 1, 0}, {0, drawing.Height - 1}, {drawing.Width - 1, drawing.Height - 1}} {
			require.Equal(t, color.Color(green), shown.At(corner.X, corner.Y), "%v", size)
		}
		require.Equal(t, color.Color(red), shown.At(drawing.Width-121, 121), "%v", size)
		through := shown.At(drawing.Width-80, drawing.Height-80).(color.RGBA)
		require.Less(t, through.R, through.G)
	}
	_, err := drawing.Decode([]byte("no picture"), nil)
	require.Error(t, err)
}
