// Package bus takes the place of SQS, EventBridge, Secrets Manager and the event sources of Lambda on
// one machine. A server speaks the JSON protocols of the three services, so that the functions use
// the clients of AWS. The sources invoke the workers of package events: with messages of queues, by
// the clock, and with the new change records of the table, which the follower reads from the feed.
// A kill of the process loses no message that the server has accepted.
//
// Read bus.go, server.go, calls.go, rules.go, secret.go; then queue.go, journal.go; then sources.go,
// follower.go, mark.go.
package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/events"
	shared "lectern/shared/bus"
	"lectern/shared/table"
)

// Config describes the bus of a region.
type Config struct {
	// Region is the region's name in tokens, AWSRegion the AWS region.
	Region, AWSRegion string
	// Dir is the folder for queues, key and mark; empty keeps the three in memory.
	Dir string
	// Rules are the rules of the bus, Workers the readers of the queues.
	Rules   []events.Rule
	Workers []events.Worker
	Log     *slog.Logger
	// Transcribe answers the calls of Amazon Transcribe; nil refuses the calls.
	Transcribe http.Handler
	// Now is the clock of queues and follower.
	Now func() time.Time
}

// Handler invokes a worker with a payload and returns the answer, both JSON.
type Handler func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error)

// Sources describes what invokes the workers.
type Sources struct {
	// Handlers has the workers by name. Nothing invokes a worker without a handler.
	Handlers map[string]Handler
	// Table has the change records for the publisher.
	Table *table.Table
	// Poll is the time between two reads of the feed.
	Poll time.Duration
	// Most limits the invocations of a worker at the same time; 0 leaves the limit of the worker.
	Most int
}

// Bus is a running server with the sources.
type Bus struct {
	// URL is the address of the server.
	URL    string
	config Config
	key    string
	queues *queues
	server *http.Server
	told   chan table.Key
	// wrote gets a value after another process may have written.
	wrote chan struct{}
	// running counts the goroutines of the sources. stop ends the sources, abandon their invocations.
	running       sync.WaitGroup
	stop, abandon context.CancelFunc
}

// headerTime limits the time for the header of a call.
const headerTime = 10 * time.Second

// Open reads the data of the folder and starts the server. Run starts the sources.
func Open(c Config) (*Bus, error) {
	key, err := MasterKey(c.Dir)
	if err != nil {
		return nil, err
	}
	all, err := openQueues(c)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bus: %w", err), all.close())
	}
	b := &Bus{
		URL: "http://" + listener.Addr().String(), config: c, key: key, queues: all, told: make(chan table.Key, maxTold),
		wrote: make(chan struct{}, 1),
		stop:  func() {}, abandon: func() {},
	}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: headerTime}
	go func() { _ = b.server.Serve(listener) }() // It ends with Stop.
	return b, nil
}

// Run starts the sources of the workers.
func (b *Bus) Run(s Sources) error {
	var following *follower
	if s.Handlers[events.Publisher] != nil {
		var err error
		if following, err = b.newFollower(s); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	working, abandon := context.WithCancel(context.Background())
	b.stop, b.abandon = stop, abandon
	for _, w := range b.config.Workers {
		handle := s.Handlers[w.Name]
		if handle == nil {
			continue
		}
		called := invocation{worker: w, handle: handle, working: working}
		switch w.Source {
		case events.Queue:
			c := b.newConsumer(called, s.Most)
			b.running.Go(func() { c.run(ctx) })
		case events.Schedule:
			b.running.Go(func() { called.each(ctx, b.config.Log) })
		case events.Stream:
			following.invocation = called
			b.running.Go(func() { following.run(ctx) })
		case events.Log: // The subscription of the log invokes the reader of the log.
		}
	}
	return nil
}

// stopTime is the time that open invocations have to end.
const stopTime = 5 * time.Second

// Stop ends the sources, waits a little for open invocations, and closes the server. The messages of
// abandoned invocations stay in their queues.
func (b *Bus) Stop() error {
	b.stop()
	ended := make(chan struct{})
	go func() {
		b.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopTime):
	}
	b.abandon()
	<-ended
	if err := b.server.Close(); err != nil {
		return errors.Join(fmt.Errorf("bus: %w", err), b.queues.close())
	}
	return b.queues.close()
}

// At returns where a function finds the bus and every queue of a region whose server has an address.
func At(address string, c Config) shared.Config {
	all := shared.Config{Endpoint: address, Region: c.AWSRegion, Bus: c.prefix(), Queues: map[string]string{}}
	for _, name := range c.queues() {
		all.Queues[name] = c.urlOf(address, name)
	}
	return all
}

// queues returns the names of the queues: those of the workers, each with its dead-letter queue, and
// the dead-letter queue of the changes.
func (c Config) queues() []string {
	names := []string{shared.Dead(shared.Changes)}
	for _, w := range c.Workers {
		if w.Source == events.Queue {
			names = append(names, w.From, shared.Dead(w.From))
		}
	}
	return names
}

// prefix returns the name of the bus, which begins the names of the queues, as on AWS.
func (c Config) prefix() string { return "lectern-" + c.Region }

// urlOf returns the URL of a queue.
func (c Config) urlOf(address, name string) string {
	return address + "/000000000000/" + c.prefix() + "-" + name
}

// Wrote makes the follower read the feed soon: another process may have written a change.
func (b *Bus) Wrote() {
	select {
	case b.wrote <- struct{}{}:
	default: // The follower has not read since the last call.
	}
}

// Secret returns the name of the secret with the master key of a region.
func Secret(region string) string { return "lectern/" + region + "/keys" }

// teller tells the follower of the change records that a client writes.
type teller struct {
	table.Client
	told chan<- table.Key
}

// Tell returns a client that tells the follower of each change record.
func (b *Bus) Tell(client table.Client) table.Client { return teller{client, b.told} }

// TransactWriteItems forwards the call. It also tells of a transaction without an answer, since the
// follower looks whether the record exists.
func (t teller) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := t.Client.TransactWriteItems(ctx, in, o...)
	for _, w := range in.TransactItems {
		if w.Put == nil || text(w.Put.Item["k"]) != table.KindChange {
			continue
		}
		select {
		case t.told <- table.Key{PK: text(w.Put.Item["PK"]), SK: text(w.Put.Item["SK"])}:
		default: // The next read of the feed finds the record.
		}
	}
	return out, err
}

// text returns the value of an attribute that is a text, or else nothing.
func text(value types.AttributeValue) string {
	if t, ok := value.(*types.AttributeValueMemberS); ok {
		return t.Value
	}
	return ""
}
