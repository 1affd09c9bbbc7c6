package report

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Query is a saved query.
type Query struct {
	resource.Header
	EventID  *int64  `json:"event_id" doc:"The event's id; null for a query of the organization."`
	Name     string  `json:"name" doc:"The query's name."`
	Query    string  `json:"query" doc:"The text of the query."`
	Category *string `json:"category" doc:"The category, by which a list can be filtered."`
}

// QueryDraft has the properties of a saved query that a client may write.
type QueryDraft struct {
	Name     wire.Opt[string] `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The query's name."`
	Query    wire.Opt[string] `json:"query,omitzero" create:"required" minLength:"1" maxLength:"10000" nullable:"false" doc:"The text of the query; it must be valid when it is saved."`
	Category wire.Opt[string] `json:"category,omitzero" minLength:"1" maxLength:"255" doc:"The category, for example Speakers."`

	refusal
}

// refusal is why a query of a draft is not valid; nil for a valid one.
type refusal struct{ why error }

func (r *refusal) refuse(err error) { r.why = err }

// of returns the refusal, unless the text of the query stays.
func (r *refusal) of(sent wire.Opt[string], stored string) error {
	if sent.Has() && sent.Value == stored {
		return nil
	}
	return r.why
}

// Queries is the kind of the saved queries.
var Queries = &resource.Kind[Query, *Query, QueryDraft]{Name: "saved_query", Title: "Query", Many: "queries", Max: 500}

// Apply writes the draft into the query.
func (d QueryDraft) Apply(e resource.Edit[*Query]) error {
	if e.New {
		e.Record.EventID = eventOf(e.Owner)
	}
	if err := d.of(d.Query, e.Record.Query); err != nil {
		return err
	}
	d.Name.Into(&e.Record.Name)
	d.Query.Into(&e.Record.Query)
	d.Category.IntoPointer(&e.Record.Category)
	return nil
}

// queries returns the text of the query (asking).
func (d *QueryDraft) queries() (texts map[string]string, masked bool) {
	return sent("query", d.Query), false
}

// eventOf returns the id of the event that owns a record; nil for a record of the organization.
func eventOf(o resource.Owner) *int64 {
	if o.Event == 0 {
		return nil
	}
	return &o.Event
}

// ListInput chooses saved queries of an owner.
type ListInput struct {
	resource.At
	Category string `query:"category" doc:"Only queries of the category."`
	Page     int    `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many results a page has."`
}

// List returns a page of the saved queries of an owner.
func (st *Store) List(ctx context.Context, in *ListInput) (*page.Of[*Query], error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return Queries.Of(st.records, o).Page(ctx, page.Query{Page: in.Page, PageSize: in.Limit}, in.keeps)
}

// keeps reports whether the filter keeps a saved query.
func (l *ListInput) keeps(q *Query) bool {
	return l.Category == "" || q.Category != nil && *q.Category == l.Category
}
