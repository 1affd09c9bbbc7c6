// Package drawing draws holding slides: pictures of 1920 by 1080 pixels with the title, the time, the room and
// the speakers of a session (decision 45). The same facts and pictures give the same bytes. A text that is too
// long is set in more lines, then smaller, and then ends in an ellipsis.
//
// Read drawing.go, fit.go.
package drawing

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // A picture may be a JPEG.
	_ "image/png"  // A picture may be a PNG.
	"strings"
	"time"

	"lectern/shared/programme"
	"lectern/shared/slide"
	"lectern/shared/typeset"
)

// The measures of a slide in pixels.
const (
	Width  = 1920
	Height = 1080
	margin = 120
	// panel is the room between the edge of the slide and the panel below the texts, inset that between the
	// panel and the texts.
	panel, inset = 72, 48
	edge         = 24
	leading      = 1.3
	// logoWidth and logoHeight are the largest size of a logo.
	logoWidth, logoHeight = 420, 150
	// foot is the bottom of the texts.
	foot = Height - panel - inset
)

// Colors of a slide. The panel lets some of the background through.
var (
	paper  = color.RGBA{0xff, 0xff, 0xff, 0xff}
	veil   = color.NRGBA{0xff, 0xff, 0xff, 0xe0}
	stripe = color.RGBA{0x1f, 0x4e, 0x79, 0xff}
	ink    = color.RGBA{0x1a, 0x1a, 0x1a, 0xff}
	pale   = color.RGBA{0x40, 0x40, 0x40, 0xff}
)

// Pictures are the decoded pictures of an event's slides.
type Pictures struct {
	// ground is the slide without texts and logo; nil without a background.
	ground *typeset.Picture
	// logo has its size on a slide; nil without a logo.
	logo image.Image
}

// Decode returns the pictures of the bytes, either of which may be nil. Both are scaled once for all
// slides, in their proportions: the background covers the slide.
func Decode(background, logo []byte) (*Pictures, error) {
	p := &Pictures{}
	if background != nil {
		decoded, _, err := image.Decode(bytes.NewReader(background))
		if err != nil {
			return nil, fmt.Errorf("drawing: decode the background: %w", err)
		}
		p.ground = typeset.NewPicture(Width, Height, paper)
		p.ground.Cover(decoded)
		p.ground.Veil(image.Rect(panel, panel, Width-panel, Height-panel), veil)
	}
	if logo != nil {
		decoded, _, err := image.Decode(bytes.NewReader(logo))
		if err != nil {
			return nil, fmt.Errorf("drawing: decode the logo: %w", err)
		}
		p.logo = typeset.Fit(decoded, image.Pt(logoWidth, logoHeight))
	}
	return p, nil
}

// PNG returns the slide of facts.
func (p *Pictures) PNG(f *slide.Facts) ([]byte, error) {
	to := p.blank()
	top := float64(panel + inset)
	if p.logo != nil {
		to.Place(p.logo, image.Pt(Width-margin-p.logo.Bounds().Dx(), panel+inset))
		top += logoHeight
	}
	s := &sheet{to: to, setter: typeset.NewSetter(), y: top}
	for _, t := range []text{
		{f.Title, []float64{92, 80, 68, 58, 50, 44}, true, 5, 300, ink},
		{when(f), []float64{46, 38}, false, 1, 210, pale},
		{f.Room, []float64{46, 38}, false, 1, 120, pale},
		{strings.Join(f.Speakers, ", "), []float64{50, 42, 36}, false, 5, 0, ink},
	} {
		if err := s.add(t); err != nil {
			return nil, err
		}
	}
	return to.PNG()
}

// blank returns a slide without texts and logo.
func (p *Pictures) blank() *typeset.Picture {
	if p.ground != nil {
		return p.ground.Copy()
	}
	to := typeset.NewPicture(Width, Height, paper)
	to.Fill(image.Rect(0, 0, edge, Height), stripe)
	return to
}

// when returns the time of a session in the event's time zone; empty without a time.
func when(f *slide.Facts) string {
	if f.StartsAt == nil {
		return ""
	}
	zone := programme.Location(f.Zone)
	if zone == nil {
		zone = time.UTC
	}
	from := f.StartsAt.In(zone)
	shown := from.Format("Monday, 2 January 2006, 15:04")
	if f.EndsAt != nil {
		to := f.EndsAt.In(zone)
		layout := "15:04"
		if to.YearDay() != from.YearDay() || to.Year() != from.Year() {
			layout = "2 January 2006, 15:04"
		}
		shown += "–" + to.Format(layout)
	}
	return shown + " (" + cmp.Or(strings.ReplaceAll(f.Zone, "_", " "), "UTC") + ")"
}
