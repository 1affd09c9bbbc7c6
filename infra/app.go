package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/bus"
	"lectern/infra/config"
	"lectern/infra/function"
	"lectern/infra/gateway"
	"lectern/infra/uploads"
	"lectern/shared/api"
)

// declarations has what the service declares as data.
type declarations struct {
	groups  []api.Group
	workers []events.Worker
	rules   []events.Rule
}

// build creates the stacks of every configured region. dist is the folder of the functions'
// binaries, dist/linux-<architecture>/<function>/bootstrap.
func build(app awscdk.App, c *config.Config, of declarations, dist string) error {
	if options := c.Options(); options != (events.Options{}) {
		of.workers, of.rules = events.With(options)
	}
	specs, err := function.Specs(of.groups)
	if err != nil {
		return err
	}
	workerSpecs, err := function.WorkerSpecs(of.workers, of.rules)
	if err != nil {
		return err
	}
	if err := function.CheckUses(slices.Concat(specs, workerSpecs), bus.Names(of.workers, of.rules)); err != nil {
		return err
	}
	if err := checkStreams(c, workerSpecs); err != nil {
		return err
	}
	if err := gateway.CheckPaths(of.groups); err != nil {
		return err
	}
	binaries := cmp.Or(c.Functions, filepath.Join(dist, "linux-"+goarch[c.Arch]))
	err = checkBinaries(binaries, slices.Concat(specs, workerSpecs))
	if c.UploadService {
		err = errors.Join(err, checkImage(binaries))
	}
	if err != nil {
		return err
	}
	for key, value := range c.Tags {
		awscdk.Tags_Of(app).Add(&key, &value, nil)
	}
	s := &service{of.groups, specs, workerSpecs, of.rules, binaries}
	for _, region := range c.Regions {
		s.region(app, c, region)
	}
	return nil
}

// region creates the stacks of a region, each with the stacks that are deployed before.
func (s *service) region(app awscdk.App, c *config.Config, region config.Region) {
	state := newState(app, c, region)
	made := s.stack(app, c, region)
	made.AddStackDependency(state, jsii.String("The functions use the table by its name."))
	if !c.UploadService {
		return
	}
	at := slices.IndexFunc(s.specs, func(spec function.Spec) bool { return spec.Name == uploads.Function })
	before := uploads.New(app, c, region, uploads.Parts{Spec: s.specs[at], Binaries: s.binaries})
	before.AddStackDependency(state, jsii.String("The tasks use the table by its name."))
	made.AddStackDependency(before, jsii.String("The edges pass forms to the upload service."))
}

// checkStreams refuses a restored table without the ARN of its stream, if a worker reads the
// stream: the parameter has the stream of another table.
func checkStreams(c *config.Config, workers []function.Spec) error {
	var mistakes []error
	for _, region := range c.Regions {
		if region.RestoredTable == "" || region.RestoredStreamARN != "" {
			continue
		}
		for _, w := range workers {
			if w.Source == events.Stream {
				mistakes = append(mistakes, fmt.Errorf("infra: %s.restoredStreamArn is missing: %s reads the stream of %s",
					region.Name, w.Name, region.RestoredTable))
			}
		}
	}
	return errors.Join(mistakes...)
}

// goarch maps an architecture of Lambda to GOARCH.
var goarch = map[string]string{"arm64": "arm64", "x86_64": "amd64"}

// executable has the permissions that a binary needs. Lambda starts the binary as a user who
// does not own the file, with the mode that the file has here.
const executable os.FileMode = 0o555

// checkBinaries returns an error that names each function without a binary that Lambda can
// start.
func checkBinaries(folder string, specs []function.Spec) error {
	var mistakes []error
	for _, f := range specs {
		file, err := os.Stat(filepath.Join(folder, f.Name, "bootstrap"))
		switch {
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("infra: %s is not built (make release): %w", f.Name, err))
		case file.Mode()&executable != executable:
			mistakes = append(mistakes, fmt.Errorf("infra: %s cannot be started by every user (make release, or chmod 755): its mode is %s",
				f.Name, file.Mode()))
		}
	}
	return errors.Join(mistakes...)
}

// checkImage returns an error that names what the image of the upload service lacks.
func checkImage(folder string) error {
	err := checkBinaries(folder, []function.Spec{{Worker: events.Worker{Name: uploads.Name}}})
	if _, missing := os.Stat(filepath.Join(folder, uploads.Name, "Dockerfile")); missing != nil {
		err = errors.Join(err, fmt.Errorf("infra: the image of the upload service is not built (make release): %w", missing))
	}
	return err
}
