package deploytest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/emulator"
	"lectern/localstack/cloud/target"
	"lectern/localstack/test/stacktest"
)

// TestTheEmulatorStillRefusesWhatIsLeftOutForIt: a type that the emulator has learned goes from
// the list, and is deployed again.
func TestTheEmulatorStillRefusesWhatIsLeftOutForIt(t *testing.T) {
	regions, err := target.Emulated()
	require.NoError(t, err)
	for _, kind := range emulator.Lacking {
		status, answer := createStack(t, regions["us"], fmt.Sprintf(`{"Resources": {"Only": {"Type": %q}}}`, kind))
		require.Equal(t, http.StatusBadRequest, status, "the emulator has %s now: take it from emulator.Lacking: %s", kind, answer)
		require.Contains(t, answer, "Unrecognized resource types: ["+kind+"]")
	}
}

// TestTheEmulatorStillRefusesAlarmsOnExpressions: once it takes them, they are deployed.
func TestTheEmulatorStillRefusesAlarmsOnExpressions(t *testing.T) {
	regions, err := target.Emulated()
	require.NoError(t, err)
	const template = `{"Resources": {"Only": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"ComparisonOperator": "LessThanThreshold",
		"EvaluationPeriods": 1, "Threshold": 1, "Metrics": [{"Id": "a", "Expression": "b"}, {"Id": "b", "ReturnData": false,
			"MetricStat": {"Metric": {"Namespace": "AWS/Lambda", "MetricName": "Errors"}, "Period": 60, "Stat": "Sum"}}]}}}}`
	status, answer := createStack(t, regions["us"], template)
	require.Equal(t, http.StatusOK, status, answer)
	defer cloudFormation(t, regions["us"], "DeleteStack", nil)
	require.Eventually(t, func() bool {
		_, answer = cloudFormation(t, regions["us"], "DescribeStackEvents", nil)
		return strings.Contains(answer, "metric math) is not supported") || strings.Contains(answer, "CREATE_COMPLETE")
	}, time.Minute, 100*time.Millisecond, "neither made nor refused")
	require.NotContains(t, answer, "CREATE_COMPLETE", "the emulator has alarms on expressions now: leave them in the templates")
}

// TestTheEmulatorStillKnowsNoPatternOfFields: once it does, subscriptions keep their patterns.
func TestTheEmulatorStillKnowsNoPatternOfFields(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	regions, err := target.Emulated()
	require.NoError(t, err)
	config, err := regions["us"].Config(t.Context())
	require.NoError(t, err)
	logs := cloudwatchlogs.NewFromConfig(config)
	found, err := logs.DescribeSubscriptionFilters(t.Context(), &cloudwatchlogs.DescribeSubscriptionFiltersInput{LogGroupName: aws.String("/lectern/us/api")})
	require.NoError(t, err)
	require.Len(t, found.SubscriptionFilters, 1)
	of := found.SubscriptionFilters[0]
	with := func(pattern string) {
		_, err := logs.PutSubscriptionFilter(t.Context(), &cloudwatchlogs.PutSubscriptionFilterInput{
			LogGroupName: of.LogGroupName, FilterName: of.FilterName, DestinationArn: of.DestinationArn, FilterPattern: &pattern,
		})
		require.NoError(t, err)
	}
	with(`{ $.msg = "request" }`)
	defer with("")
	missing := s.Call(t, 200, http.MethodGet, "/v1/events", nil)
	time.Sleep(2 * time.Second) // The emulator writes the line after the answer.
	with("")
	for _, e := range s.Requests(t, s.Call(t, 200, http.MethodGet, "/v1/events", nil)) {
		require.NotEqual(t, missing.Header.Get(stacktest.RequestID), e.RequestID, "the emulator knows patterns of fields: leave them in the templates")
	}
}

// createStack asks CloudFormation for a stack of a template and returns the answer.
func createStack(t *testing.T, region target.Region, template string) (status int, answer string) {
	t.Helper()
	return cloudFormation(t, region, "CreateStack", url.Values{"TemplateBody": {template}})
}

// cloudFormation calls an action of CloudFormation for the stack and returns the answer.
func cloudFormation(t *testing.T, region target.Region, action string, with url.Values) (status int, answer string) {
	t.Helper()
	values := url.Values{"Action": {action}, "Version": {"2010-05-15"}, "StackName": {"Lacking"}}
	maps.Copy(values, with)
	form := values.Encode()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, region.Endpoint, strings.NewReader(form))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	hash := sha256.Sum256([]byte(form))
	key := aws.Credentials{AccessKeyID: target.Key, SecretAccessKey: target.Key}
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), key, request, hex.EncodeToString(hash[:]), "cloudformation", region.AWSRegion, time.Now()))
	got, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got.StatusCode, string(text)
}
