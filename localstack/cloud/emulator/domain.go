package emulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"lectern/localstack/cloud/target"
)

// headerTime limits the headers of a request to a door.
const headerTime = 10 * time.Second

// AtDomains returns the regions with the addresses of doors: each door is a server on this machine
// that passes requests on to the emulator for the host of the region's API. A machine resolves no
// such host by itself. Stop ends the doors. The app must have been deployed with a domain for each
// region.
func (e *Emulator) AtDomains(ctx context.Context, a App, regions target.Regions) (target.Regions, error) {
	options, err := a.options()
	if err != nil {
		return nil, err
	}
	at := target.Regions{}
	for name, region := range regions {
		settings, _ := options[name].(map[string]any)
		domain, _ := settings["domain"].(map[string]any)
		host, _ := domain["name"].(string)
		if host == "" {
			return nil, fmt.Errorf("emulator: %s has no domain", name)
		}
		if region.URL, err = e.door(ctx, host); err != nil {
			return nil, err
		}
		region.Domain = host
		at[name] = region
	}
	return at, nil
}

// door starts a door for a host and returns the door's address.
func (e *Emulator) door(ctx context.Context, host string) (string, error) {
	to, err := url.Parse(e.URL)
	if err != nil {
		return "", fmt.Errorf("emulator: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return "", fmt.Errorf("emulator: %w", err)
	}
	server := &http.Server{ReadHeaderTimeout: headerTime, Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = host
	}}}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	e.doors = append(e.doors, func() error {
		closed := server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(closed, err)
		}
		return closed
	})
	return "http://" + listener.Addr().String(), nil
}
