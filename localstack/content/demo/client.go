package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client sends the requests of a Fill.
type client struct{ Target }

// caller has a time limit far above the tenth of a second for a bulk of 100.
var caller = http.Client{Timeout: 30 * time.Second}

// path returns a path below the event.
func (c client) path(rest string) string { return fmt.Sprintf("/v1/event/%d%s", c.Event, rest) }

// get reads a path into a value.
func (c client) get(ctx context.Context, path string, into any) error {
	return c.send(ctx, http.MethodGet, path, nil, into)
}

// post sends body, or no body for nil, to a path below the event.
func (c client) post(ctx context.Context, rest string, body, into any) error {
	return c.send(ctx, http.MethodPost, c.path(rest), body, into)
}

// refusal is an answer other than 200 and 201.
type refusal struct {
	request string
	status  int
	text    []byte
}

// Error describes the request and the answer.
func (r *refusal) Error() string {
	return fmt.Sprintf("demo: %s answered %d: %s", r.request, r.status, r.text)
}

// send sends a request and decodes the answer.
func (c client) send(ctx context.Context, method, path string, body, into any) error {
	name := method + " " + path
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return fmt.Errorf("demo: %s: %w", name, err)
	}
	response, err := caller.Do(request)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("demo: read the answer of %s: %w", name, err)
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return &refusal{name, response.StatusCode, text}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("demo: decode the answer of %s: %w", name, err)
	}
	return nil
}

// request returns a request with the token.
func (c client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Access-Token", c.Token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// pages calls take for each record of a paged list, or of a search with a body, until take
// returns false.
func pages[T any](ctx context.Context, c client, path string, body any, take func(T) bool) error {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	for page := 1; ; page++ {
		var answer struct {
			Results    []T
			Pagination struct{ TotalPages int }
		}
		if err := c.send(ctx, method, fmt.Sprintf("%s?pageSize=100&page=%d", path, page), body, &answer); err != nil {
			return err
		}
		for _, record := range answer.Results {
			if !take(record) {
				return nil
			}
		}
		if page >= answer.Pagination.TotalPages {
			return nil
		}
	}
}
