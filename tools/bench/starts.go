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
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/tenancy"
	"lectern/tools/bench/process"
)

// coldStarts is the number of starts of each function.
const coldStarts = 31

// cold measures starts of functions, on a region in memory.
type cold struct {
	place  *place
	stack  *stack.Stack
	folder string
}

// starts prints the time to start each function like Lambda: from the start of the process to
// the first answer. only has names of functions with commas between; empty for all.
func starts(ctx context.Context, folder, only string) error {
	running, instance, err := serve(ctx, stack.Config{Functions: folder})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }() // The process ends anyway.
	c := &cold{place: &place{env: instance.Env}, stack: running, folder: folder}
	if err := c.place.organize(ctx); err != nil {
		return err
	}
	if c.place.Event.ID, err = c.place.newEvent(ctx, "Bench"); err != nil {
		return err
	}
	fmt.Printf("\n### Starts of the functions\n\n| function | exec to first answer: p50, p90 ms | binary MB | RSS MB |\n|---|---|---|---|\n")
	logs, err := c.place.operate(ctx, "token-create", map[string]any{
		"org_id": c.place.Org, "user_id": c.place.Member, "name": "Logs", "kind": tenancy.KindLogExport})
	if err != nil {
		return err
	}
	for _, group := range functions.Groups {
		if only != "" && !slices.Contains(strings.Split(only, ","), group.Name) {
			continue
		}
		first := firstRequest{c.place, group, c.place.Token}
		if slices.Contains(group.Operations[0].Scopes, auth.ReadAuditLogs) {
			first.token = logs.Token
		}
		if err := c.row(ctx, group.Name, first); err != nil {
			return err
		}
	}
	if only != "" {
		return nil
	}
	return c.row(ctx, "operator", firstCommand{c.place})
}

// payloads makes the payload of the n-th start of a function.
type payloads interface{ payload(n int) any }

// firstCommand makes payloads for the operator's function.
type firstCommand struct{ place *place }

// payload returns a command that reads an organization.
func (f firstCommand) payload(int) any {
	return map[string]any{"command": "organization-show", "input": map[string]any{"org_id": f.place.Org}}
}

// firstRequest makes payloads for the function of a group.
type firstRequest struct {
	place *place
	group api.Group
	token string
}

// firsts has the ids of the operations that functions answer first, where the first of the group is of no use.
var firsts = map[string]string{"insights": "executeEventQuery", "oauth": "getAuthorizationServer"}

// operation returns the operation that the function answers first.
func (f firstRequest) operation() api.Operation {
	for _, op := range f.group.Operations {
		if op.ID == firsts[f.group.Name] {
			return op
		}
	}
	return f.group.Operations[0]
}

// payload returns the event of the first request. Searches and records ignore unknown fields of the body.
func (f firstRequest) payload(n int) any {
	op := f.operation()
	var parts []string
	for part := range strings.SplitSeq(op.Path, "/") {
		switch {
		case part == "{eventId}":
			part = fmt.Sprint(f.place.Event.ID)
		case strings.HasPrefix(part, "{"):
			part = "00000000-0000-4000-8000-000000000000"
		}
		parts = append(parts, part)
	}
	body := ""
	if op.Method == http.MethodPost || op.Method == http.MethodPut {
		body = fmt.Sprintf(`{"query":"FIND Session","title":"A","name":"A%d","email":"a%d@bench.example","type":"text","module_id":"session"}`,
			n, n)
	}
	return request{f.token, op.Method, op.Path, strings.Join(parts, "/"), body}.event()
}

// request is a request to a function.
type request struct{ token, method, template, path, body string }

// event returns the request in the form of API Gateway.
func (r request) event() map[string]any {
	return map[string]any{
		"resource": r.template, "path": r.path, "httpMethod": r.method, "body": r.body,
		"multiValueHeaders": map[string][]string{"X-Access-Token": {r.token}, "Content-Type": {"application/json"}, "Host": {"bench"}},
		"requestContext":    map[string]any{"stage": "bench", "httpMethod": r.method, "requestId": "bench"},
	}
}

// row starts a function coldStarts times and prints the row of the table.
func (c *cold) row(ctx context.Context, name string, first payloads) error {
	file, err := os.Stat(stack.Binary(c.folder, name))
	if err != nil {
		return err
	}
	times, memory := make([]time.Duration, coldStarts), 0.0
	for i := range times {
		payload, err := json.Marshal(first.payload(i))
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

// start starts a function and returns the time, and the memory of the process in MB.
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
	memory, err = process.Resident(f.PIDs()[0])
	return took, memory, err
}
