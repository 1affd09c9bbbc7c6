package webhooks

import (
	"context"

	"lectern/events/schemas"
	"lectern/shared/page"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

const aboutTypes = "Lists the kinds of change that an endpoint can get, and `webhook.ping`, which `test` sends. Each has the JSON Schema " +
	"of the body, an example, and the scopes of which a token needs one. New properties may be added to a body; a removal or another " +
	"name raises `metadata.version`."

// EventType is a kind of change.
type EventType struct {
	Kind        string   `json:"kind" example:"session.updated"`
	Description string   `json:"description"`
	Scopes      []string `json:"scopes" doc:"A token needs one of these to get the kind; empty for any token."`
	Schema      wire.Raw `json:"schema" doc:"The JSON Schema of the body."`
	Example     wire.Raw `json:"example" doc:"A body."`
}

func (s *service) types(_ context.Context, in *page.ListQuery) (*page.Of[EventType], error) {
	all := make([]EventType, 0, len(schemas.All))
	for _, t := range schemas.All {
		e := EventType{
			Kind: t.Kind, Description: t.Description, Scopes: []string{},
			Schema: wire.Raw{RawMessage: t.Schema}, Example: wire.Raw{RawMessage: t.Example},
		}
		if scopes := webhook.ScopesOf(t.Kind); !scopes.IsPublic() {
			for _, scope := range scopes {
				e.Scopes = append(e.Scopes, string(scope))
			}
		}
		all = append(all, e)
	}
	return page.Slice(in.Query(), all), nil
}
