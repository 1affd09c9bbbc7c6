package slides

import (
	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/stores"
)

// Start returns the Worker of a region.
func Start(env api.Env, places *bus.Places) (*Worker, error) {
	queue, err := places.Queue(events.Drawings)
	if err != nil {
		return nil, err
	}
	return New(Config{
		Table: env.Table, Log: env.Log, Slides: stores.Slides(env), Files: stores.SessionFiles(env), Queue: queue, Part: Part,
	}), nil
}
