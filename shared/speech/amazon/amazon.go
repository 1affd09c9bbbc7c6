// Package amazon does transcription jobs with Amazon Transcribe.
package amazon

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	"github.com/aws/aws-sdk-go-v2/service/transcribe/types"

	"lectern/shared/speech"
)

// maxSpeakers is the highest number of speakers that Amazon Transcribe tells apart.
const maxSpeakers = 30

// Transcriber is Amazon Transcribe, or a server with its protocol.
type Transcriber struct{ client *transcribe.Client }

// New returns the Transcriber of a configuration. A job reads the media and writes the output with the
// permissions of the role that starts the job.
func New(c aws.Config) Transcriber { return Transcriber{transcribe.NewFromConfig(c)} }

// Start starts a job (speech.Transcriber).
func (a Transcriber) Start(ctx context.Context, j speech.Job) error {
	_, err := a.client.StartTranscriptionJob(ctx, &transcribe.StartTranscriptionJobInput{
		TranscriptionJobName: &j.Name, Media: &types.Media{MediaFileUri: &j.Media}, MediaFormat: types.MediaFormat(j.Format),
		IdentifyLanguage: aws.Bool(true), OutputBucketName: &j.Bucket, OutputKey: &j.Output,
		Settings: &types.Settings{ShowSpeakerLabels: aws.Bool(true), MaxSpeakerLabels: aws.Int32(maxSpeakers)},
	})
	if started := (*types.ConflictException)(nil); errors.As(err, &started) {
		return nil
	}
	return failed("start a job", err)
}

// Find returns a job (speech.Transcriber).
func (a Transcriber) Find(ctx context.Context, name string) (*speech.Found, error) {
	answer, err := a.client.GetTranscriptionJob(ctx, &transcribe.GetTranscriptionJobInput{TranscriptionJobName: &name})
	if unknown(err) {
		return nil, fmt.Errorf("%w: %s", speech.ErrAbsent, name)
	}
	if err != nil {
		return nil, failed("find a job", err)
	}
	job := answer.TranscriptionJob
	found := &speech.Found{Reason: aws.ToString(job.FailureReason)}
	if job.Media != nil {
		found.Media = aws.ToString(job.Media.MediaFileUri)
	}
	switch job.TranscriptionJobStatus {
	case types.TranscriptionJobStatusCompleted:
		found.State = speech.Done
	case types.TranscriptionJobStatusFailed:
		found.State = speech.Failed
	case types.TranscriptionJobStatusQueued, types.TranscriptionJobStatusInProgress:
	}
	return found, nil
}

// unknown reports whether an answer says that there is no job of a name. Amazon Transcribe says so by
// either error.
func unknown(err error) bool {
	absent, bad := (*types.NotFoundException)(nil), (*types.BadRequestException)(nil)
	return errors.As(err, &absent) || errors.As(err, &bad) && strings.Contains(bad.ErrorMessage(), "couldn't be found")
}

// failed returns the error of a call with its meaning; nil for nil.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	if limit := (*types.LimitExceededException)(nil); errors.As(err, &limit) {
		return fmt.Errorf("%w: %s: %w", speech.ErrBusy, doing, err)
	}
	return fmt.Errorf("amazon: %s: %w", doing, err)
}
