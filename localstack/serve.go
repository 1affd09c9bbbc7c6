package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lectern/localstack/stack"
	"lectern/shared/table/faulty"
)

const (
	// drainTime is how long requests that have begun may take when the service
	// stops.
	drainTime = 10 * time.Second
	// logName is the file beside a region's data that gets a line a request.
	logName = "lectern.log"
)

// served is a region that is being served.
type served struct {
	region
	name     string
	stack    *stack.Stack
	instance *stack.Instance
	log      *os.File
}

// serve starts a region on its own data and seeds it. After an error nothing
// of it runs.
func serve(ctx context.Context, o options, name string) (*served, error) {
	s := &served{name: name}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("region %s: %w", name, err), s.stop())
	}
	return s, nil
}

// start starts one part after the other, up to the first that fails.
func (s *served) start(ctx context.Context, o options) (err error) {
	folder := filepath.Join(o.data, s.name)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("make the folder for the data: %w", err)
	}
	if s.log, err = os.OpenFile(filepath.Join(folder, logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	config := stack.Config{
		Region: s.name, Dir: folder, AdminURL: strings.TrimSuffix(o.adminURL, "/"), Log: log, Functions: o.functions, Output: s.log,
	}
	if o.asAWS {
		config.Wrap = faulty.AsAWS
	}
	if s.stack, err = stack.Start(ctx, config); err != nil {
		return err
	}
	port := *o.ports[s.name]
	s.instance, err = s.stack.Serve(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is taken; choose another with --%s-port, or 0 for a free one", port, s.name)
	}
	if err != nil {
		return err
	}
	s.URL, s.Engine = s.instance.URL, s.stack.EngineURL
	s.seed, err = seeded(ctx, o.data, here(s.instance.Env))
	return err
}

// answers is nil when the region answers a request with its token.
func (s *served) answers(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/events", http.NoBody)
	if err != nil {
		return fmt.Errorf("region %s: %w", s.name, err)
	}
	request.Header.Set("X-Access-Token", s.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("region %s: %w", s.name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("region %s answers %s to the token of its %s, which may be of other data or of another service",
			s.name, response.Status, seedName)
	}
	return nil
}

// stop ends what of the region has been started.
func (s *served) stop() (err error) {
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
