package document

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"lectern/shared/typeset"
)

// The measures of a page, in points.
const (
	margin  = 56
	width   = typeset.PageWidth - 2*margin
	bottom  = margin + 20
	footAt  = 36
	leading = 1.45
)

// Shades of text.
const (
	black typeset.Gray = 0
	gray  typeset.Gray = 0.4
)

// block is how a text stands on a page.
type block struct {
	// above is the space above the text, in points.
	above float64
	// keep is the space that the page must have left for the text and what follows.
	keep  float64
	shade typeset.Gray
}

// flow fills pages from top to bottom. After an error or beyond the limits, add does nothing.
type flow struct {
	file   *typeset.PDF
	setter *typeset.Setter
	y      float64
	// characters counts the characters so far, and full reports whether a text did not fit.
	characters int
	full       bool
	err        error
}

func newFlow() *flow {
	return &flow{file: typeset.NewPDF(), setter: typeset.NewSetter(), y: typeset.PageHeight - margin}
}

// paragraphCost is what a paragraph costs beside its characters, in characters.
const paragraphCost = 10

// blanks are line breaks with an empty line between, and more.
var blanks = regexp.MustCompile(`\n\s*\n`)

// add adds a text, paragraph by paragraph; nothing for an empty text. Several empty lines are one.
func (f *flow) add(text string, style typeset.Style, b block) {
	if text == "" || f.full || f.err != nil {
		return
	}
	f.y -= b.above
	if f.y-b.keep < bottom {
		f.turn()
	}
	for paragraph := range strings.SplitSeq(blanks.ReplaceAllString(text, "\n\n"), "\n") {
		f.characters += utf8.RuneCountInString(paragraph) + paragraphCost
		if f.full = f.full || f.characters > maxCharacters; f.full {
			return
		}
		lines, err := f.setter.Lines(paragraph, style, width)
		if err != nil {
			f.err = err
			return
		}
		for _, line := range lines {
			f.line(line, b.shade)
		}
	}
}

// line adds a line, on the next page where the page is full.
func (f *flow) line(line typeset.Line, shade typeset.Gray) {
	if f.full = f.full || f.file.Size() > maxBytes; f.full || f.err != nil {
		return
	}
	if f.y-line.Size*leading < bottom {
		f.turn()
	}
	f.y -= line.Size * leading
	x := float64(margin)
	if line.RightToLeft {
		x += width - line.Width
	}
	f.err = f.file.Line(line, x, f.y, shade)
}

// turn begins the next page.
func (f *flow) turn() {
	f.file.NewPage()
	f.y = typeset.PageHeight - margin
}

// rule draws a rule below the last line.
func (f *flow) rule() {
	f.y -= 8
	f.file.Rule(margin, f.y, width)
}

// close adds the last line of a document that ends early.
func (f *flow) close(text string) {
	lines, err := f.setter.Lines(text, headingStyle, width)
	if f.err == nil {
		f.err = err
	}
	f.turn()
	for _, line := range lines {
		f.y -= line.Size * leading
		if f.err == nil {
			f.err = f.file.Line(line, margin, f.y, black)
		}
	}
}

// pdf returns the file, with the number of each page at its foot.
func (f *flow) pdf(info typeset.Info) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.file.Close(info, f)
}

// Foot writes the number of a page (typeset.Footer).
func (f *flow) Foot(p *typeset.PDF, n, of int) error {
	lines, err := f.setter.Lines(fmt.Sprintf("%d / %d", n, of), aboutStyle, width)
	if err != nil {
		return err
	}
	return p.Line(lines[0], margin+(width-lines[0].Width)/2, footAt, gray)
}
