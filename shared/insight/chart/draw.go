package chart

import (
	"fmt"
	"slices"

	"github.com/go-analyze/charts"
)

// The measures of a picture in pixels. titleBase, nameBase and footBase are the baselines of the title, of the row below it, and of the
// row below the plot.
const (
	margin     = 24
	titleBase  = 38
	nameBase   = 64
	plotTop    = 76
	plotBottom = Height - 34
	footBase   = Height - 16
)

// The sizes of texts in points.
const (
	titleSize = 17
	textSize  = 11
	emptySize = 16
)

// Colors of texts and lines.
var (
	ink   = charts.ColorFromHex("#1f2933")
	pale  = charts.ColorFromHex("#52606d")
	lines = charts.ColorFromHex("#dde3ea")
)

// colors are the colors of slices. Each has a contrast of 3 or more with white, and neighbours differ. The first is that of bars and
// lines, the last that of the slice of all others.
var colors = []string{
	"#1f4e79", "#c2571a", "#2f7d4f", "#8e3b8a", "#a07b00", "#c0392b", "#2a7f9e", "#6b4f3a", "#5b6abf", "#6f8f1f",
	"#3a7bc8", "#d9480f", "#1b998b", "#b23a6f", "#7a6a00", "#e03e52", "#0b7285", "#946846", "#7048e8", "#4c8c2b",
	"#7b8794",
}

// theme has the colors of a picture.
var theme = newTheme()

// newTheme returns the light theme of the library with our colors.
func newTheme() charts.ColorPalette {
	series := make([]charts.Color, len(colors))
	for i, text := range colors {
		series[i] = charts.ColorFromHex(text)
	}
	return charts.GetTheme(charts.ThemeLight).WithSeriesColors(series).WithTextColor(ink).WithAxisSplitLineColor(lines).
		WithXAxisColor(pale).WithYAxisColor(pale).WithXAxisTextColor(ink).WithYAxisTextColor(ink)
}

// sheet is a picture with what it has to show.
type sheet struct {
	to    *charts.Painter
	chart Chart
	// all has the values as the library gets them: power times smaller.
	all   []point
	power float64
}

// draw draws the title, and the values or "No data".
func (s *sheet) draw() error {
	s.to.FilledRect(0, 0, Width, Height, charts.ColorWhite, charts.ColorWhite, 0)
	s.to.Text(label(s.chart.Title, titleSpace), margin, titleBase, 0, style(titleSize, ink))
	switch {
	case len(s.all) == 0:
		s.centered("No data", Height/2, emptySize)
		return nil
	case s.chart.Kind == Line:
		return s.line()
	case s.chart.Kind == Pie && hasShares(s.all):
		return s.pie()
	}
	return s.bars()
}

// style returns the style of a text.
func style(size float64, color charts.Color) charts.FontStyle {
	return charts.FontStyle{FontSize: size, FontColor: color}
}

// centered draws a text in the middle of a row.
func (s *sheet) centered(text string, base int, size float64) {
	width := s.to.MeasureText(text, 0, style(size, pale)).Width()
	s.to.Text(text, (Width-width)/2, base, 0, style(size, pale))
}

// note draws how many values the picture shows, if it does not show all.
func (s *sheet) note(text string, shown int) {
	if all := len(s.all); shown < all {
		s.to.Text(fmt.Sprintf(text, grouped(float64(shown), 0), grouped(float64(all), 0)), Width/2, nameBase, 0, style(textSize, pale))
	}
}

// number returns a value as the library has it in the format of the chart.
func (s *sheet) number(n float64) string { return number(s.chart.Format, n*s.power) }

// bars draws the first MaxBars values as bars: from left to right, or from top to bottom if the labels are long.
func (s *sheet) bars() error {
	shown := s.all[:min(len(s.all), MaxBars)]
	s.note("The first %s of %s values", len(shown))
	labels, values := s.categories(shown)
	horizontal := len(labels) <= maxRows && room(labels) < len(labels)
	if horizontal {
		slices.Reverse(labels)
		slices.Reverse(values)
	}
	o := charts.NewBarChartOptionWithData([][]float64{values})
	o.Theme, o.Padding, o.BarSize, o.Horizontal = theme, charts.NewBoxEqual(0), barSize, horizontal
	o.ValueAxis = []charts.ValueAxisOption{s.values(shown)}
	if horizontal {
		o.CategoryAxis = beside(labels)
		s.names(s.chart.XName, s.chart.YName)
		return s.plot(spare).BarChart(o)
	}
	o.CategoryAxis = below(labels)
	s.names(s.chart.YName, s.chart.XName)
	return s.plot(0).BarChart(o)
}

// line draws values as a line.
func (s *sheet) line() error {
	shown := thin(s.all)
	s.note("%s of %s values, with all peaks", len(shown))
	labels, values := s.categories(shown)
	o := charts.NewLineChartOptionWithData([][]float64{values})
	o.Theme, o.Padding = theme, charts.NewBoxEqual(0)
	o.XAxis, o.YAxis = below(labels), []charts.ValueAxisOption{s.values(shown)}
	s.names(s.chart.YName, s.chart.XName)
	return s.plot(0).LineChart(o)
}

// names draws the names of the axis at the left and of the axis below.
func (s *sheet) names(left, below string) {
	s.to.Text(label(left, axisSpace), margin, nameBase, 0, style(textSize, pale))
	s.centered(label(below, axisSpace), footBase, textSize)
}

// plot returns the part of the picture for axes and values, with a space at its left.
func (s *sheet) plot(left int) *charts.Painter {
	return s.to.Child(charts.PainterBoxOption(charts.NewBox(margin+left, plotTop, Width-margin, plotBottom)))
}
