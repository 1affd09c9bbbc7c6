// Package speech turns sound and film into text, by jobs that take minutes to hours (decision 44). A
// Transcriber starts a job and looks at the job's state. The job writes its output into the bucket, and
// Cut cuts the output into fragments. Read speech.go, then output.go; the package
// amazon below does the jobs with Amazon Transcribe.
package speech

import (
	"context"
	"errors"
	"fmt"
)

// Transcribers that a region may have, the values of LECTERN_TRANSCRIBER. Without a value, a region has
// no transcriber.
const (
	// Amazon is Amazon Transcribe.
	Amazon = "amazon"
	// StandIn answers on one machine as Amazon Transcribe does. It hears nothing: each job has the same
	// text, which says so.
	StandIn = "stand-in"
)

// Check returns an error for a text that names no transcriber. An empty text is no mistake.
func Check(name string) error {
	switch name {
	case "", Amazon, StandIn:
		return nil
	}
	return fmt.Errorf("LECTERN_TRANSCRIBER must be %s or %s, or not set: %q", Amazon, StandIn, name)
}

// Provider returns the provider that fragments of a transcriber name.
func Provider(name string) string {
	if name == StandIn {
		return StandIn
	}
	return "amazon-transcribe"
}

// The event by which AWS tells of the end of a job.
const (
	Source       = "aws.transcribe"
	JobChanged   = "Transcribe Job State Change"
	JobCompleted = "COMPLETED"
	JobFailed    = "FAILED"
)

// Folder begins the keys of the outputs.
const Folder = "transcripts"

// Job describes a job to start.
type Job struct {
	// Name is unique in the region and the account.
	Name string
	// Media is the address of the media in S3, and Format the format, such as mp4.
	Media, Format string
	// Bucket and Output name the object for the output.
	Bucket, Output string
}

// State is the state of a job.
type State int

// The states.
const (
	Running State = iota
	Done
	Failed
)

// Found is a job as the transcriber knows it.
type Found struct {
	State State
	// Reason says why the job has failed.
	Reason string
	// Media is the address of the media in S3.
	Media string
}

// Errors of a Transcriber. A repetition may mend any other error.
var (
	// ErrAbsent reports an unknown job.
	ErrAbsent = errors.New("speech: there is no such job")
	// ErrBusy reports that the transcriber takes no further job at the moment.
	ErrBusy = errors.New("speech: the transcriber is busy")
)

// Transcriber does jobs.
type Transcriber interface {
	// Start starts a job. A job that has the name already is no error.
	Start(context.Context, Job) error
	// Find returns a job; ErrAbsent for an unknown name.
	Find(ctx context.Context, name string) (*Found, error)
}
