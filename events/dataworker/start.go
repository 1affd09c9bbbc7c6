package dataworker

import (
	"time"

	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/datarequest"
	"lectern/shared/payload"
	"lectern/shared/stores"
	"lectern/shared/webhook"
)

// Start returns the Worker of a region. apiURL is the address of the API, for links in bodies;
// settling is the time between the rounds of an erasure.
func Start(env api.Env, places *bus.Places, apiURL string, settling time.Duration) (*Worker, error) {
	work, err := places.Queue(events.Work)
	if err != nil {
		return nil, err
	}
	return New(Config{
		Table: env.Table, Now: env.Now, Log: env.Log,
		Requests: datarequest.NewStore(env), Contacts: stores.Contacts(env), Files: stores.SessionFiles(env),
		Slides:    stores.Slides(env),
		Receivers: webhook.NewReceivers(env), Renderer: payload.New(env, apiURL), Work: work, Settling: settling,
	}), nil
}
