// Package report owns the saved queries, the dashboards and the widgets of events and organizations (gaps.md section 5). All are
// small records (package resource); a widget belongs to a dashboard. Package insight answers their queries.
//
// Read query.go, dashboard.go, widget.go, config.go; then report.go.
package report

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/insight"
	"lectern/shared/insight/chart"
	"lectern/shared/page"
	"lectern/shared/query/result"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Prefix begins the paths of the records of an owner. Name is the part of operation ids.
type Prefix struct{ Path, Name string }

// Prefixes are those of an event, of an organization, and of the organization of the token (spec.md section 4.8).
var Prefixes = []Prefix{{"/v1/event/{eventId}", "Event"}, {"/v1/organization/{orgId}", "Organization"}, {"/v1", ""}}

// Store keeps the records and answers their queries.
type Store struct {
	records resource.Store
	insight *insight.Store
}

// NewStore returns the store of a group.
func NewStore(env api.Env, insights *insight.Store) *Store {
	st := &Store{resource.NewStore(env), insights}
	st.records.CheckDraft = st.check
	return st
}

// Records returns the store of the records. It refuses drafts with queries that are not valid.
func (st *Store) Records() resource.Store { return st.records }

// sent returns a text by the name of its property; empty without a text.
func sent(name string, text wire.Opt[string]) map[string]string {
	if !text.Has() {
		return nil
	}
	return map[string]string{name: text.Value}
}

// asking is a draft with queries.
type asking interface {
	// queries returns the texts of the queries by the names of their properties, and whether they are always answered with masked data.
	queries() (texts map[string]string, masked bool)
	// refuse notes the refusal of a changed query.
	refuse(error)
}

// check returns the 400 of a new draft with a query that is not valid. A change gets the refusal of a query that it changes: a query that
// was valid once may be sent back as it is.
func (st *Store) check(ctx context.Context, draft any, isNew bool) error {
	d, ok := draft.(asking)
	if !ok {
		return nil
	}
	texts, masked := d.queries()
	if len(texts) == 0 {
		return nil
	}
	err := st.valid(ctx, texts, masked)
	if refused := (*apierr.Error)(nil); isNew || !errors.As(err, &refused) {
		return err
	}
	d.refuse(err)
	return nil
}

// valid returns the 400 of the first query that is not valid.
func (st *Store) valid(ctx context.Context, texts map[string]string, masked bool) error {
	reach, err := st.insight.Newest(ctx, auth.From(ctx))
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		if err := reach.Check(field, insight.Question{Query: texts[field], Unmasked: !masked}); err != nil {
			return err
		}
	}
	return nil
}

// RunInput names a saved query, and the wanted part of its results.
type RunInput struct {
	resource.In
	Body insight.Run `required:"false"`
}

// Run answers a saved query.
func (st *Store) Run(ctx context.Context, in *RunInput) (*page.Of[result.Row], error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	saved, err := Queries.Of(st.records, o).Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return st.insight.Page(ctx, in.Body.EventIDs, in.Body.Question(saved.Query))
}

// reach returns the reach of a dashboard. The error is a 400 for an organization with too many events, since a dashboard names none.
func (st *Store) reach(ctx context.Context) (*insight.Reach, error) {
	reach, err := st.insight.Reach(ctx, auth.From(ctx), nil)
	if apierr.IsInvalid(err) {
		err = apierr.Invalid("query", "A dashboard of an organization reads 100 events at most; this one has more. Use a dashboard of an event.")
	}
	return reach, err
}

// askAll answers questions from one filling of the tables. A 400 for the events is that of each question.
func (st *Store) askAll(ctx context.Context, questions []insight.Question) ([]insight.Reply, error) {
	reach, err := st.reach(ctx)
	if apierr.IsInvalid(err) {
		return slices.Repeat([]insight.Reply{{Err: err}}, len(questions)), nil
	}
	if err != nil {
		return nil, err
	}
	return reach.Ask(ctx, questions...)
}

// OneInput names a dashboard or a widget.
type OneInput struct{ resource.In }

// Dashboard returns a dashboard with the data of its widgets. A query that is refused makes the error of its widget.
func (st *Store) Dashboard(ctx context.Context, in *OneInput) (*Dashboard, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	d, err := Dashboards.Of(st.records, o).Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if d.Widgets, err = WidgetsOf(st.records, o, in.ID).List(ctx); err != nil {
		return nil, err
	}
	var asking []*Widget
	var questions []insight.Question
	for _, w := range d.Widgets {
		w.Data = &Data{Results: []result.Row{}}
		if w.Query != nil {
			asking, questions = append(asking, w), append(questions, w.question())
		}
	}
	if len(asking) == 0 {
		return d, nil
	}
	replies, err := st.askAll(ctx, questions)
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		if asking[i].Data.Results = r.Objects(); r.Err != nil {
			asking[i].Data.Error = new(r.Err.Error())
		}
	}
	return d, nil
}

// question returns the question of a widget with a query: a widget shows the first 100 results.
func (w *Widget) question() insight.Question {
	return insight.Question{Query: *w.Query, Page: page.Query{Page: 1, PageSize: 100}}
}

// Picture returns the chart of a widget as SVG.
func (st *Store) Picture(ctx context.Context, o resource.Owner, id string) (*Widget, []byte, error) {
	beside, err := WidgetsBeside(ctx, st.records, o, id)
	if err != nil {
		return nil, nil, err
	}
	w, err := beside.Get(ctx, id)
	switch {
	case err != nil:
		return nil, nil, err
	case w.Type != typeChart:
		return nil, nil, apierr.Invalid("type", "The widget is a %s. Only a widget of the type chart has a picture.", w.Type)
	case w.Query == nil:
		return nil, nil, apierr.Invalid("query", "The widget has no query.")
	}
	q := w.question()
	q.Page.PageSize = result.MostRows
	reach, err := st.reach(ctx)
	if err != nil {
		return nil, nil, err
	}
	reply, err := reach.AskOne(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if reply.Total > result.MostRows {
		return nil, nil, apierr.Invalid("query", "The query has %d results, and a chart shows at most %d. Add GROUP BY or LIMIT to the query.",
			reply.Total, result.MostRows)
	}
	drawn, err := w.chart(reply)
	if err != nil {
		return nil, nil, err
	}
	picture, err := chart.SVG(drawn)
	return w, picture, err
}
