// Package metadatawrites is the Metadata Writes tag group: what the sessions of
// an event can be described by, and the statuses they can have.
package metadatawrites

import (
	"context"
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/metadata"
	"lectern/shared/ratelimit"
	"lectern/shared/settings"
	"lectern/shared/settings/item"
	"lectern/shared/stores"
	"lectern/shared/write"
)

const event = "/v1/event/{eventId}/"

// Group declares every route of the tag group.
var Group = api.NewGroup("Metadata Writes", start, slices.Concat(kinds(), statuses))

var writers = auth.Scopes{auth.WriteMetadata}

// kinds are the routes of the six kinds, which differ in what can be written.
func kinds() (routes []api.Route[service]) {
	for _, kind := range metadata.Kinds {
		switch kind {
		case metadata.Rooms:
			routes = append(routes, writesOf[metadata.RoomDraft](kind)...)
		case metadata.Tracks:
			routes = append(routes, writesOf[metadata.TrackDraft](kind)...)
		default:
			routes = append(routes, writesOf[metadata.Draft](kind)...)
		}
	}
	return routes
}

// writesOf are the routes of one kind, of which a client may write D.
func writesOf[D metadata.Change](kind metadata.Kind) []api.Route[service] {
	create := func(s *service, ctx context.Context, in *createInput[D]) (*metadata.View, error) {
		sc, err := s.scene(ctx, kind, in.Expand)
		if err != nil {
			return nil, err
		}
		return s.store.Create(ctx, sc, kind, in.Body.Draft)
	}
	update := func(s *service, ctx context.Context, in *updateInput[D]) (*metadata.View, error) {
		sc, err := s.scene(ctx, kind, in.Expand)
		if err != nil {
			return nil, err
		}
		return s.store.Update(ctx, sc, kind, in.ID, in.Body.Draft, in.guard())
	}
	remove := func(s *service, ctx context.Context, in *InEntry) (*item.Removed, error) {
		sc, err := s.scene(ctx, kind, Expand{})
		if err != nil {
			return nil, err
		}
		return &item.Removed{ID: in.ID}, s.store.Delete(ctx, sc, kind, in.ID, write.Guard{IfMatch: in.IfMatch})
	}
	return routesOf(kind, create, update, remove)
}

// statuses are the routes of custom statuses.
var statuses = append(
	routesOf(metadata.StatusKind, (*service).createStatus, (*service).updateStatus, (*service).deleteStatus),
	api.Post("restoreStatus", event+"statuses/{id}/restore", (*service).restoreStatus, writers, ratelimit.SchemaWrites),
)

// routesOf are the three routes that every kind has.
func routesOf[CI, CO, UI, UO, DI, DO any](
	kind metadata.Kind, create api.Handler[service, CI, CO], update api.Handler[service, UI, UO], remove api.Handler[service, DI, DO],
) []api.Route[service] {
	path := event + string(kind)
	one := path + "/{id}"
	return []api.Route[service]{
		api.Post("create"+kind.Title(), path+"/create", create, writers, ratelimit.SchemaWrites),
		api.Put("update"+kind.Title(), one, update, writers, ratelimit.SchemaWrites),
		api.Delete("delete"+kind.Title(), one, remove, writers, ratelimit.SchemaWrites),
	}
}

type service struct {
	store    metadata.Store
	settings *settings.Cache
}

func start(env api.Env) *service {
	return &service{
		store:    metadata.Store{Table: env.Table, Now: env.Now, NewID: env.NewID},
		settings: stores.Settings(env),
	}
}

// scene gathers what a write of the kind goes by.
func (s *service) scene(ctx context.Context, kind metadata.Kind, x Expand) (metadata.Scene, error) {
	caller := auth.From(ctx)
	set, err := s.settings.Load(ctx, caller)
	if err != nil {
		return metadata.Scene{}, err
	}
	return metadata.Scene{
		Caller: caller, Siblings: set.Metadata[kind], Statuses: set.Statuses, Fields: set.Fields, Used: set.Used,
		Translated: x.Expand.Has("translated_fields"),
	}, nil
}
