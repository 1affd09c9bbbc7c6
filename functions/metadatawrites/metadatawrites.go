// Package metadatawrites is the Metadata Writes tag group: the metadata of an event, and the
// statuses of sessions.
package metadatawrites

import (
	"context"
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/ratelimit"
	"lectern/shared/settings/handler"
	"lectern/shared/settings/item"
)

type service = handler.Service

// Group declares every route of the tag group.
var Group = api.NewGroup("Metadata Writes", handler.Start, slices.Concat(
	kind[metadata.RoomDraft](metadata.Rooms).routes(),
	kind[metadata.TrackDraft](metadata.Tracks).routes(),
	kind[metadata.Draft](metadata.Tags).routes(),
	kind[metadata.Draft](metadata.Formats).routes(),
	kind[metadata.Draft](metadata.Levels).routes(),
	kind[metadata.Draft](metadata.Languages).routes(),
	statuses.routes(),
	[]api.Route[service]{
		api.Post("restoreStatus", statuses.path()+"/{id}/restore", handler.With(statuses.restore), writers, limit),
	},
))

var (
	writers  = auth.Scopes{auth.WriteMetadata}
	limit    = api.Limit(ratelimit.SchemaWrites)
	statuses = writes[metadata.StatusDraft, metadata.Status]{metadata.StatusKind, (*metadata.Entry).WrittenStatus}
)

// writes has the handlers of a kind: a client may write D, and the answer is O.
type writes[D metadata.Change, O any] struct {
	kind metadata.Kind
	show func(*metadata.Entry, metadata.Kind, *field.Set) *O
}

func kind[D metadata.Change](k metadata.Kind) writes[D, metadata.View] {
	return writes[D, metadata.View]{k, (*metadata.Entry).Written}
}

func (w writes[D, O]) path() string { return "/v1/event/{eventId}/" + string(w.kind) }

// routes returns the routes that every kind has.
func (w writes[D, O]) routes() []api.Route[service] {
	one, title := w.path()+"/{id}", w.kind.Title()
	return []api.Route[service]{
		api.Post("create"+title, w.path()+"/create", handler.With(w.create), writers, limit),
		api.Put("update"+title, one, handler.With(w.update), writers, limit),
		api.Delete("delete"+title, one, handler.With(w.remove), writers, limit),
	}
}

func (w writes[D, O]) create(ctx context.Context, s *handler.Settings, in *createInput[D]) (*O, error) {
	e, err := s.MetadataStore(w.kind).Create(ctx, in.Body.Draft)
	return w.answer(e, in.texts(s), err)
}

func (w writes[D, O]) update(ctx context.Context, s *handler.Settings, in *updateInput[D]) (*O, error) {
	e, err := s.MetadataStore(w.kind).Update(ctx, in.ID, in.Body.Draft, in.guard())
	return w.answer(e, in.texts(s), err)
}

func (w writes[D, O]) remove(ctx context.Context, s *handler.Settings, in *InEntry) (*item.Removed, error) {
	return &item.Removed{ID: in.ID}, s.MetadataStore(w.kind).Delete(ctx, in.ID, in.guard())
}

// restore brings a custom status back, also on its sessions.
func (w writes[D, O]) restore(ctx context.Context, s *handler.Settings, in *restoreInput) (*O, error) {
	e, err := s.MetadataStore(w.kind).Restore(ctx, in.ID, in.guard())
	return w.answer(e, in.texts(s), err)
}

func (w writes[D, O]) answer(e *metadata.Entry, texts *field.Set, err error) (*O, error) {
	if err != nil {
		return nil, err
	}
	return w.show(e, w.kind, texts), nil
}
