// Package stack runs the service of one region on this machine: the DynamoDB
// engine, the table, and an HTTP door that stands where API Gateway stands on
// AWS and calls the same handlers through the same adapter. It owns no rule of
// the API; what is served is functions.Groups.
package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lectern/functions"
	"lectern/functions/operator"
	"lectern/localstack/engine"
	"lectern/localstack/recorder"
	"lectern/shared/api"
	"lectern/shared/table"
)

// Regions maps the name of a region, as tokens carry it, to its AWS region.
var Regions = map[string]string{"us": "us-east-1", "eu": "eu-central-1"}

// Config says how to run a region.
type Config struct {
	// Region is a key of Regions.
	Region string
	// Table is the table's name; empty is lectern-<region>, so that two regions
	// may stand on one engine.
	Table string
	// Dir keeps the data; empty keeps it in memory, to be gone with the stack.
	Dir string
	// AdminURL is Env.AdminURL.
	AdminURL string
	// Log gets a line a request; nil discards them.
	Log *slog.Logger
	// Functions is the folder of the groups' binaries, <group>/bootstrap, which are then
	// run as Lambda does; empty runs the groups in this process. What they print goes
	// to Output; nil discards it.
	Functions string
	Output    io.Writer
	// Recorder stands between those functions and the engine; nil is nothing.
	Recorder *recorder.Recorder
	// Wrap stands something between the service and the engine, such as a door
	// that makes faults; nil is nothing.
	Wrap func(table.Client) table.Client
}

// Stack is a region that runs.
type Stack struct {
	// EngineURL is the address of the DynamoDB engine.
	EngineURL string
	config    Config
	engine    *engine.Engine
	client    table.Client
	// record is the recorder's door to the engine, if it has one.
	record *recorder.Door
}

// Instance is the service with a door and a memory of its own, as one Lambda
// instance of each group has. Instances of a stack share its table and nothing
// else.
type Instance struct {
	// URL is the base address, such as http://127.0.0.1:8080.
	URL string
	// Env is what the groups were started with, where they run in this process.
	Env       api.Env
	do        func(context.Context, string, json.RawMessage) (any, error)
	server    *http.Server
	processes *processes
}

// Start starts the engine and makes the table where it is not there yet. It
// serves nothing until Serve is called.
func Start(ctx context.Context, c Config) (*Stack, error) {
	if c.Table == "" {
		c.Table = TableName(c.Region)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Output == nil {
		c.Output = io.Discard
	}
	if err := c.built(); err != nil {
		return nil, err
	}
	e, err := engine.Start(ctx, engine.Config{Dir: c.Dir, InMemory: c.Dir == ""})
	if err != nil {
		return nil, err
	}
	client, err := Connect(ctx, c.Region, e.URL, c.Table)
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	if c.Wrap != nil {
		client = c.Wrap(client)
	}
	s := &Stack{EngineURL: e.URL, config: c, engine: e, client: client}
	if c.Recorder != nil {
		if s.record, err = c.Recorder.Open(e.URL); err != nil {
			return nil, errors.Join(err, e.Stop())
		}
	}
	return s, nil
}

// TableName is the name of a region's table unless a Config says another.
func TableName(region string) string { return "lectern-" + region }

// Connect gives a client of a region's engine that runs, and makes the table
// where it is not there yet.
func Connect(ctx context.Context, region, engineURL, tableName string) (table.Client, error) {
	client, err := table.Open(ctx, table.Config{Endpoint: engineURL, Region: Regions[region]})
	if err != nil {
		return nil, err
	}
	return client, table.Create(ctx, client, tableName)
}

// NewEnv is an environment for the groups on a region's table, with the real
// clock, random ids and an empty memory.
func NewEnv(region string, t *table.Table, log *slog.Logger) api.Env {
	t.Log = log
	return api.Env{
		Region: region,
		Table:  t,
		Now:    time.Now,
		NewID:  uuid.NewString,
		Log:    log,
		Memory: &api.Memory{},
	}
}

// Serve starts an instance at the address. That the port is taken is an error
// that says so.
func (s *Stack) Serve(address string) (*Instance, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	env := NewEnv(s.config.Region, table.New(s.client, s.config.Table), s.config.Log)
	env.AdminURL = s.config.AdminURL
	function, p := inProcess(env), (*processes)(nil)
	do := operator.New(env).Do
	if s.config.Functions != "" {
		p = s.processes()
		function, do = p.group, p.operator()
	}
	i := &Instance{URL: "http://" + listener.Addr().String(), Env: env, do: do, processes: p, server: &http.Server{
		Handler:           newDoor(env, functions.Groups, function),
		ReadHeaderTimeout: timeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn),
	}}
	go func() { _ = i.server.Serve(listener) }() // It ends with Stop.
	return i, nil
}

// Do does an operator command where the groups run and gives its answer as JSON. It is
// an *apierr.Error when the command or its input is refused.
func (i *Instance) Do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	answer, err := i.do(ctx, command, input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// Stop finishes the requests that have begun, for as long as ctx allows, and
// closes the door.
func (i *Instance) Stop(ctx context.Context) error {
	if i.processes != nil {
		defer i.processes.stop()
	}
	if err := i.server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("stack: %w", err), i.server.Close())
	}
	return nil
}

// inProcess gives the functions of groups that run in this process.
func inProcess(env api.Env) func(api.Group) lambda {
	return func(g api.Group) lambda { return api.Proxy(g.Handler(env)) }
}

// Stop stops the engine. Instances are stopped before it.
func (s *Stack) Stop() (err error) {
	if s.record != nil {
		err = s.record.Close()
	}
	return errors.Join(err, s.engine.Stop())
}

// TableName is the name of its table.
func (s *Stack) TableName() string { return s.config.Table }

// Engine is the engine, for a test that kills it.
func (s *Stack) Engine() *engine.Engine { return s.engine }

// host is the address without its port.
func host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
