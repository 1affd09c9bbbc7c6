package emulator

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/stack"
)

func TestStripTakesResourcesOfTheTypesAlone(t *testing.T) {
	folder := t.TempDir()
	changed, kept := filepath.Join(folder, "A.template.json"), filepath.Join(folder, "B.template.json")
	other := `{ "Resources": {"Table": {"Type": "AWS::DynamoDB::Table"}} }`
	require.NoError(t, os.WriteFile(changed, []byte(`{"Outputs": {"URL": {"Value": 1}}, "Resources": {
		"Link": {"Type": "AWS::WAFv2::WebACLAssociation"}, "Wall": {"Type": "AWS::WAFv2::WebACL", "DependsOn": ["Stage"]}}}`), 0o600))
	require.NoError(t, os.WriteFile(kept, []byte(other), 0o600))
	require.NoError(t, strip(folder, []string{"AWS::WAFv2::WebACLAssociation"}))
	text, err := os.ReadFile(changed)
	require.NoError(t, err)
	require.JSONEq(t, `{"Outputs": {"URL": {"Value": 1}}, "Resources": {"Wall": {"Type": "AWS::WAFv2::WebACL", "DependsOn": ["Stage"]}}}`, string(text))
	text, err = os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, other, string(text))
}

func TestStripTakesThePatternsOfSubscriptions(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "A.template.json")
	require.NoError(t, os.WriteFile(name, []byte(`{"Resources": {
		"Lines": {"Type": "AWS::Logs::SubscriptionFilter", "Properties": {"FilterPattern": "{ $.a = 1 }", "LogGroupName": "a"}},
		"Count": {"Type": "AWS::Logs::MetricFilter", "Properties": {"FilterPattern": "{ $.a = 1 }"}}}}`), 0o600))
	require.NoError(t, strip(folder, nil))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.JSONEq(t, `{"Resources": {
		"Lines": {"Type": "AWS::Logs::SubscriptionFilter", "Properties": {"FilterPattern": "", "LogGroupName": "a"}},
		"Count": {"Type": "AWS::Logs::MetricFilter", "Properties": {"FilterPattern": "{ $.a = 1 }"}}}}`, string(text))
}

// TestEveryOptionIsThatOfTheAppsTests, except what names an account or a region of AWS, and what
// would have to be there already: a table, and the zone of a host.
func TestEveryOptionIsThatOfTheAppsTests(t *testing.T) {
	app := App{Root: "../../..", EveryOption: true}
	got, err := app.context("http://127.0.0.1:1", "arm64", "dist")
	require.NoError(t, err)
	var want map[string]any
	require.NoError(t, app.read(everyOption, &want))
	for name := range want {
		require.Contains(t, got, name)
	}
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.NotContains(t, string(text), testAccount)
	for name, aws := range stack.Regions {
		of := got[name].(map[string]any)
		require.Equal(t, aws, of["awsRegion"])
		require.NotContains(t, of, "restoredTable")
		require.Contains(t, of["alarmTopicArn"], "arn:aws:sns:"+aws+":"+account+":")
		require.Contains(t, of["domain"], "certificateArn")
		require.NotContains(t, of["domain"], "hostedZoneId")
	}
	app.EveryOption = false
	got, err = app.context("http://127.0.0.1:1", "arm64", "dist")
	require.NoError(t, err)
	require.NotContains(t, got, "customerKey")
	require.Equal(t, "http://127.0.0.1:1", got["endpoint"])
}
