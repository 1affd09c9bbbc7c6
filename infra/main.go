// Command infra is the CDK app that describes Lectern on AWS: for each region a
// stack of state, which is the table, and a stack of service, which is all else.
// Regions share nothing. The CDK's command line starts it (cdk.json); what can be
// configured stands in config.go.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/functions"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the templates of all regions to where the CDK's command line wants
// them.
func run() error {
	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	c, err := configured(contextOf(app))
	if err != nil {
		return err
	}
	if err := build(app, c, functions.Groups, "dist"); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}
