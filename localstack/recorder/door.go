package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// headerTime bounds how long a function may take to send the header of a call.
const headerTime = 10 * time.Second

// Door is where the functions of one stack call its engine.
type Door struct {
	// URL is its address.
	URL      string
	recorder *Recorder
	server   *http.Server
	forward  *httputil.ReverseProxy
}

// Open opens a door to the engine at an address.
func (r *Recorder) Open(engine string) (*Door, error) {
	to, err := url.Parse(engine)
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening takes no time
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	d := &Door{URL: "http://" + listener.Addr().String(), recorder: r, forward: &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.Host = to.Scheme, to.Host, "/", p.In.Host
		},
		Transport: &http.Transport{DisableCompression: true, MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute},
		// A call that the engine does not answer is not answered here either.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: headerTime}
	go func() { _ = d.server.Serve(listener) }() // It ends with Close.
	return d, nil
}

// Address is where a function calls the engine, by its group's name.
func (d *Door) Address(group string) string { return d.URL + "/" + group }

// Close closes the door.
func (d *Door) Close() error {
	if err := d.server.Close(); err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	return nil
}

// ServeHTTP notes one call and passes it on as it is, or refuses it.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The function has gone before it sent its call.
	}
	group, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	all, err := needed(group, r.Header.Get("X-Amz-Target"), body)
	if err != nil {
		refuse(w, "SerializationException", err.Error())
		return
	}
	if p := d.recorder.note(all); p != nil {
		refuse(w, "AccessDeniedException", fmt.Sprintf("%s is not authorized to perform %s on %s", p.Group, p.Action, p.Pattern))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.forward.ServeHTTP(w, r)
}

// refuse answers an error as DynamoDB does.
func refuse(w http.ResponseWriter, name, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{ //nolint:errchkjson // a function that has gone needs no answer
		"__type": "com.amazon.coral.service#" + name, "Message": message,
	})
}
