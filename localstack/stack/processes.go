package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/localstack/runtimeapi"
	"lectern/shared/api"
	"lectern/shared/apierr"
)

// functionTime is how long a function may work, as infra configures it.
const functionTime = timeout - time.Second

// processes runs the groups' own binaries, a function each.
type processes struct {
	// folder has <group>/bootstrap.
	folder string
	// env is what infra tells every function.
	env       []string
	output    io.Writer
	functions []*runtimeapi.Function
}

// processes are the functions of the stack, told what infra tells them.
func (s *Stack) processes() *processes {
	return &processes{folder: s.config.Functions, output: s.config.Output, env: []string{
		"LECTERN_TABLE=" + s.config.Table, "LECTERN_REGION=" + s.config.Region, "LECTERN_ADMIN_URL=" + s.config.AdminURL,
		"AWS_REGION=" + Regions[s.config.Region], "AWS_ENDPOINT_URL=" + s.EngineURL,
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}}
}

// group is the function of a group.
func (p *processes) group(g api.Group) lambda {
	f := runtimeapi.New(runtimeapi.Config{
		Name: g.Name, Binary: filepath.Join(p.folder, g.Name, "bootstrap"), Env: p.env, Timeout: functionTime, Log: p.output,
	})
	p.functions = append(p.functions, f)
	return func(ctx context.Context, r events.APIGatewayProxyRequest) (answer events.APIGatewayProxyResponse, err error) {
		payload, err := json.Marshal(r)
		if err != nil {
			return answer, fmt.Errorf("stack: encode the event: %w", err)
		}
		text, err := f.Invoke(ctx, payload)
		if errors.Is(err, runtimeapi.ErrTooLarge) && len(payload) > runtimeapi.MaxPayload {
			return answer, apierr.TooLarge(maxBody)
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

func (p *processes) stop() {
	for _, f := range slices.Backward(p.functions) {
		f.Close()
	}
}
