package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"lectern/functions"
	"lectern/localstack/runtimeapi"
	"lectern/localstack/stack"
	"lectern/shared/api"
	"lectern/shared/auth"
)

const (
	// coldStarts is how often each function is started.
	coldStarts = 31
	// coldTime bounds one start.
	coldTime = 10 * time.Second
)

// binaries is where `make functions` puts the functions for this machine.
func binaries() string { return filepath.Join("dist", runtime.GOOS+"-"+runtime.GOARCH) }

// cold is a region in memory whose functions are started.
type cold struct {
	place  *place
	folder string
	env    []string
}

// starts prints what it takes to start each function as Lambda does: from the start of
// its process to the answer of its first request, which signs in and reads or writes.
func starts(ctx context.Context, folder string) error {
	running, err := stack.Start(ctx, stack.Config{Region: region})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }() // The process ends anyway.
	instance, err := running.Serve("127.0.0.1:0")
	if err != nil {
		return err
	}
	c := &cold{place: &place{env: instance.Env}, folder: folder, env: []string{
		"LECTERN_TABLE=" + stack.TableName(region), "LECTERN_REGION=" + region, "AWS_REGION=" + stack.Regions[region],
		"AWS_ENDPOINT_URL=" + running.EngineURL, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}}
	if err := c.place.organize(ctx); err != nil {
		return err
	}
	if err := c.sign(ctx); err != nil {
		return err
	}
	m, err := c.place.operate(ctx, "event-create", map[string]any{"org_id": c.place.Org, "name": "Bench",
		"starts_at": "2027-05-01T08:00:00Z", "ends_at": "2027-05-03T18:00:00Z"})
	if err != nil {
		return err
	}
	c.place.Event.ID = m.ID
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

// sign makes the token that the functions are called with.
func (c *cold) sign(ctx context.Context) error {
	scopes := slices.DeleteFunc(slices.Clone(auth.AllScopes), func(s auth.Scope) bool { return s == auth.ReadAuditLogs })
	m, err := c.place.operate(ctx, "token-create", map[string]any{
		"org_id": c.place.Org, "user_id": c.place.Member, "name": "Starts", "scopes": scopes, "limit": unlimited})
	c.place.Token = m.Token
	return err
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
	return map[string]any{
		"resource": op.Path, "path": strings.Join(parts, "/"), "httpMethod": op.Method, "body": body,
		"multiValueHeaders": map[string][]string{"X-Access-Token": {c.place.Token}, "Content-Type": {"application/json"}, "Host": {"bench"}},
		"requestContext":    map[string]any{"stage": "bench", "httpMethod": op.Method, "requestId": "bench"},
	}
}

// row starts one function so often and prints its line.
func (c *cold) row(ctx context.Context, name string, first func(n int) any) error {
	binary := filepath.Join(c.folder, name, "bootstrap")
	file, err := os.Stat(binary)
	if err != nil {
		return fmt.Errorf("%w; make functions builds it", err)
	}
	times, memory := make([]time.Duration, coldStarts), 0.0
	for i := range times {
		payload, err := json.Marshal(first(i))
		if err != nil {
			return err
		}
		if times[i], memory, err = c.start(ctx, name, binary, payload); err != nil {
			return err
		}
	}
	slices.Sort(times)
	fmt.Printf("| %s | %s, %s | %.1f | %.1f |\n", name, ms(times[len(times)/2]), ms(times[len(times)*9/10]), float64(file.Size())/1e6, memory)
	return nil
}

// start is one start: how long it took, and the memory that the process then has, in MB.
func (c *cold) start(ctx context.Context, name, binary string, payload []byte) (took time.Duration, memory float64, err error) {
	f := runtimeapi.New(runtimeapi.Config{Name: name, Binary: binary, Env: c.env, Timeout: coldTime, Log: io.Discard})
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
