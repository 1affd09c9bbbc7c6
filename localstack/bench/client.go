package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// client calls the API as one token. It takes answers uncompressed.
type client struct {
	url, token string
	http       *http.Client
}

func newClient(url, token string) *client {
	return &client{url: url, token: token, http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, DisableCompression: true,
	}}}
}

// send sends a request and reads the whole answer, which must be a 200.
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
	defer func() { _ = answer.Body.Close() }() // It was read to its end.
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
