package chart

import (
	"math"
	"strings"

	"github.com/go-analyze/charts"
)

const (
	// barSize is the part of its place that a bar takes.
	barSize = 0.62
	// maxRows is the number of bars one below the other that have room for their labels.
	maxRows = 18
	// columnWidth is the width of a column of a label in pixels, and gap the room between two labels.
	columnWidth, gap = 8, 10
	// plotWidth is the room for the labels below a plot.
	plotWidth = Width - 5*margin
	// steps is the number of steps that an axis of values has at most.
	steps = 8
)

// categories returns the labels and values of a plot. A single value stands between two empty places, since the library sets the label
// of a single place to the left.
func (s *sheet) categories(all []point) (labels []string, values []float64) {
	for _, p := range all {
		labels, values = append(labels, s.padded(label(p.name, nameSpace))), append(values, p.value)
	}
	if len(all) == 1 {
		none := charts.GetNullValue()
		return []string{"", labels[0], ""}, []float64{none, values[0], none}
	}
	return labels, values
}

// padded returns a label with spaces at its end, which a picture does not show, for the characters that the library takes for narrower
// than they are: its font does not have those of East Asia.
func (s *sheet) padded(text string) string {
	wide := 0
	for _, r := range text {
		if columnsOf(r) > 1 {
			wide++
		}
	}
	return text + strings.Repeat(" ", 2*wide)
}

// room returns how many labels have room side by side below a plot.
func room(labels []string) int {
	longest := 0
	for _, text := range labels {
		longest = max(longest, columns(strings.TrimRight(text, " ")))
	}
	return plotWidth / (longest*columnWidth + gap)
}

// below returns the axis of the categories below a plot. If not all labels have room, the library leaves some out, and sets the first
// label to the right of its place and the last to the left: the labels get more room, and the last has no text.
func below(labels []string) charts.CategoryAxisOption {
	count := len(labels)
	axis := charts.CategoryAxisOption{Labels: labels, LabelFontStyle: style(textSize, ink)}
	if most := room(labels); most < count {
		count = max(most*2/3, 2)
		labels[len(labels)-1] = ""
		if len(labels) > crowd {
			axis.BoundaryGap = charts.Ptr(false)
			blank(labels, float64(len(labels)-1)/float64(count-1))
		}
	}
	axis.LabelCount = count
	return axis
}

// spare is the space between labels beside a plot and their axis. A reader's font may be wider than the one that the library measures.
const spare = 26

// beside returns the axis of the categories at the left of a plot.
func beside(labels []string) charts.CategoryAxisOption {
	return charts.CategoryAxisOption{
		Labels: labels, LabelCount: len(labels), LabelFontStyle: style(textSize, ink), LabelOffset: charts.OffsetInt{Left: -spare},
	}
}

// crowd is the number of labels from which on a plot has its labels at the marks of the axis, and not between them.
const crowd = 200

// blank removes the labels that are not beside a mark of the axis. The library measures each label, also those that it leaves out.
func blank(labels []string, step float64) {
	for i := range labels {
		if math.Abs(math.Remainder(float64(i), step)) > 2 {
			labels[i] = ""
		}
	}
}

// flat is the part of its size by which a line has to change to be shown without zero.
const flat = 0.01

// values returns the axis of values. It has zero, except for a line that changes far from zero.
func (s *sheet) values(shown []point) charts.ValueAxisOption {
	low, high := shown[0].value, shown[0].value
	for _, p := range shown {
		low, high = min(low, p.value), max(high, p.value)
	}
	span := high - low
	if s.chart.Kind != Line || span < flat*max(high, -low) || low < span && high > -span {
		low, high = min(low, 0), max(high, 0)
	}
	if low == high {
		high = low + 1
	}
	step := s.step(high - low)
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	return charts.ValueAxisOption{
		Min: &low, Max: &high, LabelCount: int(math.Round((high-low)/step)) + 1, PreferNiceIntervals: charts.Ptr(false),
		RangeValuePaddingScale: charts.Ptr(0.0), ValueFormatter: s.number, SplitLineShow: charts.Ptr(true),
		LabelFontStyle: style(textSize, ink),
	}
}

// step returns the step between the labels of an axis: 1, 2 or 5 times a power of ten, and none that the format rounds.
func (s *sheet) step(span float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(span/steps)))
	for _, times := range []float64{2, 2.5, 2} {
		if span/step <= steps {
			break
		}
		step *= times
	}
	return max(step, finest(s.chart.Format)/s.power)
}

// finest returns the smallest number of a format beside zero; zero for a format that writes all numbers.
func finest(format string) float64 {
	switch format {
	case Integer:
		return 1
	case Currency, Percent:
		return 0.01
	}
	return 0
}
