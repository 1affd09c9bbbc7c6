package report

import (
	"errors"
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/query/result"
	"lectern/shared/resource"
	"lectern/shared/size"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Dashboard is a page of widgets.
type Dashboard struct {
	resource.Header
	EventID     *int64    `json:"event_id" doc:"The event's id; null for a dashboard of the organization."`
	Name        string    `json:"name" doc:"The dashboard's name."`
	Description *string   `json:"description" doc:"The purpose of the dashboard."`
	Widgets     []*Widget `json:"widgets,omitzero" nullable:"false" doc:"The widgets with their data, by their order; only the read of one dashboard shows them."`

	// first are the widgets that a new dashboard begins with.
	first []wire.Create[WidgetDraft]
	// detail is how much an answer has shortened the results of the widgets.
	detail size.Detail
}

// Reduce leaves out the longest results of widgets, half of their bytes or more, and at last all: such a widget has an error
// (size.Reducer).
func (d *Dashboard) Reduce(to size.Detail) (less bool) {
	if to <= d.detail {
		return false
	}
	d.detail = to
	var all []*Data
	bytes := 0
	for _, w := range d.Widgets {
		if w.Data != nil {
			all, bytes = append(all, w.Data), bytes+w.Data.length()
		}
	}
	slices.SortStableFunc(all, func(a, b *Data) int { return b.length() - a.length() })
	most := bytes / 2
	if to == size.Bare {
		most = 0
	}
	for left := bytes; left > most; all, less = all[1:], true {
		left -= all[0].length()
		*all[0] = Data{[]result.Row{}, new("The results make the answer too long. Send Accept-Encoding: gzip, name fewer fields, or add LIMIT.")}
	}
	return less
}

// DashboardDraft has the properties of a dashboard that a client may write.
type DashboardDraft struct {
	Name        wire.Opt[string]                     `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The dashboard's name."`
	Description wire.Opt[string]                     `json:"description,omitzero" maxLength:"2000" doc:"The purpose of the dashboard."`
	Widgets     wire.Opt[[]wire.Create[WidgetDraft]] `json:"widgets,omitzero" maxItems:"40" nullable:"false" doc:"The widgets of a new dashboard. An update ignores widgets."`
}

// Dashboards is the kind of the dashboards.
var Dashboards = &resource.Kind[Dashboard, *Dashboard, DashboardDraft]{
	Name: dashboardKind, Title: "Dashboard", Many: "dashboards", Max: 100, Also: firstWidgets,
}

const dashboardKind = "dashboard"

// Apply writes the draft into the dashboard.
func (d DashboardDraft) Apply(e resource.Edit[*Dashboard]) error {
	if e.New {
		e.Record.EventID, e.Record.first = eventOf(e.Owner), d.Widgets.Value
	}
	d.Name.Into(&e.Record.Name)
	d.Description.IntoPointer(&e.Record.Description)
	return nil
}

// firstWidgets returns the operation that creates the widgets of a new dashboard, in the order of the request.
func firstWidgets(s resource.Store, o resource.Owner, d *Dashboard) (write.Op, error) {
	ops := make([]write.Op, len(d.first))
	for i, w := range d.first {
		w.Draft.order = i + 1
		op, err := WidgetsOf(s, o, d.ID).Starting(widgetID(d.ID, s.NewID()), w.Draft)
		if err != nil {
			return nil, within(fmt.Sprintf("widgets[%d]", i), err)
		}
		ops[i] = op
	}
	return write.Together(ops...), nil
}

// within names the place of a mistake in the body that has the widget.
func within(at string, err error) error {
	var refused *apierr.Error
	if errors.As(err, &refused) {
		if name, ok := refused.Details["field"].(string); ok {
			at += "." + name
		}
		return refused.Field(at)
	}
	return err
}

// queries returns the texts of the queries of new widgets (asking).
func (d *DashboardDraft) queries() (texts map[string]string, masked bool) {
	texts = map[string]string{}
	for i := range d.Widgets.Value {
		own, _ := d.Widgets.Value[i].Draft.queries()
		for name, text := range own {
			texts[fmt.Sprintf("widgets[%d].%s", i, name)] = text
		}
	}
	return texts, true
}

// refuse ignores the refusal: a change of a dashboard ignores widgets.
func (d *DashboardDraft) refuse(error) {}
