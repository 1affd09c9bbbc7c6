package typeset

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	scale "golang.org/x/image/draw"
	"golang.org/x/image/vector"
)

// Picture is a picture with lines of text. A point is a pixel, and y grows downward.
type Picture struct{ image *image.RGBA }

// NewPicture returns a picture of one color.
func NewPicture(width, height int, ground color.Color) *Picture {
	p := &Picture{image.NewRGBA(image.Rect(0, 0, width, height))}
	p.Fill(p.image.Rect, ground)
	return p
}

// Fill fills a part of the picture.
func (p *Picture) Fill(part image.Rectangle, c color.Color) {
	draw.Draw(p.image, part, image.NewUniform(c), image.Point{}, draw.Src)
}

// Veil fills a part of the picture with a color that may let the picture through.
func (p *Picture) Veil(part image.Rectangle, c color.Color) {
	draw.Draw(p.image, part, image.NewUniform(c), image.Point{}, draw.Over)
}

// Copy returns a copy of the picture.
func (p *Picture) Copy() *Picture {
	copied := *p.image
	copied.Pix = slices.Clone(p.image.Pix)
	return &Picture{&copied}
}

// Cover covers the picture with another one, which keeps its proportions and is cut at two sides.
func (p *Picture) Cover(other image.Image) {
	from, to := other.Bounds(), p.image.Rect.Size()
	size := from.Size()
	if size.X*to.Y > size.Y*to.X {
		size.X = max(size.Y*to.X/to.Y, 1)
	} else {
		size.Y = max(size.X*to.Y/to.X, 1)
	}
	at := from.Min.Add(from.Size().Sub(size).Div(2))
	scale.CatmullRom.Scale(p.image, p.image.Rect, other, image.Rectangle{Min: at, Max: at.Add(size)}, scale.Over, nil)
}

// Fit returns a picture as large as there is room, in its proportions.
func Fit(other image.Image, room image.Point) image.Image {
	size := other.Bounds().Size()
	fitted := image.Pt(room.X, max(size.Y*room.X/size.X, 1))
	if fitted.Y > room.Y {
		fitted = image.Pt(max(size.X*room.Y/size.Y, 1), room.Y)
	}
	to := image.NewRGBA(image.Rectangle{Max: fitted})
	scale.CatmullRom.Scale(to, to.Rect, other, other.Bounds(), scale.Src, nil)
	return to
}

// Place draws another picture with its left top at a place.
func (p *Picture) Place(other image.Image, at image.Point) {
	size := other.Bounds().Size()
	draw.Draw(p.image, image.Rectangle{Min: at, Max: at.Add(size)}, other, other.Bounds().Min, draw.Over)
}

// Line draws a line of text with its start at a place, the baseline at y.
func (p *Picture) Line(l Line, x, y float64, c color.Color) {
	size := p.image.Rect.Size()
	pen := pen{vector.NewRasterizer(size.X, size.Y), 0, 0, 0}
	for _, g := range l.Glyphs {
		pen.scale = l.Size / float64(g.Font.font.Upem())
		pen.x, pen.y = x+g.X, y-g.Y
		if outline, ok := font.NewFace(g.Font.font).GlyphData(font.GID(g.ID)).(font.GlyphOutline); ok {
			pen.draw(outline.Segments)
		}
	}
	pen.to.Draw(p.image, p.image.Rect, image.NewUniform(c), image.Point{})
}

// pen draws outlines at a place.
type pen struct {
	to          *vector.Rasterizer
	x, y, scale float64
}

// draw draws the outline of a glyph.
func (p *pen) draw(outline []opentype.Segment) {
	for _, s := range outline {
		x, y := p.at(s.Args[0])
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			p.to.ClosePath()
			p.to.MoveTo(x, y)
		case opentype.SegmentOpLineTo:
			p.to.LineTo(x, y)
		case opentype.SegmentOpQuadTo:
			toX, toY := p.at(s.Args[1])
			p.to.QuadTo(x, y, toX, toY)
		case opentype.SegmentOpCubeTo:
			overX, overY := p.at(s.Args[1])
			toX, toY := p.at(s.Args[2])
			p.to.CubeTo(x, y, overX, overY, toX, toY)
		}
	}
	p.to.ClosePath()
}

// at returns the place of a point of an outline in the picture.
func (p *pen) at(point opentype.SegmentPoint) (x, y float32) {
	return float32(p.x + float64(point.X)*p.scale), float32(p.y - float64(point.Y)*p.scale)
}

// PNG returns the picture as a PNG file.
func (p *Picture) PNG() ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, p.image); err != nil {
		return nil, fmt.Errorf("typeset: encode a picture: %w", err)
	}
	return out.Bytes(), nil
}
