// Package eventsettings is the Event Settings tag group, which reads the fields and the
// metadata of an event: lists by GET, searches by POST.
package eventsettings

import (
	"context"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/ratelimit"
	"lectern/shared/settings/handler"
)

const event = "/v1/event/{eventId}/"

type service = handler.Service

// Group declares every route of the tag group.
var Group = api.NewGroup("Event Settings", handler.Start, slices.Concat(
	pair("Fields", "fields", handler.With(listFields), handler.With(searchFields)),
	kinds(),
	[]api.Route[service]{
		api.Get("listStatuses", event+"statuses", handler.With(listStatuses), readers, api.Limit(ratelimit.EntityReads)),
		api.Post("searchStatuses", event+"session-statuses", handler.With(searchStatuses), readers),
	},
))

var readers = auth.Scopes{auth.ReadEvents, auth.ReadSessions}

// pair returns the list and the search of a collection.
func pair[I, O, SI, SO any](name, path string, list api.Handler[service, I, O], search api.Handler[service, SI, SO]) []api.Route[service] {
	return []api.Route[service]{
		api.Get("list"+name, event+path, list, readers, api.Limit(ratelimit.EntityReads)),
		api.Post("search"+name, event+path, search, readers),
	}
}

// kinds returns the routes of the six kinds of metadata.
func kinds() (routes []api.Route[service]) {
	for _, kind := range metadata.Kinds {
		e := entries{kind}
		name := strings.ToUpper(string(kind[:1])) + string(kind[1:])
		routes = append(routes, pair(name, string(kind), handler.With(e.list), handler.With(e.search))...)
	}
	return routes
}

// Expand names the additions to each entry of a list.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to each entry."`
}

type listInput struct {
	api.InEvent
	Expand
}

type fieldsInput struct {
	api.InEvent
	// Expand is checked and changes nothing, since a definition has no translations.
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What other lists take; it adds nothing here."`
}

// listFields lists every definition of the event, standard fields and the fields of
// connectors included.
func listFields(_ context.Context, s *handler.Settings, _ *fieldsInput) (*[]*field.Definition, error) {
	all := s.Fields.List()
	return &all, nil
}

// entries has the handlers of a kind of metadata.
type entries struct{ kind metadata.Kind }

func (e entries) list(_ context.Context, s *handler.Settings, in *listInput) (*[]*metadata.View, error) {
	shown := e.show(s.Metadata[e.kind].List(), texts(s, in.Expand.Expand))
	return &shown, nil
}

func (e entries) show(all []*metadata.Entry, texts *field.Set) []*metadata.View {
	shown := make([]*metadata.View, len(all))
	for i, entry := range all {
		shown[i] = entry.Show(e.kind, texts)
	}
	return shown
}

// listStatuses lists the statuses of sessions, built-in and custom.
func listStatuses(_ context.Context, s *handler.Settings, in *listInput) (*[]*metadata.Status, error) {
	shown := showStatuses(s.Statuses.All(), texts(s, in.Expand.Expand))
	return &shown, nil
}

func showStatuses(all []*metadata.Status, texts *field.Set) []*metadata.Status {
	shown := make([]*metadata.Status, len(all))
	for i, status := range all {
		shown[i] = status.Show(texts)
	}
	return shown
}

// texts returns the fields that show translations, nil without the expand.
func texts(s *handler.Settings, expand []string) *field.Set {
	if slices.Contains(expand, "translated_fields") {
		return s.Fields
	}
	return nil
}
