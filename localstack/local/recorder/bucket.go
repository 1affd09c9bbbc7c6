package recorder

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// signedQuery begins the parameters of an address that a function has signed, and shownQuery those
// of the headers that a download has. Neither asks for another action.
const (
	signedQuery = "X-Amz-"
	shownQuery  = "response-content-"
)

// bucketDoor receives the calls of one function for its bucket, and the requests of clients at
// addresses that the function has signed: S3 allows these by the function's role too. The server of
// S3 checks the signature, which has host and path, so the door has a port for each function and
// changes neither.
type bucketDoor struct {
	group    string
	recorder *Recorder
	engine   *httputil.ReverseProxy
}

// Bucket opens a door to the server of S3 at an address for a function, and returns the address of
// the door. Close closes the door.
func (d *Door) Bucket(group, server string) (address string, err error) {
	to, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("recorder: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening takes no time
	if err != nil {
		return "", fmt.Errorf("recorder: %w", err)
	}
	door := bucketDoor{group: group, recorder: d.recorder, engine: &httputil.ReverseProxy{
		Rewrite: unchanged{to}.rewrite, Transport: transport(), ErrorHandler: abort,
	}}
	opened := &http.Server{Handler: door, ReadHeaderTimeout: headerTime}
	d.mu.Lock()
	d.buckets = append(d.buckets, opened)
	d.mu.Unlock()
	go func() { _ = opened.Serve(listener) }() // It ends with Close.
	return "http://" + listener.Addr().String(), nil
}

// closeBuckets closes the doors of Bucket.
func (d *Door) closeBuckets() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, opened := range d.buckets {
		err = errors.Join(err, opened.Close())
	}
	return err
}

// unchanged is the server that calls are forwarded to with the host and the path of their
// signatures.
type unchanged struct{ server *url.URL }

// rewrite sends a call to the server.
func (u unchanged) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = u.server.Scheme, u.server.Host, p.In.Host
}

// ServeHTTP notes a call and forwards the call unchanged, or refuses the call. No permission depends
// on the bytes, so the bytes are not read here. A browser asks with OPTIONS, which needs no
// permission.
func (b bucketDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodOptions {
		c := sent{Request: r, group: b.group, service: s3, path: strings.TrimPrefix(r.URL.Path, "/")}
		all, err := c.ofBucket()
		if err != nil {
			refuse(w, s3, http.StatusBadRequest, "SerializationException", err.Error())
			return
		}
		if p := b.recorder.refuses(all); p != nil {
			deny(w, s3, p)
			return
		}
		w = &noting{w, b.recorder, all}
	}
	b.engine.ServeHTTP(w, r)
}

// noting is an answer that notes the permissions of its call, unless the server refuses the call: a
// client can ask for anything at an address with a forged signature.
type noting struct {
	answer   http.ResponseWriter
	recorder *Recorder
	needed   []Permission
}

// Header returns the headers of the answer.
func (n *noting) Header() http.Header { return n.answer.Header() }

// Write sends bytes of the body.
func (n *noting) Write(part []byte) (int, error) { return n.answer.Write(part) }

// WriteHeader notes the permissions and sends the status, so that the client finds them noted.
func (n *noting) WriteHeader(status int) {
	if status >= http.StatusOK && status != http.StatusForbidden {
		n.recorder.use(n.needed)
	}
	n.answer.WriteHeader(status)
}

// Unwrap returns the answer itself, for http.ResponseController.
func (n *noting) Unwrap() http.ResponseWriter { return n.answer }

// ofBucket returns the permissions for a call of a bucket's door, which knows S3 alone.
func (c sent) ofBucket() ([]Permission, error) {
	found := scope.FindStringSubmatch(c.Header.Get("Authorization"))
	if found == nil {
		found = scope.FindStringSubmatch("Credential=" + c.URL.Query().Get("X-Amz-Credential"))
	}
	if found == nil || found[1] != s3 {
		return nil, errors.New("recorder: the call is not signed for S3")
	}
	return objects(c)
}
