package typeset

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Gray is a shade of gray: 0 is black, 1 is white.
type Gray float64

// Line draws a line of text on the open page, with its start at a place.
func (p *PDF) Line(l Line, x, y float64, shade Gray) error {
	if len(l.Glyphs) == 0 {
		return nil
	}
	fmt.Fprintf(&p.page, "%s g BT %s %s Td\n", decimal(float64(shade)), decimal(x), decimal(y))
	w := writer{pdf: p, size: l.Size}
	for _, g := range l.Glyphs {
		if err := w.glyph(g); err != nil {
			return err
		}
	}
	w.end()
	if w.rise != 0 {
		p.page.WriteString("0 Ts ")
	}
	p.page.WriteString("ET\n")
	return nil
}

// writer writes the glyphs of a line as a content stream.
type writer struct {
	pdf  *PDF
	size float64
	font *embedded
	// at is where the next glyph would come, and rise how far above the line.
	at, rise float64
	open     bool
}

// glyph writes a glyph: the font and the rise where they change, the gap before it, and its code.
func (w *writer) glyph(g Glyph) error {
	e, err := w.pdf.embed(g.Font)
	if err != nil {
		return err
	}
	to := &w.pdf.page
	if e != w.font {
		w.end()
		w.font = e
		fmt.Fprintf(to, "/%s %s Tf ", e.name, decimal(w.size))
	}
	if g.Y != w.rise {
		w.end()
		w.rise = g.Y
		fmt.Fprintf(to, "%s Ts ", decimal(g.Y))
	}
	if !w.open {
		to.WriteString("[")
		w.open = true
	}
	if gap := math.Round((w.at - g.X) * 1000 / w.size); gap != 0 {
		fmt.Fprintf(to, "%d ", int(gap))
		w.at -= gap * w.size / 1000
	}
	code := e.code(sign{g.ID, g.Text})
	fmt.Fprintf(to, "<%04X>", code)
	w.at += float64(e.width(code)) * w.size / 1000
	return nil
}

// end ends the array of codes.
func (w *writer) end() {
	if w.open {
		w.pdf.page.WriteString("]TJ\n")
		w.open = false
	}
}

// Rule draws a thin rule from a place to the right.
func (p *PDF) Rule(x, y, width float64) {
	fmt.Fprintf(&p.page, "0.8 G 0.5 w %s %s m %s %s l S\n", decimal(x), decimal(y), decimal(x+width), decimal(y))
}

// decimal returns a number with at most three places.
func decimal(n float64) string {
	text := strconv.FormatFloat(n, 'f', 3, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
