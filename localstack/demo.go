package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lectern/localstack/cloud/target"
	"lectern/localstack/content/seed"
	"lectern/localstack/local/datadir"
)

// deployedName is the folder in the data folder for the seeds of a deployed service.
const deployedName = "deployed"

// demoCommand declares `lectern demo`.
func demoCommand(data *string) *cobra.Command {
	var deployed bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Make what the demo events lack of the demo conference.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !deployed {
				return fillRunning(c.Context(), *data, c.OutOrStdout())
			}
			regions, err := target.FromEnvironment()
			if err != nil {
				return err
			}
			return fillDeployed(c.Context(), filepath.Join(*data, deployedName), regions, c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&deployed, "deployed", false,
		"make an organization with the demo conference in the service that "+target.Env+" names; the folder deployed in the data "+
			"folder keeps what it was given")
	return c
}

// fillRunning completes the demo events of the running service.
func fillRunning(ctx context.Context, data string, out io.Writer) error {
	for _, name := range datadir.Names {
		region, err := datadir.FindRegion(data, name)
		if err != nil {
			return err
		}
		operator, err := connect(ctx, data, name)
		if err != nil {
			return err
		}
		if err := fill(ctx, seed.Region{Data: data, Name: name, Operator: operator}, region, out); err != nil {
			return err
		}
	}
	return nil
}

// fillDeployed creates the demo conference in each region of a deployed service, with a
// separate organization, event and token, and writes demo.env. The seeds in the folder make a
// second call complete the first.
func fillDeployed(ctx context.Context, data string, regions target.Regions, out io.Writer) error {
	lock, err := datadir.Lock(data)
	if err != nil {
		return err
	}
	defer lock.Close()
	all := map[string]datadir.Region{}
	for _, name := range datadir.Names {
		if at, ok := regions[name]; ok {
			if all[name], err = fillRegion(ctx, seed.Region{Data: data, Name: name, Operator: at}, at.URL, out); err != nil {
				return err
			}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%s names no region of a deployed service", target.Env)
	}
	path, err := datadir.WriteEnv(data, all)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "How to call it, as shell variables: . %s\n", path)
	return nil
}

// fillRegion seeds and fills a region of a deployed service. The token is checked first: in
// another service, the ids of the seed are of another organization.
func fillRegion(ctx context.Context, to seed.Region, url string, out io.Writer) (region datadir.Region, err error) {
	if err := os.MkdirAll(filepath.Join(to.Data, to.Name), 0o750); err != nil {
		return region, fmt.Errorf("make the folder for the seed: %w", err)
	}
	region.URL = url
	if region.Seed, err = to.Load(ctx); err != nil {
		return region, err
	}
	if err := region.CheckToken(ctx, to.Name); err != nil {
		return region, err
	}
	return region, fill(ctx, to, region, out)
}

// fill creates the missing part of the demo conference and prints the number of new records.
func fill(ctx context.Context, to seed.Region, region datadir.Region, out io.Writer) error {
	made, err := to.Fill(ctx, region.URL, region.Seed)
	if err != nil {
		return fmt.Errorf("region %s: %w", to.Name, err)
	}
	fmt.Fprintf(out, "%s: %s\n", to.Name, made)
	return nil
}
