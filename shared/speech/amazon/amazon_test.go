package amazon_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"lectern/shared/speech"
	"lectern/shared/speech/amazon"
)

// double is a server with the protocol of Amazon Transcribe, which answers the same to each call.
type double struct {
	status int
	body   string
	calls  []call
}

// call is a call that the double has received.
type call struct {
	target string
	body   map[string]any
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	one := call{target: r.Header.Get("X-Amz-Target")}
	_ = json.Unmarshal(text, &one.body)
	d.calls = append(d.calls, one)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(d.status)
	_, _ = io.WriteString(w, d.body)
}

// client returns a transcriber that calls a double.
func client(t *testing.T, d *double) speech.Transcriber {
	t.Helper()
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	return amazon.New(aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
}

var job = speech.Job{Name: "lectern-us-1", Media: "s3://files/media/7/9/s/1", Format: "mp4", Bucket: "files", Output: "transcripts/7/9/s/1.json"}

func TestAJobIsStartedOnce(t *testing.T) {
	d := &double{status: 200, body: `{"TranscriptionJob": {"TranscriptionJobStatus": "IN_PROGRESS"}}`}
	c := client(t, d)
	require.NoError(t, c.Start(t.Context(), job))
	require.Equal(t, []call{{"Transcribe.StartTranscriptionJob", map[string]any{
		"TranscriptionJobName": "lectern-us-1", "Media": map[string]any{"MediaFileUri": "s3://files/media/7/9/s/1"}, "MediaFormat": "mp4",
		"IdentifyLanguage": true, "OutputBucketName": "files", "OutputKey": "transcripts/7/9/s/1.json",
		"Settings": map[string]any{"ShowSpeakerLabels": true, "MaxSpeakerLabels": 30.0},
	}}}, d.calls)
	d.status, d.body = 400, `{"__type": "ConflictException", "Message": "The requested job name already exists."}`
	require.NoError(t, c.Start(t.Context(), job), "an earlier call has started it")
}

func TestAnswersWithoutAJob(t *testing.T) {
	for body, want := range map[string]error{
		`{"__type": "LimitExceededException", "Message": "You have too many concurrent jobs."}`:      speech.ErrBusy,
		`{"__type": "com.amazonaws.transcribe#LimitExceededException", "Message": "Rate exceeded."}`: speech.ErrBusy,
	} {
		require.ErrorIs(t, client(t, &double{status: 400, body: body}).Start(t.Context(), job), want, body)
	}
	for _, known := range []error{speech.ErrBusy, speech.ErrAbsent} {
		down := client(t, &double{status: 500, body: `{"__type": "InternalFailureException"}`})
		require.NotErrorIs(t, down.Start(t.Context(), job), known)
		_, err := down.Find(t.Context(), job.Name)
		require.Error(t, err)
		require.NotErrorIs(t, err, known)
	}
	for _, name := range []string{"ThrottlingException", "BadRequestException"} {
		err := client(t, &double{status: 400, body: `{"__type": "` + name + `", "Message": "No."}`}).Start(t.Context(), job)
		require.ErrorContains(t, err, name)
		require.NotErrorIs(t, err, speech.ErrBusy, "the message is tried again")
	}
}

func TestTheStateOfAJob(t *testing.T) {
	for status, want := range map[string]speech.State{
		"QUEUED": speech.Running, "IN_PROGRESS": speech.Running, "COMPLETED": speech.Done, "FAILED": speech.Failed,
	} {
		d := &double{status: 200, body: `{"TranscriptionJob": {"TranscriptionJobStatus": "` + status + `", "FailureReason": "why",
			"Media": {"MediaFileUri": "s3://files/media/1"}}}`}
		found, err := client(t, d).Find(t.Context(), "lectern-us-1")
		require.NoError(t, err)
		require.Equal(t, &speech.Found{State: want, Reason: "why", Media: "s3://files/media/1"}, found)
		require.Equal(t, []call{{"Transcribe.GetTranscriptionJob", map[string]any{"TranscriptionJobName": "lectern-us-1"}}}, d.calls)
	}
	for _, body := range []string{
		`{"__type": "NotFoundException", "Message": "no"}`,
		`{"__type": "BadRequestException", "Message": "The requested job couldn't be found. Check the job name and try your request again."}`,
	} {
		_, err := client(t, &double{status: 400, body: body}).Find(t.Context(), "x")
		require.ErrorIs(t, err, speech.ErrAbsent)
	}
}

// TestACallIsRepeated: the client of a function repeats a call that was throttled.
func TestACallIsRepeated(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type": "ThrottlingException", "Message": "Rate exceeded"}`)
			return
		}
		_, _ = io.WriteString(w, `{"TranscriptionJob": {}}`)
	}))
	defer server.Close()
	began := time.Now()
	require.NoError(t, amazon.New(aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}).Start(t.Context(), job))
	require.Equal(t, 2, calls)
	require.Less(t, time.Since(began), 20*time.Second)
}
