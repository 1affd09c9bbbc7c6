// Package typeset sets text in lines, and writes lines into PDF files and pictures (decision 38).
// It knows characters and places, and no record. Text may be of any script and direction: the
// fonts have Latin, Greek, Cyrillic, Arabic and Japanese; other characters show an empty box.
//
// Read typeset.go for lines, fonts.go for the fonts; pdf.go, text.go, embed.go and subset.go for PDF;
// picture.go for pictures.
package typeset

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// Style is the look of a text.
type Style struct {
	// Size is the size of the font in points.
	Size float64
	Bold bool
}

// Glyph is a glyph of a line, in the order of the text.
type Glyph struct {
	Font *Font
	ID   uint16
	// X and Y are the place from the start of the line, in points; Y grows upward.
	X, Y float64
	// Text has the characters that the glyph shows, or noCharacter.
	Text string
}

// Line is a line of text.
type Line struct {
	Glyphs []Glyph
	// Size is the size of the font, and Width the length of the line, in points.
	Size, Width float64
	// RightToLeft reports whether the paragraph of the line begins at the right.
	RightToLeft bool
}

// Setter sets the lines of one document. It is not safe for concurrent use.
type Setter struct {
	shaper    shaping.HarfbuzzShaper
	segmenter shaping.Segmenter
	wrapper   shaping.LineWrapper
	faces     faces
}

// NewSetter returns a Setter.
func NewSetter() *Setter { return &Setter{faces: faces{}} }

// Lines sets a text in lines of a width in points. A line break of the text begins a paragraph.
func (s *Setter) Lines(text string, style Style, width float64) (all []Line, err error) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		lines, err := s.paragraph([]rune(strings.Map(printable, paragraph)), style, width)
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, nil
}

// printable returns a space for a control character and for a separator of lines or paragraphs.
func printable(r rune) rune {
	if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
		return ' '
	}
	return r
}

// paragraph sets a paragraph. An empty paragraph is an empty line.
func (s *Setter) paragraph(text []rune, style Style, width float64) ([]Line, error) {
	if len(text) == 0 {
		return []Line{{Size: style.Size}}, nil
	}
	chain, err := s.faces.chain(style.Bold)
	if err != nil {
		return nil, err
	}
	direction := directionOf(text)
	input := shaping.Input{
		Text: text, RunEnd: len(text), Direction: direction, Size: fixed.Int26_6(style.Size * unit), Language: language.NewLanguage("en"),
	}
	var runs []shaping.Output
	for _, run := range s.segmenter.Split(input, chain) {
		runs = append(runs, s.shaper.Shape(run))
	}
	if chain.err != nil {
		return nil, chain.err
	}
	config := shaping.WrapConfig{Direction: direction}
	wrapped, _ := s.wrapper.WrapParagraphF(config, fixed.Int26_6(width*unit), text, shaping.NewSliceIterator(runs))
	lines := make([]Line, len(wrapped))
	for i, runs := range wrapped {
		lines[i] = Line{Size: style.Size, RightToLeft: direction == di.DirectionRTL}
		lines[i].place(runs, text, s.faces)
	}
	return lines, nil
}

// unit is the number of the shaper's units in a point.
const unit = 64

func points(n fixed.Int26_6) float64 { return float64(n) / unit }

// directionOf returns the direction of a paragraph: that of its first letter.
func directionOf(text []rune) di.Direction {
	for _, r := range text {
		properties, _ := bidi.LookupRune(r)
		switch properties.Class() { //nolint:exhaustive // the other classes have no direction of their own
		case bidi.L:
			return di.DirectionLTR
		case bidi.R, bidi.AL:
			return di.DirectionRTL
		}
	}
	return di.DirectionLTR
}

// place adds the runs of a line: in their places from left to right, and in the order of the text.
func (l *Line) place(runs shaping.Line, text []rune, all faces) {
	visual := make([]int, len(runs))
	for i := range runs {
		visual[i] = i
	}
	slices.SortFunc(visual, func(a, b int) int { return cmp.Compare(runs[a].VisualIndex, runs[b].VisualIndex) })
	starts := make([]float64, len(runs))
	for _, i := range visual {
		starts[i] = l.Width
		l.Width += points(runs[i].Advance)
	}
	for i, run := range runs {
		l.add(run, starts[i], text, all)
	}
}

// add adds the glyphs of a run that starts at a place.
func (l *Line) add(run shaping.Output, at float64, text []rune, all faces) {
	glyphs, face := slices.Clone(run.Glyphs), all.fontOf(run.Face)
	places := make([]float64, len(glyphs))
	for i, g := range glyphs {
		places[i] = at + points(g.XOffset)
		at += points(g.Advance)
	}
	if run.Direction == di.DirectionRTL {
		slices.Reverse(glyphs)
		slices.Reverse(places)
	}
	within := 0
	for i, g := range glyphs {
		within++
		if i == 0 || glyphs[i-1].TextIndex() != g.TextIndex() {
			within = 0
		}
		shown := Glyph{Font: face, ID: uint16(g.GlyphID), X: places[i], Y: points(g.YOffset)} //nolint:gosec // a font has 65,535 glyphs
		shown.Text = characters(text, g, within)
		l.Glyphs = append(l.Glyphs, shown)
	}
}

// noCharacter is the text of a glyph where there are more glyphs than characters: a space without
// width, since readers of PDF files show the number of a glyph without text.
const noCharacter = "\u200b"

// characters returns the characters that a glyph shows. Some characters together can have several
// glyphs, such as a letter and its accent: each glyph shows a character, and the last the rest.
func characters(text []rune, g shaping.Glyph, within int) string {
	from := g.TextIndex() + within
	end := min(g.TextIndex()+g.RunesCount(), len(text))
	if from >= end {
		return noCharacter
	}
	if within < g.GlyphsCount()-1 {
		end = from + 1
	}
	return string(text[from:end])
}
