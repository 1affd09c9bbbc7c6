// Command infra is the CDK app that describes Lectern on AWS: for each region a stack of
// state with the data, and a stack of service with everything else. Regions share nothing.
// The CDK's command line starts the app (cdk.json); config/config.go lists the options. Read
// app.go, then state.go, backup.go and service.go; the folders hold the parts of a stack by
// subject.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/functions"
	"lectern/infra/config"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the templates of all regions into the folder that the CDK's command line names.
func run() error {
	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	context, _ := app.Node().GetAllContext(nil).(map[string]any)
	c, err := config.Read(context)
	if err != nil {
		return err
	}
	if err := build(app, c, declarations{functions.Groups, events.Workers, events.Rules}, "dist"); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}
