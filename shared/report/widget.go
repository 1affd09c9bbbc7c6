package report

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/query/result"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Widget is a part of a dashboard that shows the answer to a query.
type Widget struct {
	resource.Header
	DashboardID string  `json:"dashboard_id" format:"uuid" doc:"The dashboard's id."`
	Type        string  `json:"type" enum:"chart,table,number" doc:"The form of the widget. It cannot change."`
	Title       *string `json:"title" doc:"The title."`
	Order       int     `json:"order" doc:"The place among the widgets of the dashboard."`
	Config      Config  `json:"config" doc:"How the widget shows the results."`
	Query       *string `json:"query" doc:"The text of the query; null for a widget without results."`
	Data        *Data   `json:"data,omitempty" doc:"The answer to the query; only the read of a dashboard shows it."`
}

// Data is the answer to the query of a widget.
type Data struct {
	Results []result.Row `json:"results" nullable:"false" doc:"The first 100 results, with masked personal data."`
	Error   *string      `json:"error" doc:"Why the query has no answer; null if it has."`
}

// length returns the bytes of the results in an answer.
func (d *Data) length() (bytes int) {
	for _, r := range d.Results {
		bytes += r.Len()
	}
	return bytes
}

// WidgetDraft has the properties of a widget that a client may write.
type WidgetDraft struct {
	Type   wire.Opt[string] `json:"type,omitzero" create:"required" enum:"chart,table,number" nullable:"false" doc:"The form of the widget. It cannot change."`
	Title  wire.Opt[string] `json:"title,omitzero" maxLength:"255" doc:"The title."`
	Config wire.Opt[Config] `json:"config,omitzero" nullable:"false" doc:"How the widget shows the results, replaced as a whole; {} without it."`
	Query  wire.Opt[string] `json:"query,omitzero" minLength:"1" maxLength:"10000" doc:"The text of the query; it must be valid when it is saved."`

	// order is the place of a widget that is made with its dashboard.
	order int
	refusal
}

// Widgets is the kind of the widgets. All widgets of a dashboard fit into the transaction that creates the dashboard.
var Widgets = &resource.Kind[Widget, *Widget, WidgetDraft]{
	Name: "widget", Title: "Widget", Many: "widgets", Max: 40, Parent: resource.ParentNames{Name: dashboardKind, Title: "Dashboard"},
	Order: func(w *Widget) *int { return &w.Order },
}

// Apply writes the draft into the widget.
func (d WidgetDraft) Apply(e resource.Edit[*Widget]) error {
	w := e.Record
	if e.New {
		w.DashboardID, w.Type, w.Order = e.Parent, d.Type.Value, d.order
	}
	if d.Type.Sent && d.Type.Value != w.Type {
		return apierr.Invalid("type", "type of a widget cannot change; it is %q.", w.Type)
	}
	stored := ""
	if w.Query != nil {
		stored = *w.Query
	}
	if err := d.of(d.Query, stored); err != nil {
		return err
	}
	d.Title.IntoPointer(&w.Title)
	d.Config.Into(&w.Config)
	d.Query.IntoPointer(&w.Query)
	return w.Config.check(w.Type)
}

// queries returns the text of the query (asking). A widget shows masked data.
func (d *WidgetDraft) queries() (texts map[string]string, masked bool) {
	return sent("query", d.Query), true
}

// WidgetsOf returns the widgets of a dashboard.
func WidgetsOf(s resource.Store, o resource.Owner, dashboard string) Collection {
	newID := s.NewID
	s.NewID = func() string { return widgetID(dashboard, newID()) }
	o.Parent = dashboard
	return Widgets.Of(s, o)
}

// Collection is the widgets of a dashboard.
type Collection = resource.Collection[Widget, *Widget, WidgetDraft]

// shared is how many characters the id of a widget has in common with the id of its dashboard: 60 random bits.
const shared = len("00000000-0000-0000")

// widgetID returns a random id that begins as the id of the dashboard, so that a path without the dashboard finds the widget.
func widgetID(dashboard, random string) string { return dashboard[:shared] + random[shared:] }

// WidgetsBeside returns the widgets of the dashboard that the widget of an id belongs to: 404 without the dashboard.
func WidgetsBeside(ctx context.Context, s resource.Store, o resource.Owner, id string) (c Collection, err error) {
	from := o.Key(dashboardKind, id[:shared])
	for item, err := range s.Table.Between(ctx, from.PK, from.SK, from.SK+"~") {
		if err != nil {
			return c, err
		}
		_, dashboard, _ := resource.KindOf(item.Key)
		return WidgetsOf(s, o, dashboard), nil
	}
	return c, apierr.NotFound(Widgets.Title)
}
