package typeset_test

import (
	"bytes"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ledongthuc/pdf"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/pdftest"
	"lectern/shared/typeset"
)

// Texts of the scripts that documents carry.
const (
	french   = "Où est l’élève ? Ça va, cœur d’été."
	greek    = "Καλημέρα κόσμε, πώς είσαι;"
	arabic   = "مرحبا بالعالم، كيف حالك؟ لا إله"
	japanese = "日本語の文章です。東京タワー、ありがとう！"
	vowels   = "مُحَمَّد"
	accents  = "e\u0301\u0302 o\u0323\u0302"
	czech    = "Příliš žluťoučký kůň úpěl ďábelské ódy č"
)

const width = 400

var at = time.Date(2027, 5, 11, 9, 0, 0, 0, time.UTC)

// numbered writes no more than a number at the foot of a page.
type numbered struct{ setter *typeset.Setter }

func (n numbered) Foot(p *typeset.PDF, page, of int) error {
	lines, err := n.setter.Lines(strings.Repeat("i", page)+"/"+strings.Repeat("i", of), typeset.Style{Size: 9}, width)
	if err != nil {
		return err
	}
	return p.Line(lines[0], 40, 30, 0)
}

// written returns a PDF with a page for each text.
func written(t *testing.T, title string, pages ...string) []byte {
	t.Helper()
	p, s := typeset.NewPDF(), typeset.NewSetter()
	for i, text := range pages {
		if i > 0 {
			p.NewPage()
		}
		lines, err := s.Lines(text, typeset.Style{Size: 12, Bold: i%2 == 1}, width)
		require.NoError(t, err)
		for n, line := range lines {
			require.LessOrEqual(t, line.Width, float64(width))
			require.NoError(t, p.Line(line, 40, 700-20*float64(n), 0))
		}
	}
	file, err := p.Close(typeset.Info{Title: title, At: at}, numbered{s})
	require.NoError(t, err)
	require.GreaterOrEqual(t, p.Size(), len(file)*9/10)
	return file
}

// TestAPDFHasTheTextOfEveryScript in the order in which it was sent, with the number of each page.
func TestAPDFHasTheTextOfEveryScript(t *testing.T) {
	texts := []string{french, greek, arabic, japanese, czech, vowels, accents, greek + " " + arabic + " " + japanese + " " + french}
	file := written(t, czech+japanese, texts...)
	got := pdftest.Read(t, file)
	require.Equal(t, czech+japanese, got.Title)
	require.Equal(t, len(texts), got.Len())
	for i, text := range texts {
		require.Equal(t, text+strings.Repeat("i", i+1)+"/"+strings.Repeat("i", len(texts)), got.Page(i+1))
	}
	require.Equal(t, file, written(t, czech+japanese, texts...), "the same calls give the same bytes")
}

// TestARaisedGlyphRaisesNoOther: a sign above a letter leaves the next line in its place.
func TestARaisedGlyphRaisesNoOther(t *testing.T) {
	file := written(t, "", vowels+"\u064f\nxxx")
	r, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	count := 0
	for _, text := range r.Page(1).Content().Text {
		if text.S == "x" {
			require.Equal(t, 680.0, text.Y)
			count++
		}
	}
	require.Equal(t, 3, count)
}

// TestLinesAreWrapped at words, and where the script has none between characters.
func TestLinesAreWrapped(t *testing.T) {
	s := typeset.NewSetter()
	for _, text := range []string{french, greek, arabic, japanese} {
		long := strings.Repeat(text+" ", 20)
		lines, err := s.Lines(long, typeset.Style{Size: 12}, width)
		require.NoError(t, err)
		require.Greater(t, len(lines), 5)
		var whole strings.Builder
		for _, line := range lines {
			require.LessOrEqual(t, line.Width, float64(width))
			require.Equal(t, text == arabic, line.RightToLeft)
			for _, g := range line.Glyphs {
				whole.WriteString(g.Text)
			}
		}
		require.Equal(t, long, whole.String())
	}
	lines, err := s.Lines("one\n\nthree", typeset.Style{Size: 12}, width)
	require.NoError(t, err)
	require.Len(t, lines, 3)
	require.Empty(t, lines[1].Glyphs)
}

// TestArabicIsShaped: a letter has another glyph at the beginning, in the middle and at the end.
func TestArabicIsShaped(t *testing.T) {
	lines, err := typeset.NewSetter().Lines("ععع ع", typeset.Style{Size: 12}, width)
	require.NoError(t, err)
	seen := map[uint16]bool{}
	for _, g := range lines[0].Glyphs {
		if g.Text == "ع" {
			seen[g.ID] = true
		}
	}
	require.Len(t, seen, 4)
	first, last := lines[0].Glyphs[0], lines[0].Glyphs[len(lines[0].Glyphs)-1]
	require.Greater(t, first.X, last.X)
}

// TestAnyTextIsSet: nothing that a client can send ends the program or is lost.
func TestAnyTextIsSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	blocks := [][2]rune{{0, 0x20}, {0x20, 0x7f}, {0x80, 0x5ff}, {0x600, 0x6ff}, {0x900, 0x1fff}, {0x2000, 0x20ff}, {0x3000, 0x9fff}, {0xe000, 0xffff}, {0x1f300, 0x1faff}}
	for range 300 {
		var text strings.Builder
		for range random.IntN(60) {
			block := blocks[random.IntN(len(blocks))]
			text.WriteRune(block[0] + random.Int32N(block[1]-block[0]))
		}
		require.NotEmpty(t, pdftest.Read(t, written(t, text.String(), text.String())).Page(1))
	}
	for _, text := range []string{"", " ", "\r\n", "a\u2029b\u2028c\u0085d", strings.Repeat("e\u0301\u0302", 300), strings.Repeat("x", 5000), "\u202e\u2066\u2069"} {
		written(t, text, text)
	}
}

// TestAPictureShowsText where the lines are drawn, and nothing elsewhere.
func TestAPictureShowsText(t *testing.T) {
	s := typeset.NewSetter()
	for _, text := range []string{french, arabic, japanese} {
		p := typeset.NewPicture(600, 100, color.White)
		lines, err := s.Lines(text, typeset.Style{Size: 24}, 580)
		require.NoError(t, err)
		p.Line(lines[0], 10, 60, color.Black)
		file, err := p.PNG()
		require.NoError(t, err)
		shown, err := png.Decode(bytes.NewReader(file))
		require.NoError(t, err)
		require.Equal(t, 600, shown.Bounds().Dx())
		dark := 0
		for y := range 100 {
			for x := range 600 {
				if r, _, _, _ := shown.At(x, y).RGBA(); r < 0x8000 {
					dark++
					require.True(t, y > 25 && y < 80, "a dark point at %d, %d", x, y)
				}
			}
		}
		require.Greater(t, dark, 500)
	}
}
