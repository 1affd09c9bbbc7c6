package sweeper

import (
	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
)

// Start returns the Sweeper of a region.
func Start(env api.Env, places *bus.Places) (*Sweeper, error) {
	deliveries, err := places.Queue(events.Deliveries)
	if err != nil {
		return nil, err
	}
	return New(env.Table, env.Now, env.Log, deliveries), nil
}
