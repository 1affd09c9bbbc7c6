package emulator

import (
	"encoding/json"
	"fmt"
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

// stripped gives the resources of a template after strip, as JSON.
func stripped(t *testing.T, template string) string {
	t.Helper()
	folder := t.TempDir()
	name := filepath.Join(folder, "A.template.json")
	require.NoError(t, os.WriteFile(name, []byte(`{"Resources": `+template+`}`), 0o600))
	require.NoError(t, strip(folder, nil))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var whole struct{ Resources json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &whole))
	return string(whole.Resources)
}

func TestStripTakesAlarmsOnExpressionsAlone(t *testing.T) {
	require.JSONEq(t, `{"One": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "Errors"}}}`, stripped(t, `{
		"One": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "Errors"}},
		"Sum": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Metrics": [{"Id": "a", "Expression": "b + c"}]}}}`))
}

// TestStripTakesTheScannerFromFunctions, since nothing scans there.
func TestStripTakesTheScannerFromFunctions(t *testing.T) {
	function := func(variables string) string {
		return `{"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {` + variables + `}}}}`
	}
	require.JSONEq(t, `{"One": `+function(`"LECTERN_TABLE": "t"`)+`, "Two": `+function(`"LECTERN_TABLE": "t"`)+`}`, stripped(t,
		`{"One": `+function(`"LECTERN_TABLE": "t", "LECTERN_SCANNER": "guardduty"`)+`, "Two": `+function(`"LECTERN_TABLE": "t"`)+`}`))
}

// TestStripOpensQueuesToCallsWithoutTLS, and to no other caller: what the policy allows stays, and so
// does what it refuses for another reason. The policies of other resources stay.
func TestStripOpensQueuesToCallsWithoutTLS(t *testing.T) {
	const (
		insecure = `{"Effect": "Deny", "Action": "sqs:*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}`
		allowed  = `{"Effect": "Allow", "Action": "sqs:SendMessage", "Condition": {"ArnEquals": {"aws:SourceArn": "rule"}}}`
		refused  = `{"Effect": "Deny", "Action": "sqs:DeleteMessage"}`
	)
	policy := func(kind, statements string) string {
		return `{"Type": "` + kind + `", "Properties": {"Queues": ["q"], "PolicyDocument": {"Statement": [` + statements + `]}}}`
	}
	topic := policy("AWS::SNS::TopicPolicy", insecure)
	require.JSONEq(t, `{"Some": `+policy(queuePolicies, allowed+","+refused)+`, "Topic": `+topic+`}`, stripped(t,
		`{"Some": `+policy(queuePolicies, insecure+","+allowed+","+refused)+`, "None": `+policy(queuePolicies, insecure)+`, "Topic": `+topic+`}`))
}

// TestStripAllowsReceiversOnThisMachine to the functions that send webhooks or call identity providers, which have keys.
func TestStripAllowsReceiversOnThisMachine(t *testing.T) {
	const function = `{"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {%s}}}}`
	with := func(variables string) string { return fmt.Sprintf(function, variables) }
	require.JSONEq(t, `{"Deliverer": `+with(`"LECTERN_KEYS": "arn", "LECTERN_LOCAL_RECEIVERS": "1"`)+`, "Sweeper": `+with(`"A": "b"`)+`}`,
		stripped(t, `{"Deliverer": `+with(`"LECTERN_KEYS": "arn"`)+`, "Sweeper": `+with(`"A": "b"`)+`}`))
}

// TestStripTellsReadersOfAStreamToFailAsAWhole: readers of queues go on to report what failed.
func TestStripTellsReadersOfAStreamToFailAsAWhole(t *testing.T) {
	function := func(variables string) string {
		return `{"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {` + variables + `}}}}`
	}
	mapping := func(id, more string) string {
		return `{"Type": "` + mappings + `", "Properties": {` + more + `"FunctionName": {"Ref": "` + id + `"}}}`
	}
	maps := `, "Stream": ` + mapping("Publisher", `"StartingPosition": "TRIM_HORIZON", `) + `, "Queue": ` + mapping("Matcher", "") + `}`
	require.JSONEq(t, `{"Publisher": `+function(`"A": "b", "LECTERN_WHOLE_BATCHES": "1"`)+`, "Matcher": `+function("")+maps,
		stripped(t, `{"Publisher": `+function(`"A": "b"`)+`, "Matcher": `+function("")+maps))
}

// TestStripAllowsCallsWithSeveralMessages to roles that may send or delete one.
func TestStripAllowsCallsWithSeveralMessages(t *testing.T) {
	role := func(actions ...string) string {
		return `{"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": {"Statement": [
			{"Effect": "Allow", "Action": ` + actions[0] + `, "Resource": "q"}, {"Effect": "Allow", "Action": ` + actions[1] + `, "Resource": "r"}]}}]}}`
	}
	require.JSONEq(t, `{"Role": `+role(`["sqs:SendMessage", "sqs:SendMessageBatch"]`, `["sqs:DeleteMessage", "sqs:ReceiveMessage", "sqs:DeleteMessageBatch"]`)+
		`, "Other": `+role(`"events:PutEvents"`, `["dynamodb:Query"]`)+`}`,
		stripped(t, `{"Role": `+role(`"sqs:SendMessage"`, `["sqs:DeleteMessage", "sqs:ReceiveMessage"]`)+
			`, "Other": `+role(`"events:PutEvents"`, `["dynamodb:Query"]`)+`}`))
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
