package deploytest_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	queues "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/preflight"
	"lectern/localstack/cloud/smoke"
	"lectern/localstack/cloud/target"
)

// The tests of this file fail when the emulator learns a thing for which package emulator changes the
// templates, or what is deployed. The change then goes.

// administrator returns the region us and a configuration of its administrator.
func administrator(t *testing.T) (target.Region, aws.Config) {
	t.Helper()
	region := deployed(t)
	config, err := region.Config(t.Context())
	require.NoError(t, err)
	return region, config
}

// userWith returns the configuration of a new user who may do some actions.
func userWith(t *testing.T, of aws.Config, name string, actions ...string) aws.Config {
	t.Helper()
	users := iam.NewFromConfig(of)
	_, err := users.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
	require.NoError(t, err)
	_, err = users.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{UserName: &name, PolicyName: &name, PolicyDocument: aws.String(
		`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["` + strings.Join(actions, `", "`) + `"], "Resource": "*"}]}`)})
	require.NoError(t, err)
	key, err := users.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: &name})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := users.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: &name, AccessKeyId: key.AccessKey.AccessKeyId})
		require.NoError(t, err)
		_, err = users.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{UserName: &name, PolicyName: &name})
		require.NoError(t, err)
		_, err = users.DeleteUser(ctx, &iam.DeleteUserInput{UserName: &name})
		require.NoError(t, err)
	})
	of.Credentials = credentials.NewStaticCredentialsProvider(*key.AccessKey.AccessKeyId, *key.AccessKey.SecretAccessKey, "")
	return of
}

// queueOf returns the address of a new queue.
func queueOf(t *testing.T, config aws.Config, name string) *string {
	t.Helper()
	client := sqs.NewFromConfig(config)
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := client.DeleteQueue(context.WithoutCancel(t.Context()), &sqs.DeleteQueueInput{QueueUrl: made.QueueUrl})
		require.NoError(t, err)
	})
	return made.QueueUrl
}

// insecure is a policy that refuses calls of an action without TLS.
func insecure(action, resource string) *string {
	return aws.String(`{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "` + action + `", "Resource": "` +
		resource + `", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}]}`)
}

// denied requires that a call is refused for its permission, and says what to do otherwise.
func denied(t *testing.T, err error, otherwise string) {
	t.Helper()
	require.Error(t, err, otherwise)
	var refused smithy.APIError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.ErrorCode(), "AccessDenied", otherwise)
}

// TestTheEmulatorStillHasNoTLSForQueues, and follows the policies that ask for it (openQueue).
func TestTheEmulatorStillHasNoTLSForQueues(t *testing.T) {
	_, config := administrator(t)
	const name = "still-without-tls"
	url := queueOf(t, config, name)
	queue := sqs.NewFromConfig(userWith(t, config, name, "sqs:SendMessage"))
	send := &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("a")}
	_, err := queue.SendMessage(t.Context(), send)
	require.NoError(t, err)
	_, err = sqs.NewFromConfig(config).SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: url, Attributes: map[string]string{"Policy": *insecure("sqs:SendMessage", "*")},
	})
	require.NoError(t, err)
	_, err = queue.SendMessage(t.Context(), send)
	denied(t, err, "calls pass the policies of queues now: leave them as they are")
}

// TestTheEmulatorStillHasNoTLSForBuckets, and follows the policies of buckets (openBuckets).
func TestTheEmulatorStillHasNoTLSForBuckets(t *testing.T) {
	_, config := administrator(t)
	of := func(config aws.Config) *s3.Client {
		return s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	}
	const name = "still-without-tls-of-buckets"
	owner, user := of(config), of(userWith(t, config, name, "s3:GetBucketLocation"))
	_, err := owner.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name)})
	require.NoError(t, err)
	defer func() {
		_, err := owner.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(name)})
		require.NoError(t, err)
	}()
	ask := &s3.GetBucketLocationInput{Bucket: aws.String(name)}
	_, err = user.GetBucketLocation(t.Context(), ask)
	require.NoError(t, err)
	_, err = owner.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{
		Bucket: aws.String(name), Policy: insecure("s3:GetBucketLocation", "arn:aws:s3:::"+name),
	})
	require.NoError(t, err)
	_, err = user.GetBucketLocation(t.Context(), ask)
	denied(t, err, "calls pass the policies of buckets now: leave them as they are")
}

// TestTheEmulatorStillAsksForActionsOfBatches that AWS does not have (allowBatches).
func TestTheEmulatorStillAsksForActionsOfBatches(t *testing.T) {
	_, config := administrator(t)
	const name = "still-in-batches"
	url := queueOf(t, config, name)
	queue := sqs.NewFromConfig(userWith(t, config, name, "sqs:SendMessage", "sqs:DeleteMessage"))
	_, err := queue.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("a")})
	require.NoError(t, err)
	_, err = queue.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
		QueueUrl: url, Entries: []queues.SendMessageBatchRequestEntry{{Id: aws.String("0"), MessageBody: aws.String("a")}},
	})
	denied(t, err, "sqs:SendMessage allows SendMessageBatch now: leave the roles as they are")
	_, err = queue.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{
		QueueUrl: url, Entries: []queues.DeleteMessageBatchRequestEntry{{Id: aws.String("0"), ReceiptHandle: aws.String("a")}},
	})
	denied(t, err, "sqs:DeleteMessage allows DeleteMessageBatch now: leave the roles as they are")
}

// readerTemplate has a table with expiry and a stream, and a function that reports every record of the
// stream as failed.
const readerTemplate = `{"Resources": {
	"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "still-reported", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
		"StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
		"TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": true}}},
	"Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "still-reported", "AssumeRolePolicyDocument": {"Statement": [
		{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]},
		"Policies": [{"PolicyName": "stream", "PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}]}}]}},
	"Reader": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "still-reported", "Runtime": "python3.11", "Handler": "index.handler",
		"Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Code": {"ZipFile":
		"def handler(event, _):\n return {'batchItemFailures': [{'itemIdentifier': r['dynamodb']['SequenceNumber']} for r in event['Records']]}\n"}}},
	"Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"FunctionName": {"Ref": "Reader"}, "StartingPosition": "TRIM_HORIZON",
		"EventSourceArn": {"Fn::GetAtt": ["Table", "StreamArn"]}, "FunctionResponseTypes": ["ReportBatchItemFailures"]}}}}`

// TestTheEmulatorStillIgnoresExpiryAndReports: the expiry of a table in its template (expire), and what
// a reader of a stream reports as failed (failWhole).
func TestTheEmulatorStillIgnoresExpiryAndReports(t *testing.T) {
	region, config := administrator(t)
	stack := url.Values{"StackName": {"Reader"}}
	status, answer := cloudFormation(t, region, "CreateStack", url.Values{
		"StackName": {"Reader"}, "TemplateBody": {readerTemplate}, "Capabilities.member.1": {"CAPABILITY_NAMED_IAM"},
	})
	require.Equal(t, 200, status, answer)
	defer cloudFormation(t, region, "DeleteStack", stack)
	require.Eventually(t, func() bool {
		_, answer = cloudFormation(t, region, "DescribeStacks", stack)
		return strings.Contains(answer, "CREATE_COMPLETE")
	}, time.Minute, 100*time.Millisecond)
	tables, name := dynamodb.NewFromConfig(config), aws.String("still-reported")
	expiry, err := tables.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: name})
	require.NoError(t, err)
	require.NotEqual(t, types.TimeToLiveStatusEnabled, expiry.TimeToLiveDescription.TimeToLiveStatus,
		"templates switch expiry on now: Deploy need not do so")

	_, err = tables.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "a"},
	}})
	require.NoError(t, err)
	last := func() string {
		out, err := lambda.NewFromConfig(config).ListEventSourceMappings(t.Context(), &lambda.ListEventSourceMappingsInput{FunctionName: name})
		require.NoError(t, err)
		require.Len(t, out.EventSourceMappings, 1)
		return aws.ToString(out.EventSourceMappings[0].LastProcessingResult)
	}
	require.Eventually(t, func() bool { return last() != "No records processed" }, time.Minute, 100*time.Millisecond)
	require.Equal(t, "OK - 1 records", last(), "a record that is reported is not taken for handled now: leave the readers as they are")
}

// TestTheEmulatorStillCannotShowWhatSmokeLeavesOut: each check that is left out on an emulator would fail
// there, or shows that the limits of bodies are not those of AWS: the function itself answers.
func TestTheEmulatorStillCannotShowWhatSmokeLeavesOut(t *testing.T) {
	made, err := preflight.Read("../../../cdk.json", "us")
	require.NoError(t, err)
	var out strings.Builder
	results, err := smoke.Run(t.Context(), &out, smoke.Options{Region: deployed(t), Made: made, Unshown: true})
	require.NoError(t, err)
	var names []string
	for _, r := range results[:len(results)-1] {
		names = append(names, r.Name)
		switch {
		case r.State == smoke.LeftOut: // The default deployment has no key of its own.
			require.Equal(t, "key of the table", r.Name, out.String())
		case strings.HasPrefix(r.Name, "body of "):
			require.Contains(t, r.Text, "X-Request-Id", "the emulator refuses large bodies now: check them there too")
		default:
			require.Equal(t, smoke.Failed, r.State, "the emulator shows %s now: check it there too: %s", r.Name, r.Text)
		}
	}
	require.Equal(t, []string{"body of 5 MB", "body of 8 MB", "body of 10.5 MB", "recovery", "keys of roles", "key of the table", "alarms"}, names)
	require.Equal(t, smoke.OK, results[len(results)-1].State, out.String())
}
