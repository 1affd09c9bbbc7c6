// Package eventsettings is the Event Settings tag group: reading the fields and
// the metadata of an event. What is listed by GET is searched by POST.
package eventsettings

import (
	"context"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/settings"
	"lectern/shared/stores"
)

const event = "/v1/event/{eventId}/"

// Group declares every route of the tag group.
var Group = api.NewGroup("Event Settings", start, slices.Concat(
	pair("Fields", "fields", (*service).fields, (*service).searchFields),
	kinds(),
	[]api.Route[service]{
		api.Get("listStatuses", event+"statuses", (*service).statuses, readers, ratelimit.EntityReads),
		api.Post("searchStatuses", event+"session-statuses", (*service).searchStatuses, readers, ratelimit.None),
	},
))

var readers = auth.Scopes{auth.ReadEvents, auth.ReadSessions}

// pair is the list and the search of one collection.
func pair[I, O, SI, SO any](name, path string, list api.Handler[service, I, O], search api.Handler[service, SI, SO]) []api.Route[service] {
	return []api.Route[service]{
		api.Get("list"+name, event+path, list, readers, ratelimit.EntityReads),
		api.Post("search"+name, event+path, search, readers, ratelimit.None),
	}
}

// kinds are the routes of the six kinds of metadata.
func kinds() (routes []api.Route[service]) {
	for _, kind := range metadata.Kinds {
		list := func(s *service, ctx context.Context, in *listInput) (*[]*metadata.View, error) {
			return s.entries(ctx, kind, in)
		}
		search := func(s *service, ctx context.Context, in *searchInput) (*page.Of[*metadata.View], error) {
			return s.searchEntries(ctx, kind, in)
		}
		name := strings.ToUpper(string(kind[:1])) + string(kind[1:])
		routes = append(routes, pair(name, string(kind), list, search)...)
	}
	return routes
}

type service struct{ settings *settings.Cache }

func start(env api.Env) *service {
	return &service{stores.Settings(env)}
}

// Expand is what a list can add to each entry.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to each entry."`
}

type listInput struct {
	api.InEvent
	Expand
}

type fieldsInput struct {
	api.InEvent
	// Expand is checked and changes nothing, as a definition has no translations.
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What other lists take; it adds nothing here."`
}

// fields lists every definition the event has, standard ones and those owned by
// a connector included.
func (s *service) fields(ctx context.Context, _ *fieldsInput) (*[]*field.Definition, error) {
	set, err := s.settings.Load(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	all := set.Fields.List()
	return &all, nil
}

// entries lists the event's entries of one kind.
func (s *service) entries(ctx context.Context, kind metadata.Kind, in *listInput) (*[]*metadata.View, error) {
	set, err := s.settings.Load(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	shown := mapped(set.Metadata[kind].List(), func(e *metadata.Entry) *metadata.View {
		return e.Show(kind, texts(set, in.Expand.Expand))
	})
	return &shown, nil
}

// statuses lists the statuses that sessions can have, built-in and custom.
func (s *service) statuses(ctx context.Context, in *listInput) (*[]*metadata.Status, error) {
	set, err := s.settings.Load(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	shown := mapped(set.Statuses.All(), func(status *metadata.Status) *metadata.Status {
		return status.Show(texts(set, in.Expand.Expand))
	})
	return &shown, nil
}

// texts is what shows translations when they are asked for, otherwise nil.
func texts(set *settings.Snapshot, expand []string) *field.Set {
	if slices.Contains(expand, "translated_fields") {
		return set.Fields
	}
	return nil
}

func mapped[T, U any](all []T, show func(T) U) []U {
	shown := make([]U, len(all))
	for i, each := range all {
		shown[i] = show(each)
	}
	return shown
}
