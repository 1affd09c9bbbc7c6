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

// fillDeployed gives each region that a deployed service has the demo conference, with an
// organization, event and token of its own, and writes demo.env as up does. What it has
// made in all of a region is kept in the folder, so that a second call makes nothing twice.
func fillDeployed(ctx context.Context, data string, regions deployed.Regions, out io.Writer) error {
	file, err := claim(data)
	if err != nil {
		return err
	}
	defer file.Close()
	var all []*served
	for _, name := range names {
		at, ok := regions[name]
		if !ok {
			continue
		}
		s, err := fillOne(ctx, data, at.URL, office{region: name, do: at.Do}, out)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return fmt.Errorf("%s names no region of a deployed service", deployed.Env)
	}
	path := filepath.Join(data, envName)
	if err := replace(path, variables(all)); err != nil {
		return err
	}
	fmt.Fprintf(out, "How to call it, as shell variables: . %s\n", path)
	return nil
}

// fillOne does it for one region.
func fillOne(ctx context.Context, data, url string, o office, out io.Writer) (s *served, err error) {
	if err := os.MkdirAll(filepath.Join(data, o.region), 0o750); err != nil {
		return nil, fmt.Errorf("make the folder for the seed: %w", err)
	}
	s = &served{name: o.region, region: region{URL: url}}
	if s.seed, err = seeded(ctx, data, o); err != nil {
		return nil, err
	}
	// The ids of another service's seed are another organization's here.
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	made, err := fill(ctx, data, url, o, s.seed)
	if err != nil {
		return nil, fmt.Errorf("region %s: %w", o.region, err)
	}
	fmt.Fprintf(out, "%s: %s\n", o.region, made)
	return s, nil
}
