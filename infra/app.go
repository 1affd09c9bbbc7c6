package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/gateway"
	"lectern/shared/api"
)

// build creates the stacks of every configured region. dist is the folder of the functions'
// binaries, dist/linux-<architecture>/<function>/bootstrap.
func build(app awscdk.App, c *config.Config, groups []api.Group, dist string) error {
	specs, err := function.Specs(groups)
	if err != nil {
		return err
	}
	if err := gateway.CheckPaths(groups); err != nil {
		return err
	}
	binaries := cmp.Or(c.Functions, filepath.Join(dist, "linux-"+goarch[c.Arch]))
	if err := checkBinaries(binaries, specs); err != nil {
		return err
	}
	for key, value := range c.Tags {
		awscdk.Tags_Of(app).Add(&key, &value, nil)
	}
	s := &service{groups, specs, binaries}
	for _, region := range c.Regions {
		state := newState(app, c, region)
		s.stack(app, c, region).AddStackDependency(state, jsii.String("The functions use the table by its name."))
	}
	return nil
}

// goarch maps an architecture of Lambda to GOARCH.
var goarch = map[string]string{"arm64": "arm64", "x86_64": "amd64"}

// checkBinaries returns an error that names each function without a binary.
func checkBinaries(folder string, specs []function.Spec) error {
	var missing []error
	for _, f := range specs {
		if _, err := os.Stat(filepath.Join(folder, f.Name, "bootstrap")); err != nil {
			missing = append(missing, fmt.Errorf("infra: %s is not built (make release): %w", f.Name, err))
		}
	}
	return errors.Join(missing...)
}
