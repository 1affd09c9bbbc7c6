package converter

import (
	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/recording"
	"lectern/shared/upload"
)

// Start returns the Worker of a region.
func Start(env api.Env, places *bus.Places) (*Worker, error) {
	work, err := places.Queue(events.Work)
	if err != nil {
		return nil, err
	}
	return &Worker{Config{
		Table: env.Table, Log: env.Log, Now: env.Now, Recordings: recording.Store{Store: upload.NewStore(env)}, Work: work, Turn: Turn,
	}}, nil
}
