// Package server serves a group behind a load balancer, without a gateway and without a Lambda. A form of any
// size is read as it comes. Read server.go, then event.go, which the door of one machine uses too.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
)

const (
	// Health is the path at which the load balancer asks whether the server takes requests. No request of a
	// client has the path.
	Health = "/health"
	// headerTime is the time in which the headers of a request must come.
	headerTime = 29 * time.Second
	// idleTime is the time for which a connection without requests stays open. It is longer than that of the load
	// balancer (infra/uploads), which would otherwise send a request into a connection that ends.
	idleTime = 2 * time.Minute
	// maxHeaders is the size of all headers of a request, the limit of API Gateway.
	maxHeaders = 10240
	// lastTime is the time in which the requests must end that a server has when it ends. ECS kills the server
	// after two minutes.
	lastTime = 110 * time.Second
)

// Server serves the group of an environment.
type Server struct {
	group http.Handler
	env   api.Env
	stage string
}

// New returns a server of a group. The paths begin with the stage; with an empty stage they are those of a domain.
func New(group api.Group, env api.Env, stage string) *Server {
	return &Server{group.Handler(env), env, stage}
}

// Run answers the requests of a listener until ctx ends. Then it takes no more connections, and waits for the
// requests that have begun.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		ErrorLog: slog.NewLogLogger(s.env.Log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("server: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	if err := h.Shutdown(last); err != nil {
		return errors.Join(fmt.Errorf("server: requests have not ended: %w", err), h.Close())
	}
	return nil
}

// ServeHTTP passes a request to the group while its body comes.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == Health {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	path, found := Below(s.stage, r.URL.EscapedPath())
	if !found {
		RefuseStage(w)
		return
	}
	event := Event(r, Request{
		ID: s.env.NewID(), At: s.env.Now(), Stage: s.stage, Path: path, Scheme: "https", Client: client(r),
	})
	if err := api.Stream(w, r, s.group, event); err != nil {
		s.env.Log.Error("no answer from the group", "request_id", event.RequestContext.RequestID, "method", r.Method, "error", err)
		Refuse(w, event.RequestContext.RequestID, apierr.Internal())
	}
}

// client returns the address of the client, the last one in X-Forwarded-For: CloudFront adds it, and the load
// balancer keeps the header. Only CloudFront reaches the load balancer, so no client can choose the address.
func client(r *http.Request) string {
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if last := strings.TrimSpace(all[len(all)-1]); last != "" {
		return last
	}
	return Host(r.RemoteAddr)
}

// Refuse answers a request that no group has answered, as API Gateway does (infra/gateway). id is the id of
// the request.
func Refuse(w http.ResponseWriter, id string, e *apierr.Error) {
	header := w.Header()
	for name, value := range api.CommonHeader() {
		header.Set(name, value)
	}
	header.Set("Content-Type", "application/json")
	header.Set("X-Request-Id", id)
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e) //nolint:errchkjson // a client that has gone needs no answer
}

// RefuseStage answers a path outside of the stage as the servers before the API do. No gateway
// response applies.
func RefuseStage(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte(`{"message":"Forbidden"}`)) // A client that has gone needs no answer.
}
