package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	workers "lectern/events"
	"lectern/events/committer"
	"lectern/events/converter"
	"lectern/events/dataworker"
	"lectern/events/deliverer"
	"lectern/events/matcher"
	"lectern/events/publisher"
	"lectern/events/slides"
	"lectern/events/sweeper"
	"lectern/events/transcriber"
	"lectern/events/worker"
	"lectern/localstack/local/bus"
	"lectern/localstack/local/runtimeapi"
	"lectern/localstack/local/transcribe"
	"lectern/shared/agenda"
	"lectern/shared/api"
	shared "lectern/shared/bus"
	"lectern/shared/recording"
	"lectern/shared/secret"
	"lectern/shared/table"
)

const (
	// poll is the time between two reads of the feed. A read also follows soon after a request to
	// the functions' own binaries; functions in this process tell the follower of their changes.
	poll = time.Second
	// mostApart limits the invocations of a worker's own binary at the same time. A function has
	// at most 16 processes.
	mostApart = 16
)

// busConfig describes the bus of a region with a transcriber, or with an empty name without one. One machine
// always has the worker of holding slides.
func busConfig(region, transcriber string) bus.Config {
	all, rules := workers.With(workers.Options{Transcriber: transcriber != "", Slides: true})
	return bus.Config{Region: region, AWSRegion: Regions[region], Rules: rules, Workers: all, Now: time.Now}
}

// Places returns where the bus and the queues of a running region are. address is the address of
// its local bus, and transcriber that of Config.
func Places(region, address, transcriber string) *shared.Places {
	return shared.Local(bus.At(address, busConfig(region, transcriber)))
}

// openBus starts the server of the local bus, if functions need it: the workers, or binaries, which
// load the master key.
func (s *Stack) openBus() (err error) {
	if !s.config.Publish && s.config.Functions == "" {
		return nil
	}
	c := busConfig(s.config.Region, s.config.Transcriber)
	c.Dir, c.Log = s.config.Dir, s.config.Log
	if s.config.Transcriber != "" {
		s.jobs = transcribe.Start(transcribe.Config{Bucket: s.Bucket, Emit: s.emit, Moment: transcribe.Moment, Log: s.config.Log})
		c.Transcribe = s.jobs
	}
	if s.bus, err = bus.Open(c); err == nil {
		s.BusURL = s.bus.URL
	}
	return err
}

// emit puts an event of AWS on the bus.
func (s *Stack) emit(source, detailType string, detail any) error {
	return s.bus.Emit(source, detailType, detail)
}

// busAddress returns the address of the local bus for a function.
func (s *Stack) busAddress(name string) string {
	if s.record != nil {
		return s.record.Address(name)
	}
	return s.BusURL
}

// places returns the bus and the queues for a function in this process; nil without a local bus.
func (s *Stack) places(name string) *shared.Places {
	if s.bus == nil {
		return nil
	}
	return Places(s.config.Region, s.busAddress(name), s.config.Transcriber)
}

// publish starts what follows a change, with Config.Publish: the workers, and what invokes them. t
// is the table behind Config.Wrap.
func (s *Stack) publish(t *table.Table) (err error) {
	if !s.config.Publish {
		return nil
	}
	sources := bus.Sources{Table: t, Poll: poll}
	if s.config.Functions != "" {
		sources.Most, sources.Handlers = mostApart, s.workersApart()
	} else if sources.Handlers, err = s.workersHere(); err != nil {
		return err
	}
	return s.bus.Run(sources)
}

// workersHere returns the workers in this process by name. The ingester is not among them: the log
// invokes it.
func (s *Stack) workersHere() (map[string]bus.Handler, error) {
	p, publisherErr := publisher.Start(s.places(workers.Publisher), s.config.Log)
	m, matcherErr := matcher.Start(s.workerEnv(workers.Matcher), s.places(workers.Matcher), "")
	d, delivererErr := deliverer.Start(s.workerEnv(workers.Deliverer), s.places(workers.Deliverer))
	w, sweeperErr := sweeper.Start(s.workerEnv(workers.Sweeper), s.places(workers.Sweeper))
	r, requestsErr := dataworker.Start(s.workerEnv(workers.Dataworker), s.places(workers.Dataworker), "", s.settling())
	c, recordingsErr := converter.Start(s.workerEnv(workers.Dataworker), s.places(workers.Dataworker))
	k, commitsErr := committer.Start(s.workerEnv(workers.Dataworker), s.places(workers.Dataworker), s.patience())
	l, slidesErr := slides.Start(s.workerEnv(workers.Slides), s.places(workers.Slides))
	if err := errors.Join(publisherErr, matcherErr, delivererErr, sweeperErr, requestsErr, recordingsErr, commitsErr, slidesErr); err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	work := worker.Kinds{recording.KindReceived: c.Invoke, agenda.KindCommitted: k.Invoke, "": r.Invoke}
	all := map[string]bus.Handler{
		workers.Publisher: handler(p.Invoke), workers.Matcher: handler(m.Invoke), workers.Deliverer: handler(d.Invoke),
		workers.Sweeper: handler(sweep{w}.invoke), workers.Dataworker: handler(work.Invoke), workers.Slides: handler(l.Invoke),
	}
	if s.config.Transcriber == "" {
		return all, nil
	}
	t, err := transcriber.Start(s.workerEnv(workers.Transcriber), s.places(workers.Transcriber))
	if err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	all[workers.Transcriber] = handler(t.Invoke)
	return all, nil
}

// settling returns the time between the rounds of an erasure.
func (s *Stack) settling() time.Duration { return cmp.Or(s.config.Settling, dataworker.Settling) }

// patience returns the time that a worker gives a request that commits a draft.
func (s *Stack) patience() time.Duration { return cmp.Or(s.config.Settling, committer.Patience) }

// workerEnv returns the environment of a worker in this process.
func (s *Stack) workerEnv(name string) api.Env {
	env := NewEnv(s.config.Region, table.New(s.clientOf(name), s.config.Table), s.config.Log)
	env.AdminURL, env.Keys, env.Blobs, env.Transcriber = s.config.AdminURL, s.keysOf(name), s.BlobsOf(name), s.config.Transcriber
	return env
}

// sweep is the handler of the events of the sweeper's schedule, which have no content.
type sweep struct{ *sweeper.Sweeper }

func (s sweep) invoke(ctx context.Context, _ json.RawMessage) (any, error) { return nil, s.Invoke(ctx) }

// handler returns the handler of a worker's Invoke.
func handler[I, O any](invoke func(context.Context, I) (O, error)) bus.Handler {
	return func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
		var in I
		if err := json.Unmarshal(payload, &in); err != nil {
			return nil, fmt.Errorf("stack: decode the event: %w", err)
		}
		out, err := invoke(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// workersApart returns the workers' own binaries by name.
func (s *Stack) workersApart() map[string]bus.Handler {
	all := map[string]bus.Handler{}
	s.workers = s.processes()
	for _, w := range busConfig(s.config.Region, s.config.Transcriber).Workers {
		if w.Source == workers.Log {
			continue
		}
		s.workers.time = time.Duration(w.Seconds) * time.Second
		all[w.Name] = binary{s.workers.function(w.Name)}.handle
	}
	return all
}

// binary is the function of a worker's own binary.
type binary struct{ *runtimeapi.Function }

// handle invokes the function.
func (b binary) handle(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
	return b.Invoke(ctx, payload)
}

// stopBus ends the workers and the local bus.
func (s *Stack) stopBus() (err error) {
	if s.jobs != nil {
		s.jobs.Stop() // An end that comes later would find no bus.
	}
	if s.bus != nil {
		err = s.bus.Stop()
	}
	if s.workers != nil {
		s.workers.stop()
	}
	return err
}

// masterKey is the master key of a region.
type masterKey string

// load returns the key.
func (k masterKey) load(context.Context) ([]byte, error) { return []byte(k), nil }

// Keys returns the keys of a region with a folder for its data; the folder of a region in memory is empty.
func Keys(dir string) (*secret.Keys, error) {
	key, err := bus.MasterKey(dir)
	return &secret.Keys{Load: masterKey(key).load}, err
}

// environment returns the variables by which a function's own binary finds the bucket and the local
// bus.
func (s *Stack) environment(name string) []string {
	bucket := s.bucketOf(name).Variables()
	if s.bus == nil {
		return bucket
	}
	address := s.busAddress(name)
	return append(append(bucket, bus.At(address, busConfig(s.config.Region, s.config.Transcriber)).Variables()...),
		"AWS_ENDPOINT_URL_SQS="+address, "AWS_ENDPOINT_URL_EVENTBRIDGE="+address, "AWS_ENDPOINT_URL_SECRETS_MANAGER="+address,
		"AWS_ENDPOINT_URL_TRANSCRIBE="+address,
		"LECTERN_KEYS="+bus.Secret(s.config.Region), "LECTERN_LOCAL_RECEIVERS=1")
}
