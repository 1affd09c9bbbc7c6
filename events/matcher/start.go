package matcher

import (
	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/payload"
	"lectern/shared/webhook"
)

// Start returns the Matcher of a region. apiURL is the address of the API, for links in bodies.
func Start(env api.Env, places *bus.Places, apiURL string) (*Matcher, error) {
	deliveries, err := places.Queue(events.Deliveries)
	if err != nil {
		return nil, err
	}
	return New(Config{
		Table: env.Table, Now: env.Now, Log: env.Log,
		Receivers: webhook.NewReceivers(env), Renderer: payload.New(env, apiURL), Deliveries: deliveries,
	}), nil
}
