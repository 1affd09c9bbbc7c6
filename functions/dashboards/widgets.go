package dashboards

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/report"
	"lectern/shared/resource"
	"lectern/shared/wire"
	"lectern/shared/write"
)

type createInput struct {
	resource.In
	Body wire.Create[report.WidgetDraft]
}

// createWidget adds a widget to the dashboard of the path.
func (s *service) createWidget(ctx context.Context, in *createInput) (*report.Widget, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return report.WidgetsOf(s.Records(), o, in.ID).Create(ctx, in.Body.Draft)
}

type updateInput struct {
	resource.In
	api.Revision
	Body wire.Update[report.WidgetDraft]
}

func (s *service) updateWidget(ctx context.Context, in *updateInput) (*report.Widget, error) {
	return s.change(ctx, in.In, resource.Change[report.WidgetDraft]{
		Verb: record.Updated, Draft: &in.Body.Draft, Guard: write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch},
	})
}

type deleteInput struct {
	resource.In
	api.Revision
}

func (s *service) deleteWidget(ctx context.Context, in *deleteInput) (*report.Widget, error) {
	return s.change(ctx, in.In, resource.Change[report.WidgetDraft]{Verb: record.Deleted, Guard: write.Guard{IfMatch: in.IfMatch}})
}

// change changes the widget of the path.
func (s *service) change(ctx context.Context, in resource.In, ch resource.Change[report.WidgetDraft]) (*report.Widget, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	widgets, err := report.WidgetsBeside(ctx, s.Records(), o, in.ID)
	if err != nil {
		return nil, err
	}
	return widgets.Change(ctx, in.ID, ch)
}

// drawChart answers the chart of a widget as SVG.
func (s *service) drawChart(ctx context.Context, in *report.OneInput) (*api.Download, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	w, picture, err := s.Picture(ctx, o, in.ID)
	if err != nil {
		return nil, err
	}
	return &api.Download{File: api.File{Type: "image/svg+xml", Body: picture}, Name: "chart.svg", Version: w.Revision()}, nil
}
