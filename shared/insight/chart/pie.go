package chart

import (
	"fmt"

	"github.com/go-analyze/charts"
)

// The measures of a pie and of the list beside it in pixels.
const (
	pieTop   = 62
	pieSide  = Height - pieTop - margin
	listLeft = margin + pieSide + 30
	// shareLeft is the start of the values in the list.
	shareLeft = listLeft + 222
	// maxStep is the largest distance of two rows.
	maxStep = 24
	mark    = 11
)

// pie draws a pie, and beside it the list of its slices with values and shares.
func (s *sheet) pie() error {
	shown := slicesOf(s.all)
	values := make([]float64, len(shown))
	for i, p := range shown {
		values[i] = p.value
	}
	o := charts.NewPieChartOptionWithData(values)
	o.Theme, o.Padding, o.Radius = theme, charts.NewBoxEqual(0), "48%"
	for i := range o.SeriesList {
		o.SeriesList[i].Label.Show = charts.Ptr(false)
	}
	place := charts.NewBox(margin, pieTop, margin+pieSide, pieTop+pieSide)
	if err := s.to.Child(charts.PainterBoxOption(place)).PieChart(o); err != nil {
		return err
	}
	s.list(shown)
	return nil
}

// list draws a row for each slice of a pie: its color, its label, and its value with the share.
func (s *sheet) list(shown []point) {
	sum := 0.0
	for _, p := range shown {
		sum += p.value
	}
	step := min(maxStep, pieSide/len(shown))
	base := pieTop + (pieSide-step*len(shown))/2 + mark
	for i, p := range shown {
		color := theme.GetSeriesColor(i)
		s.to.FilledRect(listLeft, base-mark+1, listLeft+mark, base+1, color, color, 0)
		s.to.Text(label(p.name, nameSpace), listLeft+mark+8, base, 0, style(textSize, ink))
		share := number(Percent, 100*p.value/sum)
		s.to.Text(fmt.Sprintf("%s (%s)", s.number(p.value), share), shareLeft, base, 0, style(textSize, ink))
		base += step
	}
}
