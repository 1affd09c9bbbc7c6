package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lectern/localstack/deployed"
)

// fillRunning makes what the demo events of the running service lack.
func fillRunning(ctx context.Context, data string, out io.Writer) error {
	for _, name := range names {
		r, err := findRegion(data, name)
		if err != nil {
			return err
		}
		env, err := r.env(ctx, name)
		if err != nil {
			return err
		}
		made, err := fill(ctx, data, r.URL, here(env), r.seed)
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
