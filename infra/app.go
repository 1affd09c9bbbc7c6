package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/shared/api"
)

// build describes every configured region. dist is the folder of the functions'
// binaries, dist/linux-<architecture>/<function>/bootstrap.
func build(app awscdk.App, c *config, groups []api.Group, dist string) error {
	all, err := functionsOf(groups)
	if err != nil {
		return err
	}
	if err := checkPaths(groups); err != nil {
		return err
	}
	binaries := cmp.Or(c.functions, filepath.Join(dist, "linux-"+goarch[c.arch]))
	if err := checkBinaries(binaries, all); err != nil {
		return err
	}
	for key, value := range c.tags {
		awscdk.Tags_Of(app).Add(&key, &value, nil)
	}
	for _, at := range c.regions {
		state := newState(app, c, at)
		newService(app, c, at, groups, all, binaries).AddStackDependency(state, jsii.String("The functions use the table by its name."))
	}
	return nil
}

// goarch is how Go calls an architecture that Lambda has.
var goarch = map[string]string{"arm64": "arm64", "x86_64": "amd64"}

// checkBinaries finds out which functions have not been built.
func checkBinaries(folder string, all []function) error {
	var missing []error
	for _, f := range all {
		if _, err := os.Stat(filepath.Join(folder, f.name, "bootstrap")); err != nil {
			missing = append(missing, fmt.Errorf("infra: %s is not built (make release): %w", f.name, err))
		}
	}
	return errors.Join(missing...)
}

// newStack makes a stack of a region.
func newStack(app awscdk.App, c *config, at region, kind, description string, protected bool) awscdk.Stack {
	env := &awscdk.Environment{Region: &at.awsRegion}
	if c.account != "" {
		env.Account = &c.account
	}
	return awscdk.NewStack(app, jsii.String("Lectern-"+at.name+"-"+kind), &awscdk.StackProps{
		Env: env, Description: &description, TerminationProtection: &protected,
		// Every route is in the template, which may have a million bytes.
		SuppressTemplateIndentation: jsii.Bool(true),
	})
}

// output is a value that the stack tells whoever deploys it.
func output(stack awscdk.Stack, name, description string, value *string) {
	awscdk.NewCfnOutput(stack, &name, &awscdk.CfnOutputProps{Value: value, Description: &description})
}
