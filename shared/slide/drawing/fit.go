package drawing

import (
	"image/color"
	"sort"
	"strings"

	"lectern/shared/typeset"
)

// text is a text of a slide.
type text struct {
	text string
	// sizes are the sizes of the font, the largest first.
	sizes []float64
	bold  bool
	// most is the number of lines.
	most int
	// below is the room that the text leaves for the texts below it.
	below float64
	color color.Color
}

// maxCharacters is the number of characters of a text for which a slide has room at most: of a longer text, the
// rest is not looked at.
const maxCharacters = 1000

// ellipsis ends a text that does not fit.
const ellipsis = "…"

// gap is the room between two texts.
const gap = 28

// sheet is a slide with the place of the next text.
type sheet struct {
	to     *typeset.Picture
	setter *typeset.Setter
	y      float64
}

// width is the width of the lines.
const width = Width - 2*margin

// add draws a text below the texts before; nothing for an empty text.
func (s *sheet) add(t text) error {
	if t.text = strings.Join(strings.Fields(t.text), " "); t.text == "" {
		return nil
	}
	lines, err := s.fit(t)
	if err != nil {
		return err
	}
	for _, line := range lines {
		s.y += line.Size * leading
		x := float64(margin)
		if line.RightToLeft {
			x = Width - margin - line.Width
		}
		s.to.Line(line, x, s.y, t.color)
	}
	s.y += gap
	return nil
}

// fit returns the lines of a text in the largest size in which it fits, or the beginning of the text in the
// smallest size.
func (s *sheet) fit(t text) ([]typeset.Line, error) {
	runes := []rune(t.text)
	whole := len(runes) <= maxCharacters
	runes = runes[:min(len(runes), maxCharacters)]
	for _, size := range t.sizes {
		lines, fits, err := s.set(string(runes), t, size)
		if err != nil || whole && fits {
			return lines, err
		}
	}
	last := t.sizes[len(t.sizes)-1]
	var failed error
	cut := func(n int) ([]typeset.Line, bool) {
		lines, fits, err := s.set(strings.TrimRight(string(runes[:n]), " ,")+ellipsis, t, last)
		if err != nil {
			failed = err
		}
		return lines, fits
	}
	n := sort.Search(len(runes), func(n int) bool {
		_, fits := cut(n + 1)
		return !fits
	})
	lines, _ := cut(n)
	return lines, failed
}

// set returns the lines of a text in a size, and reports whether they fit: in number, in width and into the
// room that the slide has left.
func (s *sheet) set(content string, t text, size float64) ([]typeset.Line, bool, error) {
	lines, err := s.setter.Lines(content, typeset.Style{Size: size, Bold: t.bold}, width)
	fits := len(lines) <= t.most && s.y+float64(len(lines))*size*leading <= foot-t.below
	for _, line := range lines {
		fits = fits && line.Width <= width+1
	}
	return lines, fits, err
}
