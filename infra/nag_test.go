package main

import (
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
	"github.com/stretchr/testify/require"
)

// What a rule finds is mended, or accepted beside the resource with a reason.
func TestTheRulesOfCdkNagAreKept(t *testing.T) {
	for name, context := range map[string]map[string]any{"defaults": {"regions": "us"}, "everything": everything(t)} {
		app := appOf(t, context)
		awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
			Verbose: jsii.Bool(true), Reports: jsii.Bool(false),
		}), nil)
		for _, kind := range []string{"State", "Service"} {
			stack := app.Node().FindChild(jsii.String("Lectern-us-" + kind)).(awscdk.Stack)
			notes, all := assertions.Annotations_FromStack(stack), assertions.Match_StringLikeRegexp(jsii.String(".*"))
			require.NotPanics(t, func() { notes.HasNoError(jsii.String("*"), all) }, name)
			require.NotPanics(t, func() { notes.HasNoWarning(jsii.String("*"), all) }, name)
		}
	}
}
