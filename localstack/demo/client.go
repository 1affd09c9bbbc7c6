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

// client makes the requests of one Fill.
type client struct{ Target }

// caller gives up on a service that does not answer; a bulk of 100 takes a
// tenth of a second.
var caller = http.Client{Timeout: 30 * time.Second}

// path is the event's own path with rest behind it.
func (c client) path(rest string) string { return fmt.Sprintf("/v1/event/%d%s", c.Event, rest) }

func (c client) get(ctx context.Context, path string, into any) error {
	return c.send(ctx, http.MethodGet, path, nil, into)
}

// post sends body to a path below the event.
func (c client) post(ctx context.Context, rest string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("demo: encode the body of POST %s: %w", rest, err)
	}
	return c.send(ctx, http.MethodPost, c.path(rest), text, into)
}

func (c client) send(ctx context.Context, method, path string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	request.Header.Set("X-Access-Token", c.Token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := caller.Do(request)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("demo: read the answer of %s %s: %w", method, path, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("demo: %s %s answered %d: %s", method, path, response.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("demo: decode the answer of %s %s: %w", method, path, err)
	}
	return nil
}

// pages gives each record of a paged list, whose path has a query already, to
// take, until that returns false.
func pages[T any](ctx context.Context, c client, path string, take func(T) bool) error {
	for page := 1; ; page++ {
		var answer struct {
			Results    []T
			Pagination struct{ TotalPages int }
		}
		if err := c.get(ctx, fmt.Sprintf("%s&page=%d", path, page), &answer); err != nil {
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
