package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"lectern/functions/operator"
	"lectern/localstack/content/seed"
	"lectern/localstack/local/datadir"
	"lectern/localstack/local/faulty"
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/speech"
)

const (
	// drainTime is the time that open requests have to finish after a signal.
	drainTime = 10 * time.Second
	// maintainEvery is the time between two calls of maintenance. A call without work costs
	// a read.
	maintainEvery = time.Hour
	// logName is the file beside a region's data with a line for each request.
	logName = "lectern.log"
)

// options holds the flags of `lectern up`.
type options struct {
	data   string
	ports  map[string]*int
	noDemo bool
	// adminURL is the address of the admin application; empty leaves admin_url null.
	adminURL string
	// functions is the folder of the groups' binaries, to run them as Lambda does; empty
	// runs the groups in this process.
	functions string
	// transcriber is the transcriber of both regions; empty for none.
	transcriber string
	// asAWS makes the engine conflict and throttle as AWS does.
	asAWS bool
	out   io.Writer
}

// upCommand declares `lectern up`.
func upCommand(data *string) *cobra.Command {
	o := options{ports: map[string]*int{}}
	c := &cobra.Command{
		Use:   "up",
		Short: "Serve both regions until a signal comes.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.data, o.out, o.transcriber = *data, c.OutOrStdout(), os.Getenv(api.VariableTranscriber)
			if o.transcriber != "" && o.transcriber != speech.StandIn {
				return fmt.Errorf("%s must be %s on this machine, or not set: %q", api.VariableTranscriber, speech.StandIn, o.transcriber)
			}
			return up(c.Context(), o)
		},
	}
	for i, name := range datadir.Names {
		o.ports[name] = c.Flags().Int(name+"-port", 8080+i, "port of the "+name+" region; 0 is a free one")
	}
	c.Flags().StringVar(&o.adminURL, "admin-url", "", "address of the admin application, for admin_url; it is null without")
	c.Flags().BoolVar(&o.noDemo, "no-demo", false, "make the organization, an event and a token, but no demo conference")
	c.Flags().StringVar(&o.functions, "processes", "", "run the groups' own binaries, which 'make functions' builds, as Lambda "+
		"does; the folder they are in")
	c.Flags().Lookup("processes").NoOptDefVal = stack.Binaries()
	c.Flags().BoolVar(&o.asAWS, "as-aws", false, "cancel conflicting transactions and throttle hot partitions, as AWS does")
	c.MarkFlagsMutuallyExclusive("processes", "as-aws")
	return c
}

// up serves both regions until ctx ends, then stops everything.
func up(ctx context.Context, o options) (err error) {
	lock, err := datadir.Lock(o.data)
	if err != nil {
		return err
	}
	defer lock.Close()
	// A killed process leaves the file behind.
	if err := datadir.RemoveEnv(o.data); err != nil {
		return err
	}
	state := datadir.State{PID: os.Getpid(), Regions: map[string]datadir.Region{}}
	var all []*server
	defer func() {
		for _, s := range slices.Backward(all) {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range datadir.Names {
		s, err := serve(ctx, o, name)
		if err != nil {
			return err
		}
		all = append(all, s)
		state.Regions[name] = s.Region
	}
	if !o.noDemo {
		provider, err := openSignIn(ctx, all)
		if err != nil {
			return err
		}
		defer func() { _ = provider.Stop() }() // It keeps nothing.
	}
	if err := state.Write(lock); err != nil {
		return err
	}
	if err := o.ready(ctx, all, state.Regions); err != nil && ctx.Err() == nil {
		return err
	}
	var maintaining sync.WaitGroup
	for _, s := range all {
		maintaining.Go(func() { s.maintain(ctx) })
	}
	<-ctx.Done()
	fmt.Fprintln(o.out, "Stopping.")
	maintaining.Wait()
	return datadir.RemoveEnv(o.data)
}

// ready fills empty demo events, checks that every region answers, and then prints the
// addresses.
func (o options) ready(ctx context.Context, all []*server, regions map[string]datadir.Region) error {
	var group errgroup.Group
	for _, s := range all {
		group.Go(func() error { return o.prepare(ctx, s) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	path, err := datadir.WriteEnv(o.data, regions)
	if err != nil {
		return err
	}
	o.announce(all, path)
	return nil
}

// prepare fills an empty demo event and checks that the region answers.
func (o options) prepare(ctx context.Context, s *server) error {
	if !o.noDemo && !s.Filled {
		fmt.Fprintf(o.out, "Making the demo conference of %s.\n", s.seed.Name)
		if _, err := s.seed.Fill(ctx, s.URL, s.Seed); err != nil {
			return fmt.Errorf("region %s: %w", s.seed.Name, err)
		}
	}
	return s.CheckToken(ctx, s.seed.Name)
}

// announce prints the addresses of the regions.
func (o options) announce(all []*server, path string) {
	fmt.Fprintf(o.out, "Lectern is up. Stop it with Ctrl-C or `make stop`.\n")
	for _, s := range all {
		fmt.Fprintf(o.out, "\n  %-6s %s\n  docs   %s/docs\n  demo   organization %d, event %d\n  token  %s\n  log    %s\n",
			s.seed.Name, s.URL, s.URL, s.Organization, s.Event, s.Token, s.log.Name())
	}
	if !o.noDemo {
		fmt.Fprintf(o.out, "\nMembers sign in at /oauth/signin, as %s for example. Assistants connect to /mcp.\n", seed.People[0].Email)
	}
	if o.transcriber != "" {
		fmt.Fprintf(o.out, "\nThe transcriber is a stand-in: each film gets the same text, which says so.\n")
	}
	fmt.Fprintf(o.out, "\nThe same as shell variables: . %s\n", path)
}

// server serves a region.
type server struct {
	datadir.Region
	seed     seed.Region
	stack    *stack.Stack
	instance *stack.Instance
	log      *os.File
}

// serve starts a region on its data and loads the seed. After an error, everything is stopped.
func serve(ctx context.Context, o options, name string) (*server, error) {
	s := &server{seed: seed.Region{Data: o.data, Name: name}}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("region %s: %w", name, err), s.stop())
	}
	return s, nil
}

// start starts the parts of a region until the first error.
func (s *server) start(ctx context.Context, o options) (err error) {
	name := s.seed.Name
	folder := datadir.Folder(o.data, name)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("make the folder for the data: %w", err)
	}
	if s.log, err = os.OpenFile(filepath.Join(folder, logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	log := api.NewLog(s.log)
	config := stack.Config{
		Region: name, Dir: folder, AdminURL: strings.TrimSuffix(o.adminURL, "/"), Log: log, Functions: o.functions, Output: s.log,
		Ingest: true, Publish: true, OpenRegistration: true, Scanner: os.Getenv("LECTERN_SCANNER"), Transcriber: o.transcriber,
	}
	if o.asAWS {
		config.Wrap = faulty.AsAWS
	}
	if s.stack, err = stack.Start(ctx, config); err != nil {
		return err
	}
	port := *o.ports[name]
	s.instance, err = s.stack.Serve(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is taken; choose another with --%s-port, or 0 for a free one", port, name)
	}
	if err != nil {
		return err
	}
	s.URL, s.Engine, s.Bus, s.Bucket = s.instance.URL, s.stack.EngineURL, s.stack.BusURL, s.stack.Bucket
	s.Transcriber = o.transcriber
	env := s.instance.Env
	env.Places = stack.Places(name, s.Bus, s.Transcriber)
	s.seed.Operator = localOperator{env}
	s.Seed, err = s.seed.Load(ctx)
	return err
}

// maintain calls maintenance until ctx ends. The region's log has the errors.
func (s *server) maintain(ctx context.Context) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = s.seed.Operator.Do(ctx, operator.Maintain, json.RawMessage("{}"))
		case <-ctx.Done():
			return
		}
	}
}

// stop stops the started parts of the region.
func (s *server) stop() (err error) {
	if s.instance != nil {
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		err = s.instance.Stop(ctx)
	}
	if s.stack != nil {
		err = errors.Join(err, s.stack.Stop())
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return err
}
