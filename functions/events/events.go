// Package events is the Events tag group: the events of the organization that a
// token belongs to. They are changed by the operator alone.
package events

import (
	"context"
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/programme"
	"lectern/shared/tenancy"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Events", start, []api.Route[service]{
	api.Get("listEvents", "/v1/events", (*service).list, auth.Scopes{auth.ReadEvents}),
})

type service struct{ store tenancy.Store }

func start(env api.Env) *service {
	return &service{tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region}}
}

type listInput struct {
	page.Query
	Expand api.Strings `query:"expand" enum:"custom_fields,integration_mappings" doc:"What to add to each event."`
}

// list gives one page of the events that the caller sees, oldest first.
func (s *service) list(ctx context.Context, in *listInput) (*page.Of[Event], error) {
	caller := auth.From(ctx)
	ids, err := programme.Events.IDs(ctx, s.store, caller.Org.ID)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return !caller.SeesEvent(id) })
	chosen := page.Slice(in.Query, ids).Results
	found, err := programme.Many(ctx, s.store, caller.Org.ID, chosen)
	if err != nil {
		return nil, err
	}
	shown := make([]Event, len(found))
	for i, e := range found {
		shown[i] = show(e, in.Expand)
	}
	return page.New(in.Query, len(ids), shown), nil
}
