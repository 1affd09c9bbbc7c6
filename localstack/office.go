package main

import (
	"context"
	"encoding/json"
	"fmt"

	"lectern/functions/operator"
	"lectern/localstack/deployed"
	"lectern/shared/api"
)

// office is where the operator's commands of one region are done.
type office struct {
	// region is the region's name.
	region string
	do     func(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error)
}

// here does them in this process.
func here(env api.Env) office {
	return office{region: env.Region, do: func(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
		done, err := operator.New(env).Do(ctx, command, input)
		if err != nil {
			return nil, err
		}
		return json.Marshal(done)
	}}
}

// there has them done by the operator's function of a deployed region.
func there(name string, regions deployed.Regions) (office, error) {
	r, ok := regions[name]
	if !ok {
		return office{}, fmt.Errorf("%s does not say where the region %s is", deployed.Env, name)
	}
	return office{region: name, do: r.Do}, nil
}

// officeOf is the office of a region: of the deployed service where the environment
// names one, and otherwise of what runs on the data folder.
func officeOf(ctx context.Context, data, name string) (office, error) {
	regions, err := deployed.FromEnvironment()
	if err != nil {
		return office{}, err
	}
	if regions != nil {
		return there(name, regions)
	}
	r, err := findRegion(data, name)
	if err != nil {
		return office{}, err
	}
	env, err := r.env(ctx, name)
	return here(env), err
}

// instruct does one command and gives its answer as JSON.
func (o office) instruct(ctx context.Context, command string, input any) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	answer, err := o.do(ctx, command, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	return answer, nil
}

// created is what of a command's answer the seed needs.
type created struct {
	ID    int64  `json:"id"`
	Token string `json:"token"`
}

// create does a command that makes something.
func (o office) create(ctx context.Context, command string, input any) (made created, err error) {
	answer, err := o.instruct(ctx, command, input)
	if err != nil {
		return made, err
	}
	err = json.Unmarshal(answer, &made)
	return made, err
}
