package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lectern/functions/operator"
	"lectern/localstack/deployed"
	"lectern/shared/api"
	"lectern/shared/maintain"
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

// instructAll does one command and shows its answer. Maintain begins at the beginning,
// unless the input says otherwise, and is done until its answer has no cursor.
func (o office) instructAll(ctx context.Context, command string, input json.RawMessage, show func(json.RawMessage) error) error {
	if command == operator.Maintain && string(input) == "{}" {
		input = json.RawMessage(`{"cursor":{}}`)
	}
	for {
		answer, err := o.do(ctx, command, input)
		if err == nil {
			err = show(answer)
		}
		if err != nil || command != operator.Maintain {
			return err
		}
		var next maintain.Input
		if err := json.Unmarshal(answer, &next); err != nil || next.Cursor == nil {
			return err
		}
		if input, err = json.Marshal(next); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
}

// maintainEvery is how often a region is maintained. A command that finds nothing to do
// costs a read.
const maintainEvery = time.Hour

// keepMaintained does maintain until ctx ends. What fails is in the region's log.
func (o office) keepMaintained(ctx context.Context) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = o.do(ctx, operator.Maintain, json.RawMessage("{}"))
		case <-ctx.Done():
			return
		}
	}
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
