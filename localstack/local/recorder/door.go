package recorder

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// headerTime limits the time for the header of a call.
const headerTime = 10 * time.Second

// Door receives the calls of the functions of a stack and forwards them to the engine of the
// call's service.
type Door struct {
	// URL is the address.
	URL      string
	recorder *Recorder
	server   *http.Server
	// engines has the engine of each service that has an engine here.
	engines map[string]*httputil.ReverseProxy
	// buckets has the doors of Bucket.
	mu      sync.Mutex
	buckets []*http.Server
}

// Open opens a door to the engine of DynamoDB at an address.
func (r *Recorder) Open(engine string) (*Door, error) { return r.OpenAll(engine, "") }

// OpenAll opens a door to the engine of DynamoDB and to a local bus, the engine of SQS, EventBridge,
// Secrets Manager and Amazon Transcribe. Without the address of a bus, calls of these services have no
// engine.
func (r *Recorder) OpenAll(engine, bus string) (*Door, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening takes no time
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	d := &Door{URL: "http://" + listener.Addr().String(), recorder: r, engines: map[string]*httputil.ReverseProxy{}}
	for _, service := range []string{dynamoDB, sqs, eventBridge, secretsManager, transcription} {
		address := bus
		if service == dynamoDB {
			address = engine
		}
		if err := d.forward(service, address); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: headerTime}
	go func() { _ = d.server.Serve(listener) }() // It ends with Close.
	return d, nil
}

// forward makes an address the engine of a service; no address leaves the service without one.
func (d *Door) forward(service, address string) error {
	if address == "" {
		return nil
	}
	engine, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	d.engines[service] = &httputil.ReverseProxy{
		Rewrite:   to{engine}.rewrite,
		Transport: transport(),
		// Without an answer of the engine, the function gets no answer.
		ErrorHandler: abort,
	}
	return nil
}

// transport returns a transport that changes no body.
func transport() *http.Transport {
	return &http.Transport{DisableCompression: true, MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}
}

// to is the engine that calls are forwarded to.
type to struct{ engine *url.URL }

// rewrite sends a call to the engine, with the Host that the function has signed. The engine
// of DynamoDB does not check the signature, which has the path with the function's name. An
// engine that does needs calls without this name.
func (t to) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.Host = t.engine.Scheme, t.engine.Host, "/", p.In.Host
}

// abort closes the function's connection without an answer.
func abort(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// Address returns the address of the engine for a group, with the group's name.
func (d *Door) Address(group string) string { return d.URL + "/" + group }

// Close closes the door.
func (d *Door) Close() error {
	if err := errors.Join(d.server.Close(), d.closeBuckets()); err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	return nil
}

// ServeHTTP notes a call and forwards the call unchanged, or refuses the call.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The function has gone before it sent its call.
	}
	call, all, err := read(r, body)
	if err != nil {
		refuse(w, call.service, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	if p := d.recorder.note(all); p != nil {
		deny(w, call.service, p)
		return
	}
	engine := d.engines[call.service]
	if engine == nil {
		refuse(w, call.service, http.StatusBadRequest, "NotImplemented", call.service+" has no engine on this machine")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	engine.ServeHTTP(w, r)
}

// deny answers that a permission is missing, with the status and the name of the service.
func deny(w http.ResponseWriter, service string, p *Permission) {
	message := fmt.Sprintf("%s is not authorized to perform %s on %s", p.Group, p.Action, p.Pattern)
	if service == s3 {
		refuse(w, service, http.StatusForbidden, "AccessDenied", message)
		return
	}
	refuse(w, service, http.StatusBadRequest, "AccessDeniedException", message)
}

// refuse answers with an error in the form of the service: XML for S3, JSON for all others.
func refuse(w http.ResponseWriter, service string, status int, name, message string) {
	if service == s3 {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_ = xml.NewEncoder(w).Encode(struct { // A function that has gone needs no answer.
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}{Code: name, Message: message})
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{ //nolint:errchkjson // a function that has gone needs no answer
		"__type": "com.amazon.coral.service#" + name, "Message": message,
	})
}
