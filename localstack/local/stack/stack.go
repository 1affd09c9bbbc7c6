// Package stack runs the service of a region on this machine: the DynamoDB engine, the table,
// and an HTTP door in place of API Gateway. The door calls the same handlers through the same
// adapter. The rules of the API are elsewhere; functions.Groups lists the served groups.
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
	"sync"
	"time"

	"github.com/google/uuid"

	"lectern/functions"
	"lectern/localstack/local/bus"
	"lectern/localstack/local/engine"
	"lectern/localstack/local/objects"
	"lectern/localstack/local/recorder"
	"lectern/localstack/local/transcribe"
	"lectern/shared/api"
	"lectern/shared/scan"
	"lectern/shared/secret"
	"lectern/shared/table"
)

// Regions maps a region, as named in tokens, to an AWS region.
var Regions = map[string]string{"us": "us-east-1", "eu": "eu-central-1"}

// Config describes a region to run.
type Config struct {
	// Region is a key of Regions.
	Region string
	// Table is the table's name; empty means lectern-<region>, so that two regions can share
	// an engine.
	Table string
	// Dir is the folder for the data; empty keeps the data in memory.
	Dir string
	// Stage serves below a stage, as API Gateway does for an API without a domain of its own;
	// empty serves at the root.
	Stage string
	// AdminURL is Env.AdminURL.
	AdminURL string
	// Log gets a line for each request; nil drops the lines.
	Log *slog.Logger
	// Functions is the folder of the groups' binaries, <group>/bootstrap, to run them as
	// Lambda does; empty runs the groups in this process. Output gets the output of the
	// binaries; nil drops the output.
	Functions string
	Output    io.Writer
	// Apart gives each function in this process a memory and a table client of its own, as on
	// Lambda. Otherwise the functions share both, which takes less memory.
	Apart bool
	// Recorder stands between the functions and the engine; nil for a direct connection. In
	// this process it sees the calls of functions that are Apart.
	Recorder *recorder.Recorder
	// Ingest stores the log of requests, as the subscription of the log does on AWS. Without it,
	// the table has no items but those of the requests.
	Ingest bool
	// Publish starts the local bus and the workers that follow a change, as the stream of the table
	// does on AWS. Without it, no change is published.
	Publish bool
	// Transcriber is the transcriber of the region: speech.StandIn, which needs Publish; empty for none.
	Transcriber string
	// Settling is the time between the rounds of an erasure, and before a worker finishes a commit, of functions in
	// this process, in whole seconds; 0 is that of a deployed service.
	Settling time.Duration
	// Scanner is the setting of the scanner of bytes, as in the variable of a function; empty means none.
	Scanner string
	// OpenRegistration lets applications register themselves.
	OpenRegistration bool
	// Routes, unless nil, collects the routes of the requests.
	Routes *Routes
	// Wrap puts a door between the service and the engine, for example a door that makes
	// faults; nil for a direct connection.
	Wrap func(table.Client) table.Client
}

// Stack is a running region.
type Stack struct {
	// EngineURL is the address of the DynamoDB engine.
	EngineURL string
	// BusURL is the address of the local bus; empty without one.
	BusURL string
	// Bucket is the bucket for bytes.
	Bucket objects.Bucket
	config Config
	engine *engine.Engine
	client table.Client
	key    masterKey
	// bus and workers are nil without Config.Publish; binaries need the bus in any case.
	bus     *bus.Bus
	workers *processes
	// scanner is Config.Scanner.
	scanner scan.Scanner
	// jobs is the stand-in of the transcriber; nil without one.
	jobs *transcribe.StandIn
	// server or door has the bucket, see openBucket.
	server *objects.Server
	door   *objects.Door
	// blobs has the store of bytes of each function in this process, by name.
	blobs sync.Map
	// record is the recorder's door to the engine, if any.
	record *recorder.Door
}

// Instance is the service with a separate door and memory, like a single Lambda instance of
// each group. Instances of a stack share only the table.
type Instance struct {
	// URL is the base address, for example http://127.0.0.1:8080, with the stage if any.
	URL string
	// Env is an environment for groups of the test in this process. The groups of the instance
	// share it unless they are Apart.
	Env       api.Env
	do        func(context.Context, string, json.RawMessage) (any, error)
	server    *http.Server
	processes *processes
	// ingesting stores the log of requests; nil without Config.Ingest.
	ingesting *ingesting
}

// Start starts the engine and creates a missing table. Serve starts the service.
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
	scanner, err := scan.Parse(c.Scanner)
	if c.Scanner == scan.Amazon {
		err = fmt.Errorf("must not be %s: GuardDuty scans on AWS alone", scan.Amazon)
	}
	if err != nil {
		return nil, fmt.Errorf("stack: LECTERN_SCANNER %w", err)
	}
	s := &Stack{config: c, scanner: scanner}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// start starts the parts of the region until the first error.
func (s *Stack) start(ctx context.Context) (err error) {
	c := s.config
	if s.engine, err = engine.Start(ctx, engine.Config{Dir: c.Dir, InMemory: c.Dir == ""}); err != nil {
		return err
	}
	s.EngineURL = s.engine.URL
	direct, err := Connect(ctx, c.Region, s.EngineURL, c.Table)
	if err != nil {
		return err
	}
	if err := s.openBucket(ctx); err != nil {
		return err
	}
	key, err := bus.MasterKey(c.Dir)
	if err != nil {
		return err
	}
	s.key = masterKey(key)
	if s.client = direct; c.Wrap != nil {
		s.client = c.Wrap(direct)
	}
	if err := s.openBus(); err != nil {
		return err
	}
	if c.Recorder != nil {
		if s.record, err = c.Recorder.OpenAll(s.EngineURL, s.BusURL); err != nil {
			return err
		}
	}
	if c.Publish {
		s.client = s.bus.Tell(s.client)
	}
	return s.publish(table.New(direct, c.Table))
}

// TableName returns the default name of a region's table.
func TableName(region string) string { return "lectern-" + region }

// Connect returns a client of a region's running engine and creates a missing table.
func Connect(ctx context.Context, region, engineURL, tableName string) (table.Client, error) {
	client, err := table.Open(ctx, table.Config{Endpoint: engineURL, Region: Regions[region]})
	if err != nil {
		return nil, err
	}
	return client, table.Create(ctx, client, tableName)
}

// NewEnv returns an environment for the groups on a region's table, with the real clock, random
// ids, the master key of a region without a folder, no bucket, holding slides and an empty memory.
func NewEnv(region string, t *table.Table, log *slog.Logger) api.Env {
	t.Log = log
	keys, _ := Keys("") // The key of a region without a folder needs no file.
	return api.Env{
		Region:         region,
		Table:          t,
		Now:            time.Now,
		NewID:          uuid.NewString,
		Log:            log,
		Keys:           keys,
		Scanner:        scan.None{},
		HoldingSlides:  true,
		LocalReceivers: true,
		Memory:         &api.Memory{},
	}
}

// Serve starts an instance at the address. For a port in use, the error is EADDRINUSE.
func (s *Stack) Serve(address string) (*Instance, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	env := NewEnv(s.config.Region, table.New(s.client, s.config.Table), s.config.Log)
	env.AdminURL, env.Keys, env.Blobs = s.config.AdminURL, &secret.Keys{Load: s.key.load}, s.Bucket.Store()
	env.Scanner, env.Transcriber, env.OpenRegistration = s.scanner, s.config.Transcriber, s.config.OpenRegistration
	here, p := inProcess{s, env}, (*processes)(nil)
	if s.config.Functions != "" {
		p = s.processes()
	}
	ingest := s.ingest(&here, p)
	functionOf, operator := here.group, here.operator
	if p != nil {
		functionOf, operator = p.group, p.operator
	}
	d := newDoor(env, functions.Groups, functionOf)
	d.stage, d.routes = s.config.Stage, s.config.Routes
	if p != nil && s.config.Publish {
		d.wrote = s.bus.Wrote
	}
	url := "http://" + listener.Addr().String() + stagePath(d.stage)
	i := &Instance{URL: url, Env: env, do: operator(), processes: p, ingesting: ingest, server: &http.Server{
		Handler:           d,
		ReadHeaderTimeout: timeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn),
	}}
	go func() { _ = i.server.Serve(listener) }() // It ends with Stop.
	return i, nil
}

// Do does an operator command and returns the answer as JSON. A refused command or input is an
// *apierr.Error.
func (i *Instance) Do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	answer, err := i.do(ctx, command, input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// Stop waits for open requests, no longer than ctx allows, closes the door, and stores the rest of
// the log of requests.
func (i *Instance) Stop(ctx context.Context) error {
	var err error
	if failed := i.server.Shutdown(ctx); failed != nil {
		err = errors.Join(fmt.Errorf("stack: %w", failed), i.server.Close())
	}
	if i.processes != nil {
		i.processes.stop()
	}
	if i.ingesting != nil {
		err = errors.Join(err, i.ingesting.stop(ctx))
	}
	return err
}

// Stop stops the engine. Stop the instances before.
func (s *Stack) Stop() error {
	err := s.stopBus()
	if s.record != nil {
		err = errors.Join(err, s.record.Close())
	}
	if s.engine != nil {
		err = errors.Join(err, s.engine.Stop())
	}
	return errors.Join(err, s.closeBucket())
}

// TableName returns the name of the stack's table.
func (s *Stack) TableName() string { return s.config.Table }

// Engine returns the engine, for a test that kills the engine.
func (s *Stack) Engine() *engine.Engine { return s.engine }
