package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/insight"
	"lectern/shared/insight/chart"
	"lectern/shared/query"
	"lectern/shared/query/result"
)

// The types of widgets.
const (
	typeChart  = "chart"
	typeTable  = "table"
	typeNumber = "number"
)

// Config says how a widget shows its results. Each type has properties of its own.
type Config struct {
	ChartType string   `json:"chart_type,omitempty" enum:"bar,line,pie" doc:"The form of a chart; bar by default."`
	X         string   `json:"x,omitempty" maxLength:"255" doc:"The column with the names of a chart; the first by default."`
	Y         string   `json:"y,omitempty" maxLength:"255" doc:"The column with the numbers of a chart; the second by default."`
	Columns   []string `json:"columns,omitempty" maxItems:"50" minLength:"1" maxLength:"255" doc:"The columns of a table; all by default."`
	Field     string   `json:"field,omitempty" maxLength:"255" doc:"The column of a number; the first by default."`
	Format    string   `json:"format,omitempty" maxLength:"50" doc:"How the numbers of a chart or a number are written: integer, percent, currency or compact. Any other is plain."`
	_         struct{} `json:"-" additionalProperties:"true"`
}

// check returns the 400 of a property that another type of widgets has.
func (c Config) check(of string) error {
	for _, p := range []struct {
		name  string
		sent  bool
		types []string
	}{
		{"chart_type", c.ChartType != "", []string{typeChart}},
		{"x", c.X != "", []string{typeChart}},
		{"y", c.Y != "", []string{typeChart}},
		{"columns", c.Columns != nil, []string{typeTable}},
		{"field", c.Field != "", []string{typeNumber}},
		{"format", c.Format != "", []string{typeChart, typeNumber}},
	} {
		if p.sent && !slices.Contains(p.types, of) {
			return apierr.Invalid("config."+p.name, "config.%s is for a %s, and the widget is a %s.", p.name, strings.Join(p.types, " or a "), of)
		}
	}
	return nil
}

// chart returns the chart of a widget from the answer to its query.
func (w *Widget) chart(r *insight.Reply) (c chart.Chart, err error) {
	x, err := column(r.Columns, "config.x", w.Config.X, 0)
	if err != nil {
		return c, err
	}
	y, err := column(r.Columns, "config.y", w.Config.Y, min(1, len(r.Columns)-1))
	if err != nil {
		return c, err
	}
	kind := cmp.Or(w.Config.ChartType, chart.Bar)
	c = chart.Chart{Kind: kind, XName: r.Columns[x].Name, YName: r.Columns[y].Name, Format: w.Config.Format}
	if w.Title != nil {
		c.Title = *w.Title
	}
	for _, row := range r.Rows {
		number, ok := row[y].(float64)
		switch {
		case row[y] == nil:
			number = math.NaN() // The chart leaves it out.
		case !ok:
			return c, apierr.Invalid("config.y", "The column %s has values that are no numbers. Choose another column as config.y.", c.YName)
		}
		c.X, c.Y = append(c.X, result.Text(row[x])), append(c.Y, number)
	}
	return c, nil
}

// column returns the index of the column of a name, or else otherwise for an empty name.
func column(all []query.Result, field, name string, otherwise int) (int, error) {
	if name == "" {
		return otherwise, nil
	}
	i := slices.IndexFunc(all, func(c query.Result) bool { return c.Name == name })
	if i < 0 {
		return 0, apierr.Invalid(field, "The query has no column %q for %s.", name, field)
	}
	return i, nil
}
