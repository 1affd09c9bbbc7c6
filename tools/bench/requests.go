package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"lectern/shared/bulk"
)

// client calls the API with a token, and receives answers uncompressed.
type client struct {
	url, token string
	http       *http.Client
}

// newClient returns a client with up to 64 open connections.
func newClient(url, token string) *client {
	return &client{url: url, token: token, http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, DisableCompression: true,
	}}}
}

// send sends a request and reads the whole answer. It refuses any status but 200.
func (c *client) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-access-token", c.token)
	req.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // The answer was read to its end.
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	return text, err
}

// json sends a body and reads the answer into out.
func (c *client) json(ctx context.Context, out any, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if text, err = c.send(ctx, method, path, text); err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// path returns the path of a collection of the event.
func (s *subject) path(collection string) string {
	return fmt.Sprintf("/v1/event/%d/%s", s.event.ID, collection)
}

// get returns a call that reads the records of a collection in turn.
func (s *subject) get(collection string, ids []string) call {
	return getCall{s.place.client, s.path(collection), ids}
}

type getCall struct {
	client *client
	path   string
	ids    []string
}

func (c getCall) do(ctx context.Context, client, n int) error {
	_, err := c.client.send(ctx, http.MethodGet, c.path+"/"+c.ids[(client*7+n)%len(c.ids)], nil)
	return err
}

// put returns a call that updates a record of a collection, a separate record for each client.
// body has a place for a number.
func (s *subject) put(collection string, ids []string, body string) call {
	return putCall{getCall{s.place.client, s.path(collection), ids}, body}
}

type putCall struct {
	getCall
	body string
}

func (c putCall) do(ctx context.Context, client, n int) error {
	_, err := c.client.send(ctx, http.MethodPut, c.path+"/"+c.ids[client%len(c.ids)], fmt.Appendf(nil, c.body, n%1000))
	return err
}

// query is a search: on a track, or everywhere if track is empty, in an order, or the default
// order if sort is empty.
type query struct{ track, sort string }

// search returns a call that searches a collection.
func (s *subject) search(collection string, by query) call {
	filters := "{}"
	if by.track != "" {
		filters = fmt.Sprintf(`{"trackIds":[%q]}`, by.track)
	}
	return searchCall{s.place.client, s.path(collection), fmt.Appendf(nil, `{"filters":%s,"sort":{%s}}`, filters, by.sort)}
}

type searchCall struct {
	client *client
	path   string
	body   []byte
}

func (c searchCall) do(ctx context.Context, _, _ int) error {
	_, err := c.client.send(ctx, http.MethodPost, c.path, c.body)
	return err
}

// create returns a call that creates a new record each time.
func (s *subject) create(collection string, records records) call {
	return &createCall{client: s.place.client, path: s.path(collection) + "/create", records: records}
}

type createCall struct {
	client  *client
	path    string
	records records
	made    atomic.Int64
}

func (c *createCall) do(ctx context.Context, _, _ int) error {
	_, err := c.client.send(ctx, http.MethodPost, c.path, c.records.draft(int(c.made.Add(1))))
	return err
}

// bulk returns a call that creates a batch of records. Record numbers start from the time, so
// that they differ from the numbers of earlier runs.
func (s *subject) bulk(collection string, records records) call {
	c := &bulkCall{createCall{client: s.place.client, path: s.path(collection) + "/bulk", records: records}}
	c.made.Store(time.Now().UnixMilli())
	return c
}

type bulkCall struct{ createCall }

func (c *bulkCall) do(ctx context.Context, _, _ int) error {
	body, err := json.Marshal(creates(c.records, int(c.made.Add(1))*batch, batch))
	if err != nil {
		return err
	}
	text, err := c.client.send(ctx, http.MethodPost, c.path, body)
	if err != nil {
		return err
	}
	var answer struct{ Stats bulk.Stats }
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if answer.Stats.Failed > 0 {
		return fmt.Errorf("%d operations of a bulk failed", answer.Stats.Failed)
	}
	return nil
}
