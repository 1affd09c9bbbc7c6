package transcriber

import (
	"lectern/events"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/media"
	"lectern/shared/speech"
	"lectern/shared/speech/amazon"
	"lectern/shared/transcript"
)

// Start returns the Worker of a region.
func Start(env api.Env, places *bus.Places) (*Worker, error) {
	queue, err := places.Queue(events.Media)
	if err != nil {
		return nil, err
	}
	return &Worker{Config{
		Table: env.Table, Log: env.Log, Media: media.NewStore(env), Texts: &transcript.Store{Table: env.Table, Now: env.Now},
		Provider: speech.Provider(env.Transcriber), Jobs: amazon.New(places.AWS()), Prefix: Prefix(env.Region), Queue: queue, Later: Later,
	}}, nil
}

// Prefix returns the start of the names of a region's jobs.
func Prefix(region string) string { return "lectern-" + region + "-" }
