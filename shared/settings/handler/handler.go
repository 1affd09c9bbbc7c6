// Package handler gives the handlers of a group the settings of the caller's event, with the
// stores that change settings.
package handler

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/settings"
	"lectern/shared/settings/item"
	"lectern/shared/stores"
)

// Service is the service of a group that works on the settings of events.
type Service struct {
	env   api.Env
	cache *settings.Cache
}

// Start starts the service.
func Start(env api.Env) *Service { return &Service{env, stores.Settings(env)} }

// Settings has the settings of the caller's event, and the stores that change settings.
type Settings struct {
	*settings.Snapshot
	Caller *auth.Caller
	store  item.Store
}

// Of loads the settings of a caller's event.
func (s *Service) Of(ctx context.Context, c *auth.Caller) (*Settings, error) {
	set, err := s.cache.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Settings{set, c, item.Store{Table: s.env.Table, Now: s.env.Now, NewID: s.env.NewID, Used: set.Used}}, nil
}

// With returns the handler that calls do with the settings of the caller's event.
func With[I, O any](do func(context.Context, *Settings, *I) (*O, error)) api.Handler[Service, I, O] {
	return with[I, O]{do}.handle
}

type with[I, O any] struct {
	do func(context.Context, *Settings, *I) (*O, error)
}

//nolint:revive // api.Handler has the service first
func (w with[I, O]) handle(s *Service, ctx context.Context, in *I) (*O, error) {
	set, err := s.Of(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return w.do(ctx, set, in)
}

// FieldStore returns the store that changes the fields of clients.
func (s *Settings) FieldStore() field.Store {
	return field.Store{Store: s.store, Caller: s.Caller, Fields: s.Fields}
}

// ConnectorFieldStore returns the store that changes the fields of connectors.
func (s *Settings) ConnectorFieldStore() field.Store {
	st := s.FieldStore()
	st.Connectors = true
	return st
}

// MetadataStore returns the store that changes the entries of a kind, or the statuses.
func (s *Settings) MetadataStore(kind metadata.Kind) metadata.Store {
	return metadata.Store{
		Store: s.store, Caller: s.Caller, Kind: kind, Siblings: s.Metadata[kind], Statuses: s.Statuses, Fields: s.Fields,
	}
}

// RoleStore returns the store that changes the participant roles.
func (s *Settings) RoleStore() participant.Store {
	return participant.Store{Store: s.store, Caller: s.Caller, Roles: s.Roles}
}
