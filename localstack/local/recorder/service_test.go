package recorder_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/recorder"
)

// signedCall is a call of a service with the signature of the SDK.
type signedCall struct {
	service, method, path, target, body string
	header                              map[string]string
}

// jsonCall returns a call of a service that names its action in a header.
func jsonCall(service, target, body string) signedCall {
	return signedCall{service: service, method: http.MethodPost, path: "/", target: target, body: body}
}

// object returns a call of S3.
func object(method, path string) signedCall {
	return signedCall{service: "s3", method: method, path: path, body: "bytes"}
}

// send sends the call through a door as the function of a group, and returns the status and
// the body of the answer.
func (c signedCall) send(t *testing.T, door *recorder.Door, group string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, door.Address(group)+c.path, strings.NewReader(c.body))
	require.NoError(t, err)
	if c.target != "" {
		request.Header.Set("X-Amz-Target", c.target)
	}
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	hash := sha256.Sum256([]byte(c.body))
	if c.service != "" {
		require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, request,
			hex.EncodeToString(hash[:]), c.service, region, time.Now()))
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// openDoor opens a door to an engine that is not there.
func openDoor(t *testing.T, r *recorder.Recorder) *recorder.Door {
	t.Helper()
	door, err := r.Open("http://127.0.0.1:9")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, door.Close()) })
	return door
}

// permissionsOf are the lines that a call needs.
var permissionsOf = []struct {
	call  signedCall
	lines []string
}{
	{jsonCall("sqs", "AmazonSQS.SendMessage", `{"QueueUrl":"https://sqs.us-east-1.amazonaws.com/1/lectern-us-deliveries"}`),
		[]string{"sqs:SendMessage\tlectern-us-deliveries"}},
	{jsonCall("sqs", "AmazonSQS.SendMessageBatch", `{"QueueUrl":"http://127.0.0.1/1/q"}`), []string{"sqs:SendMessage\tq"}},
	{jsonCall("sqs", "AmazonSQS.ReceiveMessage", `{"QueueUrl":"http://127.0.0.1/1/q"}`), []string{"sqs:ReceiveMessage\tq"}},
	{jsonCall("sqs", "AmazonSQS.DeleteMessageBatch", `{"QueueUrl":"http://127.0.0.1/1/q"}`), []string{"sqs:DeleteMessage\tq"}},
	{jsonCall("events", "AWSEvents.PutEvents", `{"Entries":[{"EventBusName":"lectern-us"},{},
		{"EventBusName":"arn:aws:events:us-east-1:123456789012:event-bus/lectern-eu"}]}`),
		[]string{"events:PutEvents\tdefault", "events:PutEvents\tlectern-eu", "events:PutEvents\tlectern-us"}},
	{jsonCall("secretsmanager", "secretsmanager.GetSecretValue", `{"SecretId":"lectern/us/keys"}`),
		[]string{"secretsmanager:GetSecretValue\tlectern/us/keys"}},
	{jsonCall("transcribe", "Transcribe.StartTranscriptionJob",
		`{"TranscriptionJobName":"lectern-us-1","Media":{"MediaFileUri":"s3://b/media/7/9"},"OutputBucketName":"b","OutputKey":"transcripts/7/9.json"}`),
		[]string{"s3:GetObject\tmedia/*", "s3:PutObject\ttranscripts/*", "transcribe:StartTranscriptionJob\t*"}},
	{jsonCall("transcribe", "Transcribe.GetTranscriptionJob", `{"TranscriptionJobName":"lectern-us-6f0a5a5e-0000-4000-8000-000000000000"}`),
		[]string{"transcribe:GetTranscriptionJob\tlectern-us-*"}},
	{jsonCall("secretsmanager", "secretsmanager.GetSecretValue",
		`{"SecretId":"arn:aws:secretsmanager:us-east-1:123456789012:secret:lectern/us/keys-aB3dE6"}`),
		[]string{"secretsmanager:GetSecretValue\tlectern/us/keys"}},
	{object(http.MethodGet, "/files/f/1/2?x-id=GetObject"), []string{"s3:GetObject\tf/*"}},
	{object(http.MethodHead, "/files/f/1/2"), []string{"s3:GetObject\tf/*"}},
	{object(http.MethodGet, "/files/f/1?versionId=7"), []string{"s3:GetObjectVersion\tf/*"}},
	{object(http.MethodGet, "/files/m/1?uploadId=7&max-parts=100&x-id=ListParts"), []string{"s3:ListMultipartUploadParts\tm/*"}},
	{object(http.MethodPut, "/files/plain?x-id=PutObject"), []string{"s3:PutObject\tplain*"}},
	{object(http.MethodPut, "/files/m/1?partNumber=1&uploadId=7&x-id=UploadPart"), []string{"s3:PutObject\tm/*"}},
	{object(http.MethodGet, "/files/f/1?tagging"), []string{"s3:GetObjectTagging\tf/*"}},
	{object(http.MethodPut, "/files/f/1?tagging"), []string{"s3:PutObjectTagging\tf/*"}},
	{signedCall{service: "s3", method: http.MethodPut, path: "/files/f/1", header: map[string]string{"X-Amz-Tagging": "gone=1"}},
		[]string{"s3:PutObject\tf/*", "s3:PutObjectTagging\tf/*"}},
	{object(http.MethodPost, "/files/m/1?uploads"), []string{"s3:PutObject\tm/*"}},
	{object(http.MethodPost, "/files/m/1?uploadId=7"), []string{"s3:PutObject\tm/*"}},
	{object(http.MethodDelete, "/files/m/1?uploadId=7&x-id=AbortMultipartUpload"), []string{"s3:AbortMultipartUpload\tm/*"}},
	{object(http.MethodDelete, "/files/f/%C3%A9/1"), []string{"s3:DeleteObject\tf/*"}},
	{object(http.MethodGet, "/files?prefix=f%2F1%2F2&versions"), []string{"s3:ListBucketVersions\tf/*"}},
	{object(http.MethodGet, "/files/?key-marker=f%2F1&prefix=f&version-id-marker=7&versions="), []string{"s3:ListBucketVersions\tf*"}},
}

// TestACallOfAnotherServiceIsNotedAndHasNoEngine: no engine of these services runs on one
// machine, so a call that the recorder knows is answered with an error that says so.
func TestACallOfAnotherServiceIsNotedAndHasNoEngine(t *testing.T) {
	for _, one := range permissionsOf {
		r := recorder.New(nil)
		status, text := one.call.send(t, openDoor(t, r), "talks")
		name := one.call.method + " " + one.call.target + one.call.path
		require.Equal(t, http.StatusBadRequest, status, name)
		if one.call.method != http.MethodHead {
			require.Contains(t, text, "NotImplemented", name)
			require.Contains(t, text, one.call.service+" has no engine on this machine", name)
		}
		want := make([]string, len(one.lines))
		for i, line := range one.lines {
			want[i] = "talks\t" + line
		}
		require.Equal(t, want, lines(r), name)
	}
}

// TestAnUnknownCallFails: it needs a permission that the recorder does not know, so it is
// neither noted nor done.
func TestAnUnknownCallFails(t *testing.T) {
	for _, call := range []signedCall{
		jsonCall("", "AmazonSQS.SendMessage", `{"QueueUrl":"http://127.0.0.1/1/q"}`),
		jsonCall("kms", "TrentService.Decrypt", "{}"),
		jsonCall("dynamodb", "AmazonSQS.SendMessage", `{"QueueUrl":"http://127.0.0.1/1/q"}`),
		jsonCall("dynamodb", "", "{}"),
		jsonCall("dynamodb", "DynamoDB_20120810.", "{}"),
		jsonCall("dynamodb", "DynamoDB_20120810.GetItem", "text"),
		jsonCall("sqs", "AmazonSQS.CreateQueue", `{"QueueName":"q"}`),
		jsonCall("sqs", "AmazonSQS.SendMessage", "{}"),
		jsonCall("events", "AWSEvents.PutRule", `{"Name":"all"}`),
		jsonCall("events", "AWSEvents.PutEvents", `{"Entries":[]}`),
		jsonCall("secretsmanager", "secretsmanager.PutSecretValue", `{"SecretId":"lectern/us/keys"}`),
		jsonCall("transcribe", "Transcribe.DeleteTranscriptionJob", `{"TranscriptionJobName":"x"}`),
		object(http.MethodGet, "/files?list-type=2"),
		object(http.MethodGet, "/files?versions"),
		object(http.MethodGet, "/files?prefix=&versions"),
		object(http.MethodGet, "/files/f/1?prefix=f%2F&versions"),
		object(http.MethodGet, "/files/f/1?acl"),
		object(http.MethodPut, "/files/f/1?acl"),
		{service: "s3", method: http.MethodPut, path: "/files/f/1", header: map[string]string{"X-Amz-Copy-Source": "files/f/2"}},
		{service: "s3", method: http.MethodGet, path: "/files/f/1", target: "DynamoDB_20120810.GetItem"},
	} {
		r := recorder.New(nil)
		status, text := call.send(t, openDoor(t, r), "talks")
		require.Equal(t, http.StatusBadRequest, status, call)
		require.Contains(t, text, "recorder: ", call)
		require.Empty(t, lines(r), call)
	}
}

// TestARefusalHasTheFormOfTheService: the SDK finds the code of the error in it.
func TestARefusalHasTheFormOfTheService(t *testing.T) {
	refused := recorder.Permission{Group: "talks", Action: "s3:PutObject", Pattern: "f/*"}
	r := recorder.New(&refused)
	status, text := object(http.MethodPut, "/files/f/1").send(t, openDoor(t, r), "talks")
	require.Equal(t, http.StatusForbidden, status)
	var ofS3 struct {
		XMLName       xml.Name
		Code, Message string
	}
	require.NoError(t, xml.Unmarshal([]byte(text), &ofS3))
	require.Equal(t, []string{"Error", "AccessDenied", "talks is not authorized to perform s3:PutObject on f/*"},
		[]string{ofS3.XMLName.Local, ofS3.Code, ofS3.Message})
	require.Equal(t, 1, r.Refusals())
	refused = recorder.Permission{Group: "talks", Action: "sqs:SendMessage", Pattern: "q"}
	status, text = jsonCall("sqs", "AmazonSQS.SendMessage", `{"QueueUrl":"http://127.0.0.1/1/q"}`).send(t, openDoor(t, recorder.New(&refused)), "talks")
	require.Equal(t, http.StatusBadRequest, status)
	var other map[string]string
	require.NoError(t, json.Unmarshal([]byte(text), &other))
	require.Equal(t, "com.amazon.coral.service#AccessDeniedException", other["__type"])
}
