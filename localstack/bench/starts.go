package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"lectern/functions"
	"lectern/localstack/stack"
	"lectern/shared/api"
)

// coldStarts is how often each function is started.
const coldStarts = 31

// cold is a region in memory whose functions are started.
type cold struct {
	place  *place
	stack  *stack.Stack
	folder string
}

// starts prints what it takes to start each function as Lambda does: from the start of
// its process to the answer of its first request.
func starts(ctx context.Context, folder string) error {
	running, err := stack.Start(ctx, stack.Config{Region: region, Functions: folder})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }() // The process ends anyway.
	instance, err := running.Serve("127.0.0.1:0")
	if err != nil {
		return err
	}
	c := &cold{place: &place{env: instance.Env}, stack: running, folder: folder}
	if err := c.place.organize(ctx); err != nil {
		return err
	}
	if c.place.Event.ID, err = c.place.newEvent(ctx, "Bench"); err != nil {
		return err
	}
	fmt.Printf("\n### Starts of the functions\n\n| function | exec to first answer: p50, p90 ms | binary MB | RSS MB |\n|---|---|---|---|\n")
	for _, group := range functions.Groups {
		if err := c.row(ctx, group.Name, func(n int) any { return c.first(group, n) }); err != nil {
			return err
		}
	}
	return c.row(ctx, "operator", func(int) any {
		return map[string]any{"command": "organization-show", "input": map[string]any{"org_id": c.place.Org}}
	})
}

// first is the event of a group's first operation, the nth that is sent. What a search
// does not know in its body is ignored, as what a record does not have.
func (c *cold) first(group api.Group, n int) any {
	op := group.Operations[0]
	var parts []string
	for part := range strings.SplitSeq(op.Path, "/") {
		switch {
		case part == "{eventId}":
			part = fmt.Sprint(c.place.Event.ID)
		case strings.HasPrefix(part, "{"):
			part = "00000000-0000-4000-8000-000000000000"
		}
		parts = append(parts, part)
	}
	body := ""
	if op.Method == http.MethodPost || op.Method == http.MethodPut {
		body = fmt.Sprintf(`{"title":"A","name":"A%d","email":"a%d@bench.example","type":"text","module_id":"session"}`, n, n)
	}
	return invocation(c.place.Token, op.Method, op.Path, strings.Join(parts, "/"), body)
}

// invocation returns the event of a request, as API Gateway sends it to a function.
func invocation(token, method, template, path, body string) map[string]any {
	return map[string]any{
		"resource": template, "path": path, "httpMethod": method, "body": body,
		"multiValueHeaders": map[string][]string{"X-Access-Token": {token}, "Content-Type": {"application/json"}, "Host": {"bench"}},
		"requestContext":    map[string]any{"stage": "bench", "httpMethod": method, "requestId": "bench"},
	}
}

// row starts one function so often and prints its line.
func (c *cold) row(ctx context.Context, name string, first func(n int) any) error {
	file, err := os.Stat(stack.Binary(c.folder, name))
	if err != nil {
		return err
	}
	times, memory := make([]time.Duration, coldStarts), 0.0
	for i := range times {
		payload, err := json.Marshal(first(i))
		if err != nil {
			return err
		}
		if times[i], memory, err = c.start(ctx, name, payload); err != nil {
			return err
		}
	}
	slices.Sort(times)
	fmt.Printf("| %s | %s, %s | %.1f | %.1f |\n", name, ms(times[len(times)/2]), ms(times[len(times)*9/10]), float64(file.Size())/1e6, memory)
	return nil
}

// start is one start: how long it took, and the memory that the process then has, in MB.
func (c *cold) start(ctx context.Context, name string, payload []byte) (took time.Duration, memory float64, err error) {
	f := c.stack.Function(name)
	defer f.Close()
	began := time.Now()
	text, err := f.Invoke(ctx, payload)
	took = time.Since(began)
	if err != nil {
		return 0, 0, err
	}
	var answer struct {
		StatusCode int
		Error      any
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, 0, err
	}
	if answer.StatusCode >= http.StatusBadRequest || answer.Error != nil {
		return 0, 0, fmt.Errorf("%s answered %s", name, text)
	}
	kilobytes, err := resident(f.PIDs()[0])
	if err == nil {
		_, err = fmt.Sscanf(kilobytes, "%f", &memory)
	}
	return took, memory * 1024 / 1e6, err
}
