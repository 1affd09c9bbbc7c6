package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"lectern/localstack/cloud/preflight"
	"lectern/localstack/cloud/target"
	"lectern/localstack/local/datadir"
)

// preflightOptions holds the flags of `lectern preflight`.
type preflightOptions struct{ region, config string }

// preflightCommand declares `lectern preflight`.
func preflightCommand() *cobra.Command {
	o := &preflightOptions{}
	c := &cobra.Command{
		Use:   "preflight",
		Short: "Check that an AWS account is ready for the deployment of a region.",
		Long: "Read the account of the environment's credentials, in the AWS region that cdk.json gives the region, and print what\n" +
			"the deployment needs: the account itself, concurrent executions, API Gateway's role for logs and limits of requests,\n" +
			"the domain's certificate. Nothing is written. It needs lambda:GetAccountSettings, apigateway:GET and, for the options\n" +
			"that ask for them, lambda:GetFunctionConcurrency and acm:DescribeCertificate. It ends with status 1 if a check failed.\n" +
			"Options of the CDK's command line (-c) are not known to it.",
		Args: cobra.NoArgs,
		RunE: o.run,
	}
	c.Flags().StringVar(&o.region, "region", datadir.Names[0], "us or eu")
	c.Flags().StringVar(&o.config, "config", "cdk.json", "file with the configuration of the deployment")
	return c
}

// run does the checks and prints the findings.
func (o *preflightOptions) run(c *cobra.Command, _ []string) error {
	deployment, err := preflight.Read(o.config, o.region)
	if err != nil {
		return err
	}
	with, err := target.Region{AWSRegion: deployment.At.AWSRegion}.Config(c.Context())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s in %s\n", o.region, deployment.At.AWSRegion)
	failed, err := preflight.Print(c.OutOrStdout(), preflight.Run(c.Context(), with, deployment))
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("the account is not ready, checks failed: %d", failed)
	}
	return nil
}
