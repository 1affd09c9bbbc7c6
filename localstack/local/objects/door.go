package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"
)

// headerTime limits the time for the header of a call.
const headerTime = 10 * time.Second

// Door is the address of a bucket. The first call starts the server, so that a region without bytes
// starts none. The data ends with the door.
type Door struct {
	bucket Bucket
	http   *http.Server

	mu     sync.Mutex
	dir    string
	server *Server
	closed bool
}

// Open opens a door to a new bucket. awsRegion is the AWS region of signatures.
func Open(name, awsRegion string) (*Door, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	d := &Door{bucket: newServer(listener.Addr().String(), awsRegion, rand.Text()).Bucket(name)}
	d.http = &http.Server{Handler: d, ReadHeaderTimeout: headerTime}
	go func() { _ = d.http.Serve(listener) }() // It ends with Close.
	return d, nil
}

// Bucket returns the bucket with the address of the door.
func (d *Door) Bucket() Bucket { return d.bucket }

// ServeHTTP forwards a call to the server unchanged: the signature has host and path.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	server, err := d.started(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	(&httputil.ReverseProxy{Rewrite: server.rewrite, ErrorHandler: abort}).ServeHTTP(w, r)
}

// abort closes the caller's connection without an answer.
func abort(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// rewrite sends a call to the server with the host of its signature.
func (s *Server) rewrite(p *httputil.ProxyRequest) {
	p.SetURL(&url.URL{Scheme: "http", Host: s.URL[len("http://"):]})
	p.Out.Host = p.In.Host
}

// started returns the server. The first call starts it.
func (d *Door) started(ctx context.Context) (*Server, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return d.server, nil
	}
	if d.closed {
		return nil, errors.New("objects: the door is closed")
	}
	err := d.start(context.WithoutCancel(ctx))
	return d.server, err
}

// start starts the server with the key pair of the door, and creates the bucket.
func (d *Door) start(ctx context.Context) (err error) {
	if d.dir == "" {
		if d.dir, err = os.MkdirTemp("", "lectern-objects"); err != nil {
			return fmt.Errorf("objects: %w", err)
		}
	}
	server, err := start(ctx, d.dir, d.bucket.AWSRegion, d.bucket.SecretKey)
	if err != nil {
		return err
	}
	if err := server.CreateBucket(ctx, d.bucket.Name); err != nil {
		return errors.Join(err, server.Stop())
	}
	d.server = server
	return nil
}

// Close closes the door, and ends the server and the data.
func (d *Door) Close() error {
	err := d.http.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed = true; d.server != nil {
		err = errors.Join(err, d.server.Stop())
	}
	if d.dir != "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	if err != nil {
		return fmt.Errorf("objects: close the door: %w", err)
	}
	return nil
}
