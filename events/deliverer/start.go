package deliverer

import (
	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/webhook"
)

// Start returns the Deliverer of a region.
func Start(env api.Env, places *bus.Places) (*Deliverer, error) {
	deliveries, err := places.Queue(events.Deliveries)
	if err != nil {
		return nil, err
	}
	return New(Config{
		Table: env.Table, Now: env.Now, Log: env.Log,
		Receivers: webhook.NewReceivers(env), Sender: webhook.NewSender(env), Deliveries: deliveries,
	}), nil
}
