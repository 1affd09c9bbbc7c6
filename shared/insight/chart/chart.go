// Package chart draws the chart of a dashboard's widget as an SVG of 800 by 450 (decision 53): bars, a line or a pie. The picture has
// no script, no address and no text that a reader of XML could take for markup. The same chart gives the same bytes, and every
// chart has a bounded size. Title, labels and axes are set by a library that is hidden here.
//
// Read chart.go, then data.go, draw.go, text.go.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"regexp"

	"github.com/go-analyze/charts"
)

// The size of a picture in pixels.
const (
	Width  = 800
	Height = 450
)

// The kinds of charts.
const (
	Bar  = "bar"
	Line = "line"
	Pie  = "pie"
)

// ErrKind is the error for a kind that is none of Bar, Line and Pie.
var ErrKind = errors.New("chart: the kind must be bar, line or pie")

// Chart describes a picture: a value of Y for each category of X. A category without a value is left out, and so are values that are
// not finite. A value without a category has an empty label.
type Chart struct {
	Kind                string
	Title, XName, YName string
	// Format says how numbers are written: Integer, Percent, Currency or Compact. Any other is plain.
	Format string
	X      []string
	Y      []float64
}

// SVG draws a chart. A chart without values has its title and "No data". A pie with a negative value, or with a sum of zero, has no
// shares to show and is drawn as bars. SVG returns ErrKind for an unknown kind.
func SVG(c Chart) ([]byte, error) {
	if c.Kind != Bar && c.Kind != Line && c.Kind != Pie {
		return nil, ErrKind
	}
	to := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: Width, Height: Height, Theme: theme})
	all := points(c)
	if err := (&sheet{to: to, chart: c, all: all, power: scale(all)}).draw(); err != nil {
		return nil, fmt.Errorf("chart: draw a %s: %w", c.Kind, err)
	}
	drawn, err := to.Bytes()
	if err != nil {
		return nil, fmt.Errorf("chart: write a %s: %w", c.Kind, err)
	}
	return finish(drawn, label(c.Title, titleSpace))
}

// head matches the first tag of a picture as the library writes it.
var head = regexp.MustCompile(`^<svg [^>]*>`)

// family matches the font of a text as the library writes it. A text cannot match: its < and > are escaped.
var family = regexp.MustCompile(`(<text [^>]*font-family:)'Roboto Medium',sans-serif`)

// fonts are the fonts of all texts, as CSS. The first is the font that the library measures, in its regular weight.
const fonts = "Roboto,'Segoe UI','Helvetica Neue',Arial,'Noto Sans',sans-serif"

// finish gives a picture its size, its fonts, and a title for readers of the screen.
func finish(drawn []byte, title string) ([]byte, error) {
	end := head.FindIndex(drawn)
	if end == nil {
		return nil, errors.New("chart: the library wrote no svg")
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`,
		Width, Height, Width, Height)
	fmt.Fprintf(&out, "<title>%s</title>", html.EscapeString(title))
	out.Write(family.ReplaceAll(drawn[end[1]:], []byte("${1}"+fonts)))
	return out.Bytes(), nil
}
