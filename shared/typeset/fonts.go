package typeset

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
)

// assets has the fonts, which `make setup` fetches (tools/fonts.mjs).
//
//go:embed assets
var assets embed.FS

// Font is a font with the tables that a PDF embeds.
type Font struct {
	Name   string
	font   *font.Font
	tables *opentype.Loader
}

// file is a font among the assets.
type file struct{ name string }

// load decompresses and reads the font.
func (f file) load() (*Font, error) {
	packed, err := assets.Open("assets/" + f.name + ".ttf.gz")
	if err != nil {
		return nil, fmt.Errorf("typeset: %w; make setup fetches the fonts", err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("typeset: decompress %s: %w", f.name, err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("typeset: decompress %s: %w", f.name, err)
	}
	tables, err := opentype.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("typeset: read %s: %w", f.name, err)
	}
	parsed, err := font.NewFont(tables)
	if err != nil {
		return nil, fmt.Errorf("typeset: read %s: %w", f.name, err)
	}
	return &Font{f.name, parsed, tables}, nil
}

// source returns a font, which it loads at the first call: most documents need one script.
type source func() (*Font, error)

var (
	latin      source = sync.OnceValues(file{"NotoSans-Regular"}.load)
	latinBold  source = sync.OnceValues(file{"NotoSans-Bold"}.load)
	arabic     source = sync.OnceValues(file{"NotoNaskhArabic-Regular"}.load)
	arabicBold source = sync.OnceValues(file{"NotoNaskhArabic-Bold"}.load)
	japanese   source = sync.OnceValues(file{"NotoSansJP-Regular"}.load)
)

// The fonts of a style, in the order in which a character looks for its glyph. Japanese has no
// bold font: it would add three megabytes to the function.
var (
	regular = []source{latin, arabic, japanese}
	bold    = []source{latinBold, arabicBold, japanese}
)

// faces are the fonts that a Setter has used. A face keeps what its user has asked it for, so it
// has one user.
type faces map[*font.Font]*used

// used is a font with its face.
type used struct {
	*Font
	face *font.Face
}

// of returns the face of a font.
func (f faces) of(load source) (*font.Face, error) {
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	if f[loaded.font] == nil {
		f[loaded.font] = &used{loaded, font.NewFace(loaded.font)}
	}
	return f[loaded.font].face, nil
}

// fontOf returns the font of a face.
func (f faces) fontOf(face *font.Face) *Font { return f[face.Font].Font }

// chain finds the face for a character (shaping.Fontmap).
type chain struct {
	faces   faces
	sources []source
	first   *font.Face
	// err is the error of a font that did not load.
	err error
}

// chain returns the fonts of a style.
func (f faces) chain(isBold bool) (*chain, error) {
	sources := regular
	if isBold {
		sources = bold
	}
	first, err := f.of(sources[0])
	return &chain{faces: f, sources: sources, first: first}, err
}

// ResolveFace returns the first face with a glyph for the character, or the first face without
// any: its glyph of unknown characters is a box.
func (c *chain) ResolveFace(r rune) *font.Face {
	for _, load := range c.sources {
		face, err := c.faces.of(load)
		if err != nil {
			c.err = err
			break
		}
		if _, ok := face.NominalGlyph(r); ok {
			return face
		}
	}
	return c.first
}
