package typeset

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-text/typesetting/font/opentype"
)

// Names of the tables of a TrueType font.
var (
	tagGlyf = opentype.MustNewTag("glyf")
	tagHead = opentype.MustNewTag("head")
	tagHhea = opentype.MustNewTag("hhea")
	tagHmtx = opentype.MustNewTag("hmtx")
	tagLoca = opentype.MustNewTag("loca")
	tagMaxp = opentype.MustNewTag("maxp")
)

// hinting are the tables that instructions of glyphs refer to; a font may lack them.
var hinting = []opentype.Tag{opentype.MustNewTag("cvt "), opentype.MustNewTag("fpgm"), opentype.MustNewTag("prep")}

// Places in tables.
const (
	headLocaFormat    = 50
	hheaMetrics       = 34
	glyphHeader       = 10
	longMetric        = 4
	longOffset        = 4
	alignment         = 4
	componentLongArgs = 0x01
	componentScale    = 0x08
	componentMore     = 0x20
	componentScales   = 0x40
	componentMatrix   = 0x80
)

// program has the tables of a TrueType font, for a copy with some of the glyphs.
type program struct {
	head, hhea, hmtx, loca, maxp, glyf []byte
	hinting                            []opentype.Table
}

// program reads the tables of the font.
func (f *Font) program() (*program, error) {
	p := &program{}
	for tag, table := range map[opentype.Tag]*[]byte{
		tagHead: &p.head, tagHhea: &p.hhea, tagHmtx: &p.hmtx, tagLoca: &p.loca, tagMaxp: &p.maxp, tagGlyf: &p.glyf,
	} {
		raw, err := f.tables.RawTable(tag)
		if err != nil {
			return nil, fmt.Errorf("typeset: %s: %w", f.Name, err)
		}
		*table = raw
	}
	for _, tag := range hinting {
		if raw, err := f.tables.RawTable(tag); err == nil {
			p.hinting = append(p.hinting, opentype.Table{Content: padded(raw), Tag: tag})
		}
	}
	return p, nil
}

// glyph returns the outline of a glyph; nothing for a space.
func (p *program) glyph(id uint16) []byte {
	if binary.BigEndian.Uint16(p.head[headLocaFormat:]) == 0 {
		at := p.loca[2*int(id):]
		return p.glyf[2*int(binary.BigEndian.Uint16(at)) : 2*int(binary.BigEndian.Uint16(at[2:]))]
	}
	at := p.loca[longOffset*int(id):]
	return p.glyf[binary.BigEndian.Uint32(at):binary.BigEndian.Uint32(at[longOffset:])]
}

// components returns the glyphs of which a glyph is composed.
func (p *program) components(id uint16) (ids []uint16) {
	outline := p.glyph(id)
	if len(outline) == 0 || int16(binary.BigEndian.Uint16(outline)) >= 0 { //nolint:gosec // the table has a signed number
		return nil
	}
	for at := glyphHeader; ; {
		flags := binary.BigEndian.Uint16(outline[at:])
		ids = append(ids, binary.BigEndian.Uint16(outline[at+2:]))
		at += 6
		if flags&componentLongArgs != 0 {
			at += 2
		}
		switch {
		case flags&componentScale != 0:
			at += 2
		case flags&componentScales != 0:
			at += 4
		case flags&componentMatrix != 0:
			at += 8
		}
		if flags&componentMore == 0 {
			return ids
		}
	}
}

// closure returns glyphs with their components and the glyph of unknown characters, in order.
func (p *program) closure(ids []uint16) []uint16 {
	seen, all := map[uint16]bool{}, append([]uint16{0}, ids...)
	for i := 0; i < len(all); i++ {
		if !seen[all[i]] {
			seen[all[i]] = true
			all = append(all, p.components(all[i])...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// subset returns a font file with the outlines and widths of some glyphs. The others stay as
// glyphs without an outline, so each glyph keeps its number.
func (p *program) subset(ids []uint16) []byte {
	head := slices.Clone(p.head)
	binary.BigEndian.PutUint16(head[headLocaFormat:], 1)
	count := int(binary.BigEndian.Uint16(p.maxp[4:]))
	glyf, loca := []byte{}, make([]byte, 0, longOffset*(count+1))
	hmtx := make([]byte, len(p.hmtx))
	metrics := longMetric * int(binary.BigEndian.Uint16(p.hhea[hheaMetrics:]))
	copy(hmtx[metrics-longMetric:], p.hmtx[metrics-longMetric:])
	wanted := p.closure(ids)
	for id := range count {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf))) //nolint:gosec // a table has 32 bits for its length
		if len(wanted) == 0 || int(wanted[0]) != id {
			continue
		}
		glyf, wanted = append(glyf, padded(p.glyph(wanted[0]))...), wanted[1:]
		if end := longMetric * (id + 1); end <= metrics {
			copy(hmtx[end-longMetric:end], p.hmtx[end-longMetric:])
		}
	}
	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf))) //nolint:gosec // as above
	tables := append(slices.Clone(p.hinting),
		opentype.Table{Content: glyf, Tag: tagGlyf}, opentype.Table{Content: padded(head), Tag: tagHead},
		opentype.Table{Content: padded(p.hhea), Tag: tagHhea}, opentype.Table{Content: padded(hmtx), Tag: tagHmtx},
		opentype.Table{Content: loca, Tag: tagLoca}, opentype.Table{Content: padded(p.maxp), Tag: tagMaxp})
	slices.SortFunc(tables, byTag)
	return opentype.WriteTTF(tables)
}

func byTag(a, b opentype.Table) int {
	if a.Tag < b.Tag {
		return -1
	}
	return 1
}

// padded returns a table with zeros at its end, so that the next one begins at a multiple of four.
func padded(table []byte) []byte {
	rest := (alignment - len(table)%alignment) % alignment
	return append(slices.Clone(table), make([]byte, rest)...)
}
