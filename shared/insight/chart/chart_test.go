package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/insight/chart"
	"lectern/shared/svg"
)

// kinds are all kinds of charts.
var kinds = []string{chart.Bar, chart.Line, chart.Pie}

// maxBytes is the size of the longest picture that a chart may have.
const maxBytes = 96 << 10

// read has the parts of a picture that the tests look at.
type read struct {
	texts []string
	paths []string
	fills map[string]int
}

// drawn returns a picture after the checks that hold for each chart.
func drawn(t testing.TB, c chart.Chart) read {
	t.Helper()
	picture, err := chart.SVG(c)
	require.NoError(t, err)
	again, err := chart.SVG(c)
	require.NoError(t, err)
	require.Equal(t, picture, again, "the same chart gives the same bytes")
	active, err := svg.Active(picture)
	require.NoError(t, err, "%s", picture)
	require.Empty(t, active, "%s", picture)
	require.LessOrEqual(t, len(picture), maxBytes)
	require.Contains(t, string(picture), ` width="800" height="450" viewBox="0 0 800 450" `)
	require.NotContains(t, string(picture), "NaN")
	require.NotContains(t, string(picture), "Roboto Medium")
	return parsed(t, picture)
}

// parsed reads a picture. It requires that the picture has no other elements than those of plain drawings.
func parsed(t testing.TB, picture []byte) read {
	t.Helper()
	r := read{fills: map[string]int{}}
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	name := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return r
		}
		require.NoError(t, err)
		switch part := token.(type) {
		case xml.StartElement:
			name = part.Name.Local
			require.Contains(t, []string{"svg", "title", "path", "text", "circle"}, name)
			for _, a := range part.Attr {
				if _, fill, found := strings.Cut(a.Value, "fill:"); found && name == "path" {
					r.fills[fill]++
				}
				if a.Name.Local == "d" {
					r.paths = append(r.paths, a.Value)
				}
			}
		case xml.CharData:
			if name == "text" {
				r.texts = append(r.texts, string(part))
			}
		}
	}
}

// bars returns the number of bars.
func (r read) bars() (n int) {
	for fill, times := range r.fills {
		if strings.Contains(fill, "rgb(31,78,121)") {
			n += times
		}
	}
	return n
}

// list returns n names and values.
func list(n int, value func(i int) float64) (names []string, values []float64) {
	for i := range n {
		names, values = append(names, fmt.Sprint("Category ", i)), append(values, value(i))
	}
	return names, values
}

// TestOddCharts draws odd values and texts as each kind.
func TestOddCharts(t *testing.T) {
	names, many := list(10_000, func(i int) float64 { return float64(i*7919%1009) - 3 })
	long := strings.Repeat("A very long label ", 100_000)
	huge := math.MaxFloat64
	for name, c := range map[string]chart.Chart{
		"empty": {}, "only names": {X: names}, "no finite value": {X: names, Y: []float64{math.NaN(), math.Inf(1), math.Inf(-1)}},
		"one": {X: []string{"a"}, Y: []float64{5}}, "one zero": {X: []string{"a"}, Y: []float64{0}}, "one negative": {Y: []float64{-5}},
		"zeros": {X: names[:3], Y: []float64{0, 0, 0}}, "negative": {X: names[:3], Y: []float64{-1, -2, -3}},
		"mixed": {X: names[:4], Y: []float64{-1, 2, math.NaN(), 3}}, "negative zero": {Y: []float64{math.Copysign(0, -1)}},
		"huge": {X: names[:3], Y: []float64{huge, -huge, huge}}, "huge shares": {X: names[:3], Y: []float64{huge, huge, huge}},
		"tiny": {Y: []float64{5e-324, 1e-323}}, "small": {Y: []float64{1e-290, 2e-290}}, "apart": {Y: []float64{1e-300, 1e300}},
		"close": {Y: []float64{1e9, 1e9 + 1e-6, 1e9 + 2e-6}}, "equal": {Y: []float64{7.3, 7.3, 7.3}},
		"many": {X: names, Y: many}, "more values": {X: names[:1], Y: many[:30]},
		"long":  {Title: long, XName: long, YName: long, X: []string{long, long}, Y: many[:2]},
		"marks": {Title: "Z" + strings.Repeat("\u0335", 100_000), X: []string{strings.Repeat("\u200d", 1000)}, Y: many[5:6]},
	} {
		for _, kind := range kinds {
			for _, format := range []string{"", chart.Integer, chart.Percent, chart.Currency, chart.Compact, "unknown"} {
				c.Kind, c.Format = kind, format
				t.Run(name+" "+kind+" "+format, func(t *testing.T) { drawn(t, c) })
			}
		}
	}
}

// TestTextsStayTexts however they look.
func TestTextsStayTexts(t *testing.T) {
	for text, shown := range map[string]string{
		`<script>alert(1)</script>`: `<script>alert(1)</script>`, `"' onload="x" & &amp; ]]>`: `"' onload="x" & &amp; ]]>`,
		"a\x00\x01b\x1b\u0085c\nd": "a b c d", "\xff\xfe!": "\ufffd\ufffd!", "a\ufffe\uffffb": "ab", "a\u202eb\u2066c": "abc",
		"العربية": "العربية", "日本語": "日本語", "👩‍👩‍👧 🎉": "👩‍👩‍👧 🎉",
		"font-family:'Roboto Medium'": "font-family:'Roboto Medium'", "<!-- ": "<!--", "${1}": "${1}", "javascript:x": "javascript:x",
	} {
		for _, kind := range kinds {
			picture, err := chart.SVG(chart.Chart{Kind: kind, Title: text, XName: text, YName: text, X: []string{text}, Y: []float64{1}})
			require.NoError(t, err)
			active, err := svg.Active(picture)
			require.NoError(t, err, "%s", picture)
			require.Empty(t, active)
			texts := parsed(t, picture).texts
			for i := range texts {
				texts[i] = strings.TrimRight(texts[i], " ")
			}
			require.Contains(t, texts, shown)
		}
	}
}

// TestNumbersOfParts counts bars, points and slices.
func TestNumbersOfParts(t *testing.T) {
	for _, n := range []int{1, 2, 5, 18, 19, chart.MaxBars, chart.MaxBars + 1, 10_000} {
		names, values := list(n, func(i int) float64 { return float64(i + 1) })
		r := drawn(t, chart.Chart{Kind: chart.Bar, X: names, Y: values})
		require.Equal(t, min(n, chart.MaxBars), r.bars(), "bars of %d", n)
		r = drawn(t, chart.Chart{Kind: chart.Pie, X: names, Y: values})
		arcs := 0
		for _, path := range r.paths {
			if strings.Contains(path, "A ") {
				arcs++
			}
		}
		want := n
		if n > chart.MaxSlices+1 {
			want = chart.MaxSlices + 1
			require.Contains(t, r.texts, "Other")
		}
		require.Equal(t, want, arcs, "slices of %d", n)
	}
	for n, points := range map[int]int{10: 10, 1000: 1000, chart.MaxPoints: chart.MaxPoints, 10_000: chart.MaxPoints} {
		names, values := list(n, func(i int) float64 { return float64(i % 7) })
		longest := 0
		for _, path := range drawn(t, chart.Chart{Kind: chart.Line, X: names, Y: values}).paths {
			longest = max(longest, strings.Count(path, "\n")+1)
		}
		require.Equal(t, points, longest, "points of %d", n)
	}
}

// TestColorsAreSeen requires that each color has a contrast of 3 with white, and that no two are the same.
func TestColorsAreSeen(t *testing.T) {
	names, values := list(chart.MaxSlices+5, func(i int) float64 { return float64(i + 1) })
	fills := drawn(t, chart.Chart{Kind: chart.Pie, X: names, Y: values}).fills
	delete(fills, "white")
	require.Len(t, fills, chart.MaxSlices+1)
	for fill := range fills {
		var rgb [3]float64
		_, err := fmt.Sscanf(fill, "rgb(%f,%f,%f)", &rgb[0], &rgb[1], &rgb[2])
		require.NoError(t, err, fill)
		for i, c := range rgb {
			rgb[i] = math.Pow((c/255+0.055)/1.055, 2.4)
		}
		require.GreaterOrEqual(t, 1.05/(0.2126*rgb[0]+0.7152*rgb[1]+0.0722*rgb[2]+0.05), 3.0, fill)
	}
}

// TestPeaksStay however many values a line has.
func TestPeaksStay(t *testing.T) {
	names, values := list(10_000, func(int) float64 { return 1 })
	values[7777] = 90
	r := drawn(t, chart.Chart{Kind: chart.Line, X: names, Y: values})
	require.Contains(t, r.texts, "100")
	require.Equal(t, 2, strings.Count(strings.Join(r.texts, "\n"), "Category"), "labels below the line")
	require.Contains(t, r.texts, "1,001 of 10,000 values, with all peaks")
}

// TestWordsOfAPicture checks the texts of charts.
func TestWordsOfAPicture(t *testing.T) {
	require.Equal(t, []string{"Sessions", "No data"}, drawn(t, chart.Chart{Kind: chart.Pie, Title: "Sessions"}).texts)
	c := chart.Chart{Kind: chart.Bar, Title: "Sessions by track", XName: "Track", YName: "Number", X: []string{"A", "B"}, Y: []float64{1, 2}}
	c.Format = chart.Integer
	require.ElementsMatch(t, []string{"Sessions by track", "Track", "Number", "A", "B", "0", "1", "2"}, drawn(t, c).texts)
	c.Kind, c.Format, c.Y = chart.Pie, chart.Currency, []float64{1500, 500}
	require.Equal(t, []string{"Sessions by track", "A", "1,500.00 (75%)", "B", "500.00 (25%)"}, drawn(t, c).texts)
	for _, values := range [][]float64{{0, 0}, {3, -1}} {
		c.Y = values
		require.Contains(t, drawn(t, c).texts, "Number", "a pie without shares is drawn as bars")
	}
	_, err := chart.SVG(chart.Chart{Kind: "radar"})
	require.ErrorIs(t, err, chart.ErrKind)
}

// TestFormats checks the numbers of each format at an axis and in a list.
func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format string
		value  float64
		shown  string
	}{
		{"", 1234567.891, "1,234,567.89"}, {"", 0.000123, "0.000123"}, {"", 12, "12"}, {"", 1e18, "1e+18"}, {"", 1e-9, "1e-09"},
		{chart.Integer, 1234.5, "1,234"}, {chart.Integer, 0.4, "0"}, {chart.Percent, 12.5, "12.5%"}, {chart.Currency, 1234.5, "1,234.50"},
		{chart.Compact, 999, "999"}, {chart.Compact, 1234, "1.234k"}, {chart.Compact, 2.5e9, "2.5G"}, {"hex", 255, "255"},
	} {
		r := drawn(t, chart.Chart{Kind: chart.Pie, Format: test.format, X: []string{"a"}, Y: []float64{test.value}})
		require.Contains(t, r.texts, test.shown+" (100%)")
	}
}

// BenchmarkSVG draws 10,000 values.
func BenchmarkSVG(b *testing.B) {
	names, values := list(10_000, func(i int) float64 { return math.Sin(float64(i)) + 1 })
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := chart.SVG(chart.Chart{Kind: kind, X: names, Y: values})
				require.NoError(b, err)
			}
		})
	}
}

// FuzzSVG draws charts with any texts and numbers.
func FuzzSVG(f *testing.F) {
	f.Add(uint8(0), "Title", "Label", "integer", 1.0, -2.0, uint8(3))
	f.Add(uint8(1), "<script>\x00", "\u202e\xff", "percent", 1e308, -1e308, uint8(200))
	f.Add(uint8(2), "العربية", "👩‍👩‍👧", "currency", 0.1, 1e-300, uint8(50))
	f.Add(uint8(1), "", "日本語の題名", "compact", 1e9, 1e9+1e-7, uint8(2))
	f.Fuzz(func(t *testing.T, kind uint8, title, name, format string, a, b float64, n uint8) {
		c := chart.Chart{Kind: kinds[int(kind)%len(kinds)], Title: title, XName: name, YName: title, Format: format}
		for i := range int(n) {
			c.X, c.Y = append(c.X, name), append(c.Y, []float64{a, b, a * b, a - b, 0}[i%5])
		}
		drawn(t, c)
	})
}
