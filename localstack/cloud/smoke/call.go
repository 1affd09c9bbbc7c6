package smoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// maxRequests limits the requests of a run, and so its cost.
const maxRequests = 1000

// object is a JSON object.
type object = map[string]any

// call is a request to the API.
type call struct {
	method, path string
	// token is sent if it is not empty.
	token string
	// body is sent as JSON; bytes are sent without change, and nil sends no body.
	body any
	// header has names and values in turn.
	header []string
}

// answer is an answer of the API.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

// at returns a path below the event of the run.
func (r *run) at(rest string) string { return fmt.Sprintf("/v1/event/%d%s", r.event, rest) }

// get returns a read with the token of the run.
func (r *run) get(path string, header ...string) call {
	return call{method: http.MethodGet, path: path, token: r.token, header: header}
}

// post returns a POST with the token of the run.
func (r *run) post(path string, body any, header ...string) call {
	return call{method: http.MethodPost, path: path, token: r.token, body: body, header: header}
}

// put returns an update of a session with the token of the run.
func (r *run) put(id string, body any, header ...string) call {
	return call{method: http.MethodPut, path: r.at("/sessions/" + id), token: r.token, body: body, header: header}
}

// expect sends a request whose answer must have the status.
func (r *run) expect(ctx context.Context, status int, c call) (answer, error) {
	a, err := r.send(ctx, c)
	if err == nil && a.status != status {
		err = fmt.Errorf("%s %s answers %d, not %d: %s", c.method, c.path, a.status, status, start(a.body))
	}
	return a, err
}

// send sends a request below the address of the API.
func (r *run) send(ctx context.Context, c call) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, c.method, r.Region.URL+c.path, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	if err := c.fill(request); err != nil {
		return answer{}, err
	}
	return r.do(request)
}

// fill adds the body and the headers to a request.
func (c call) fill(request *http.Request) error {
	if c.body != nil {
		text, isText := c.body.([]byte)
		if !isText {
			var err error
			if text, err = json.Marshal(c.body); err != nil {
				return err
			}
		}
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("X-Access-Token", c.token)
	}
	for i := 0; i+1 < len(c.header); i += 2 {
		request.Header.Set(c.header[i], c.header[i+1])
	}
	return nil
}

// do sends a request and reads the answer.
func (r *run) do(request *http.Request) (answer, error) {
	if r.sent.Add(1) > maxRequests {
		return answer{}, fmt.Errorf("more than %d requests", maxRequests)
	}
	began := time.Now()
	response, err := r.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	r.received.Add(int64(len(body)))
	return answer{response.StatusCode, response.Header, body, time.Since(began)}, err
}

// emulated matches the address of an API of the emulator.
var emulated = regexp.MustCompile(`^(https?://[^/]+)/restapis/([^/]+)/[^/]+/_user_request_$`)

// follow gets a link of the API's host, a path that begins with a slash. The emulator has the
// API's host beside its own address, by the header Host.
func (r *run) follow(ctx context.Context, link string) (answer, error) {
	base, err := url.Parse(r.Region.URL)
	if err != nil {
		return answer{}, err
	}
	host := base.Host
	if parts := emulated.FindStringSubmatch(r.Region.URL); parts != nil {
		host = parts[2] + ".execute-api." + base.Host
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.Scheme+"://"+base.Host+link, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	request.Host = host
	return r.do(request)
}

// into decodes the body.
func (a answer) into(value any) error {
	if err := json.Unmarshal(a.body, value); err != nil {
		return fmt.Errorf("the answer is no JSON of the API: %w: %s", err, start(a.body))
	}
	return nil
}

// refusal returns an error unless the answer has the shape of the API's errors with the name.
func (a answer) refusal(name string) error {
	var shape struct{ Name, Error, Message, Code string }
	if err := a.into(&shape); err != nil {
		return err
	}
	if shape.Name != name || shape.Error != name || shape.Message == "" || shape.Code == "" {
		return fmt.Errorf("the error is not a %s of the API: %s", name, start(a.body))
	}
	if a.header.Get("X-Request-Id") == "" || a.header.Get("Access-Control-Allow-Origin") != "*" {
		return errors.New("the answer has no X-Request-Id, or does not admit scripts of other origins")
	}
	return nil
}

// seen describes an answer in a few words: status, origin and the start of the body.
func (a answer) seen() string {
	text := fmt.Sprintf("%d %s", a.status, start(a.body))
	for _, name := range []string{"X-Amzn-Errortype", "X-Amz-Apigw-Id", "X-Request-Id"} {
		if a.header.Get(name) != "" {
			text += ", with " + name
		}
	}
	return text
}

// start returns the start of a body in one line.
func start(body []byte) string {
	const size = 200
	text := strings.Join(strings.Fields(string(body[:min(len(body), size)])), " ")
	return strings.ToValidUTF8(text, "?")
}
