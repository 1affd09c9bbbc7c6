package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/functions"
	"lectern/functions/operator"
	"lectern/localstack/runtimeapi"
	"lectern/shared/api"
	"lectern/shared/apierr"
)

// functionTime is how long a group's function may work, as infra configures it, from when
// it has its event: one that did not wait for its process ends before the gateway has
// given it up. The operator's function has it too, though infra gives that more.
const functionTime = timeout - time.Second

// processes runs the groups' own binaries, a function each.
type processes struct {
	// folder has <group>/bootstrap.
	folder string
	// env is what infra tells every function, and engine where a group's is.
	env    []string
	engine func(group string) string
	// time is how long a function may work.
	time      time.Duration
	output    io.Writer
	functions []*runtimeapi.Function
}

// operatorName is the name of the operator's function, which is no group.
const operatorName = "operator"

// Binaries is the folder, from the project's, in which make functions puts the functions'
// binaries for this machine.
func Binaries() string { return filepath.Join("dist", runtime.GOOS+"-"+runtime.GOARCH) }

// Binary is the file in such a folder that runs the function of a name.
func Binary(folder, name string) string { return filepath.Join(folder, name, "bootstrap") }

// built is nil when every function that the Config asks for has its binary.
func (c *Config) built() error {
	if c.Functions == "" {
		return nil
	}
	names := []string{operatorName}
	for _, group := range functions.Groups {
		names = append(names, group.Name)
	}
	for _, name := range names {
		if _, err := os.Stat(Binary(c.Functions, name)); err != nil {
			return fmt.Errorf("stack: make functions builds the functions' binaries: %w", err)
		}
	}
	return nil
}

// processes are the functions of the stack, told what infra tells them.
func (s *Stack) processes() *processes {
	p := &processes{folder: s.config.Functions, output: s.config.Output, time: functionTime, env: []string{
		"LECTERN_TABLE=" + s.config.Table, "LECTERN_REGION=" + s.config.Region, "LECTERN_ADMIN_URL=" + s.config.AdminURL,
		"AWS_REGION=" + Regions[s.config.Region], "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"GOMEMLIMIT=448MiB",
	}}
	p.engine = func(string) string { return s.EngineURL }
	if s.record != nil {
		p.engine = s.record.Address
	}
	return p
}

// Function is a function of Config.Functions, told what infra tells it, of which no process
// runs yet. Closing it is the caller's.
func (s *Stack) Function(name string) *runtimeapi.Function { return s.processes().function(name) }

// function is the function of a name, of which no process runs yet.
func (p *processes) function(name string) *runtimeapi.Function {
	f := runtimeapi.New(runtimeapi.Config{
		Name: name, Binary: Binary(p.folder, name), Timeout: p.time, Log: p.output,
		Env: append(slices.Clone(p.env), "AWS_ENDPOINT_URL="+p.engine(name)),
	})
	p.functions = append(p.functions, f)
	return f
}

// group is the function of a group.
func (p *processes) group(g api.Group) lambda {
	f := p.function(g.Name)
	return func(ctx context.Context, r events.APIGatewayProxyRequest) (answer events.APIGatewayProxyResponse, err error) {
		payload, err := json.Marshal(r)
		if err != nil {
			return answer, fmt.Errorf("stack: encode the event: %w", err)
		}
		text, err := f.Invoke(ctx, payload)
		if errors.Is(err, runtimeapi.ErrTooLarge) && len(payload) > runtimeapi.MaxPayload {
			return answer, apierr.TooLargeForGateway()
		}
		if err != nil {
			return answer, err
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return answer, fmt.Errorf("stack: decode the answer: %w", err)
		}
		return answer, nil
	}
}

// operator does commands as the operator's own function does.
func (p *processes) operator() func(context.Context, string, json.RawMessage) (any, error) {
	f := p.function(operatorName)
	return func(ctx context.Context, command string, input json.RawMessage) (any, error) {
		payload, err := json.Marshal(operator.Invocation{Command: command, Input: input})
		if err != nil {
			return nil, fmt.Errorf("stack: encode the command: %w", err)
		}
		text, err := f.Invoke(ctx, payload)
		if err != nil {
			return nil, err
		}
		return operator.Answer(text)
	}
}

func (p *processes) stop() {
	for _, f := range slices.Backward(p.functions) {
		f.Close()
	}
}
