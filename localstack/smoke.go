package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lectern/localstack/cloud/preflight"
	"lectern/localstack/cloud/smoke"
	"lectern/localstack/cloud/target"
	"lectern/localstack/local/datadir"
)

// smokeOptions holds the flags of `lectern smoke`.
type smokeOptions struct{ region, config string }

// smokeCommand declares `lectern smoke`.
func smokeCommand() *cobra.Command {
	o := &smokeOptions{}
	c := &cobra.Command{
		Use:   "smoke",
		Short: "Check a deployed region after a deployment.",
		Long: "Check the deployed region that " + target.Env + " names, with the credentials of the environment: the API, the\n" +
			"table, the roles and the settings in AWS. The checks work in a new organization, which is disabled at the end and\n" +
			"stays. They last some minutes and cost some cents. A check that the credentials do not allow is left out. It ends\n" +
			"with status 1 if a check failed.",
		Args: cobra.NoArgs,
		RunE: o.run,
	}
	c.Flags().StringVar(&o.region, "region", datadir.Names[0], "us or eu")
	c.Flags().StringVar(&o.config, "config", "cdk.json", "file with the configuration of the deployment")
	return c
}

// run does the checks and prints the results.
func (o *smokeOptions) run(c *cobra.Command, _ []string) error {
	regions, err := target.FromEnvironment()
	if err != nil {
		return err
	}
	if regions == nil {
		return errors.New("no deployed service: set " + target.Env + " (docs/deploying.md, first deployment)")
	}
	region, found := regions[o.region]
	if !found {
		return fmt.Errorf("%s does not say where the region %s is", target.Env, o.region)
	}
	made, err := preflight.Read(o.config, o.region)
	if err != nil {
		return err
	}
	results, err := smoke.Run(c.Context(), c.OutOrStdout(), smoke.Options{Region: region, Made: made})
	if err != nil {
		return err
	}
	if failed := smoke.Count(results, smoke.Failed); failed > 0 {
		return fmt.Errorf("the deployed region is not as it should be, checks failed: %d", failed)
	}
	return nil
}
