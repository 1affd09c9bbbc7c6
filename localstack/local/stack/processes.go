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
	"lectern/localstack/local/runtimeapi"
	"lectern/shared/api"
	"lectern/shared/apierr"
)

// functionTime limits a function of a group from the arrival of the event, as in infra: an
// invocation without a wait for a process ends before the gateway's limit. The operator's
// function has the same limit here, but more time in infra.
const functionTime = timeout - time.Second

// processes runs the groups' own binaries, each as a function.
type processes struct {
	// folder has <group>/bootstrap.
	folder string
	// env is the environment of every function in infra; engine returns the engine's address
	// for a group.
	env    []string
	engine func(group string) string
	// others returns the variables by which a function finds the bucket and the local bus.
	others func(name string) []string
	// time limits an invocation.
	time      time.Duration
	output    io.Writer
	functions []*runtimeapi.Function
}

// Binaries returns the folder, relative to the project, that make functions fills for this
// machine.
func Binaries() string { return filepath.Join("dist", runtime.GOOS+"-"+runtime.GOARCH) }

// Binary returns the file of a function in the folder.
func Binary(folder, name string) string { return filepath.Join(folder, name, "bootstrap") }

// built refuses a Config with a missing binary.
func (c *Config) built() error {
	if c.Functions == "" {
		return nil
	}
	for _, name := range functions.Names() {
		if _, err := os.Stat(Binary(c.Functions, name)); err != nil {
			return fmt.Errorf("stack: make functions builds the functions' binaries: %w", err)
		}
	}
	return nil
}

// processes returns the functions of the stack, with the environment that infra gives.
func (s *Stack) processes() *processes {
	p := &processes{folder: s.config.Functions, output: s.config.Output, time: functionTime, env: []string{
		"LECTERN_TABLE=" + s.config.Table, "LECTERN_REGION=" + s.config.Region, "LECTERN_ADMIN_URL=" + s.config.AdminURL,
		"AWS_REGION=" + Regions[s.config.Region], "LECTERN_SCANNER=" + s.config.Scanner,
		"GOMEMLIMIT=448MiB", api.VariableTranscriber + "=" + s.config.Transcriber, api.VariableHoldingSlides + "=1",
	}}
	if s.config.OpenRegistration {
		p.env = append(p.env, api.VariableRegistration+"=1")
	}
	p.engine, p.others = func(string) string { return s.EngineURL }, s.environment
	if s.record != nil {
		p.engine = s.record.Address
	}
	return p
}

// Function returns a function of Config.Functions without a process. The caller closes the
// function.
func (s *Stack) Function(name string) *runtimeapi.Function { return s.processes().function(name) }

// function returns the function with a name, without a process. stop closes the function.
func (p *processes) function(name string) *runtimeapi.Function {
	f := p.open(name)
	p.functions = append(p.functions, f)
	return f
}

// open returns the function with a name, without a process. The caller closes the function.
func (p *processes) open(name string) *runtimeapi.Function {
	return runtimeapi.New(runtimeapi.Config{
		Name: name, Binary: Binary(p.folder, name), Timeout: p.time, Log: p.output,
		Env: p.environment(name),
	})
}

// environment returns the variables of a function. The engine serves DynamoDB alone, so a client of another
// service must not call it.
func (p *processes) environment(name string) []string {
	return append(slices.Concat(p.env, p.others(name)), "AWS_ENDPOINT_URL_DYNAMODB="+p.engine(name))
}

// Environment returns the variables of the own binary of a function.
func (s *Stack) Environment(name string) []string { return s.processes().environment(name) }

// group returns the function of a group.
func (p *processes) group(g api.Group) function {
	f := p.function(g.Name)
	return function{invoke: func(ctx context.Context, r events.APIGatewayProxyRequest) (answer events.APIGatewayProxyResponse, err error) {
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
	}}
}

// operator does commands like the operator's own function.
func (p *processes) operator() func(context.Context, string, json.RawMessage) (any, error) {
	f := p.function(functions.Operator)
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

// stop closes the functions.
func (p *processes) stop() {
	for _, f := range slices.Backward(p.functions) {
		f.Close()
	}
}
