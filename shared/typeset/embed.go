package typeset

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// maxCodes is the number of codes of a font in a PDF. A further glyph shows as an unknown
// character.
const maxCodes = math.MaxUint16

// maxShown is the number of characters that a code names.
const maxShown = 64

// sign is a glyph with the characters that it shows. Each has a code of its own, so a reader finds
// the text as it was sent, whatever the shape of its letters.
type sign struct {
	glyph uint16
	text  string
}

// embedded is a font as a PDF embeds it: with the glyphs of the document alone.
type embedded struct {
	*Font
	program *program
	name    string
	codes   map[sign]uint16
	// signs has the sign of each code. Code 0 is the glyph of unknown characters.
	signs []sign
	seen  map[uint16]bool
	// bytes is the size of the outlines that the document needs, before compression.
	bytes int
}

// embed returns the font as the PDF embeds it.
func (p *PDF) embed(f *Font) (*embedded, error) {
	if e := p.byFont[f]; e != nil {
		return e, nil
	}
	tables, err := f.program()
	if err != nil {
		return nil, err
	}
	e := &embedded{
		Font: f, program: tables, name: fmt.Sprint("F", len(p.fonts)), signs: make([]sign, 1),
		codes: map[sign]uint16{}, seen: map[uint16]bool{},
	}
	p.byFont[f] = e
	p.fonts = append(p.fonts, e)
	return e, nil
}

// code returns the code of a sign.
func (e *embedded) code(s sign) uint16 {
	code, ok := e.codes[s]
	if ok || len(e.signs) > maxCodes {
		return code
	}
	code = uint16(len(e.signs)) //nolint:gosec // at most maxCodes
	e.codes[s], e.signs = code, append(e.signs, s)
	e.bytes += len(s.text)
	if !e.seen[s.glyph] {
		e.seen[s.glyph] = true
		e.bytes += len(e.program.glyph(s.glyph))
	}
	return code
}

// width returns the width of a code in thousandths of the font's size.
func (e *embedded) width(code uint16) int {
	table, at := e.program, int(e.signs[code].glyph)
	at = min(at, int(binary.BigEndian.Uint16(table.hhea[hheaMetrics:]))-1)
	return e.scaled(int(binary.BigEndian.Uint16(table.hmtx[longMetric*at:])))
}

// scaled returns a length of the font's own units in thousandths of its size.
func (e *embedded) scaled(n int) int {
	return int(math.Round(float64(n) * 1000 / float64(e.font.Upem())))
}

// write writes the objects of the font, and returns the number of the first.
func (e *embedded) write(p *PDF) int {
	glyphs, widths := make([]uint16, len(e.signs)), make([]string, len(e.signs))
	toGlyph := make([]byte, 0, 2*len(e.signs))
	for code, s := range e.signs {
		glyphs[code], widths[code] = s.glyph, fmt.Sprint(e.width(uint16(code)))
		toGlyph = binary.BigEndian.AppendUint16(toGlyph, s.glyph)
	}
	file := e.program.subset(glyphs)
	name := "SUBSET+" + e.Name
	program := p.stream(fmt.Sprint("/Length1 ", len(file)), file)
	descriptor := p.object("<</Type/FontDescriptor/FontName/%s/Flags 4/FontBBox[%s]/ItalicAngle 0"+
		"/Ascent %d/Descent %d/CapHeight %d/StemV 80/FontFile2 %d 0 R>>",
		name, e.box(), e.scaled(number(e.program.hhea, 4)), e.scaled(number(e.program.hhea, 6)), 700, program)
	descendant := p.object("<</Type/Font/Subtype/CIDFontType2/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"+
		"/FontDescriptor %d 0 R/CIDToGIDMap %d 0 R/W[0[%s]]>>", name, descriptor, p.stream("", toGlyph), strings.Join(widths, " "))
	return p.object("<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/DescendantFonts[%d 0 R]/ToUnicode %d 0 R>>",
		name, descendant, p.stream("", e.toUnicode()))
}

// number reads a signed number of a table.
func number(table []byte, at int) int {
	return int(int16(binary.BigEndian.Uint16(table[at:]))) //nolint:gosec // the table has a signed number
}

// box returns the box around all glyphs of the font.
func (e *embedded) box() string {
	sides := make([]string, 4)
	for i := range sides {
		sides[i] = fmt.Sprint(e.scaled(number(e.program.head, 36+2*i)))
	}
	return strings.Join(sides, " ")
}

// mapped is the number of codes in a part of a map to Unicode, which the format limits.
const mapped = 100

// toUnicode returns the map of the codes to the characters that they show.
func (e *embedded) toUnicode() []byte {
	var lines []string
	for code, s := range e.signs[1:] {
		lines = append(lines, fmt.Sprintf("<%04X> <%s>", code+1, hex16([]rune(s.text))))
	}
	var b strings.Builder
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for len(lines) > 0 {
		n := min(mapped, len(lines))
		fmt.Fprintf(&b, "%d beginbfchar\n%s\nendbfchar\n", n, strings.Join(lines[:n], "\n"))
		lines = lines[n:]
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\n" + strings.Repeat("end\n", 2)) // The dictionary and CIDInit.
	return []byte(b.String())
}

// hex16 returns characters in UTF-16, as hexadecimal digits.
func hex16(text []rune) string {
	var b strings.Builder
	for _, unit := range utf16.Encode(text[:min(len(text), maxShown)]) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}
