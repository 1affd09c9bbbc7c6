package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"lectern/localstack/deployed"
	"lectern/localstack/stack"
	"lectern/shared/api"
	"lectern/shared/table"
)

// fillRunning makes what the demo events of the running service lack.
func fillRunning(ctx context.Context, data string, out io.Writer) error {
	r, err := find(data)
	if err != nil {
		return err
	}
	for _, name := range names {
		env, err := r.env(ctx, name)
		if err != nil {
			return err
		}
		made, err := fill(ctx, data, r.Regions[name].URL, here(env), r.Regions[name].seed)
		if err != nil {
			return fmt.Errorf("region %s: %w", name, err)
		}
		fmt.Fprintf(out, "%s: %s\n", name, made)
	}
	return nil
}

// fillDeployed gives each region of a deployed service the demo conference, with an
// organization, event and token of its own, and writes demo.env as up does. What it has
// made in all of a region is kept in the folder, so that a second call makes nothing twice.
func fillDeployed(ctx context.Context, data string, regions deployed.Regions, out io.Writer) error {
	var all []*served
	for _, name := range names {
		o, err := there(name, regions)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(data, name), 0o750); err != nil {
			return fmt.Errorf("make the folder for the seed: %w", err)
		}
		s := &served{name: name, region: region{URL: regions[name].URL}}
		if s.seed, err = seeded(ctx, data, o); err != nil {
			return err
		}
		if err := s.answers(ctx); err != nil {
			return err // Its ids are another organization's there.
		}
		made, err := fill(ctx, data, s.URL, o, s.seed)
		if err != nil {
			return fmt.Errorf("region %s: %w", name, err)
		}
		fmt.Fprintf(out, "%s: %s\n", name, made)
		all = append(all, s)
	}
	return replace(filepath.Join(data, envName), variables(all))
}

// env is an environment on the running region's engine.
func (r running) env(ctx context.Context, name string) (api.Env, error) {
	region, ok := r.Regions[name]
	if !ok {
		return api.Env{}, errStarting
	}
	client, err := stack.Connect(ctx, name, region.Engine, stack.TableName(name))
	if err != nil {
		return api.Env{}, err
	}
	return stack.NewEnv(name, table.New(client, stack.TableName(name)), slog.New(slog.DiscardHandler)), nil
}
