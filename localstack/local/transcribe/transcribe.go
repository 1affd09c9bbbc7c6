// Package transcribe takes the place of Amazon Transcribe on one machine. It speaks the protocol of the
// service: a job ends after a moment, writes its output into the bucket, and its end is told by an
// event. It hears nothing: every job has the same text, which says so. Jobs live in memory, so a
// job is unknown after a restart. Read transcribe.go, then output.go.
package transcribe

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"lectern/localstack/local/objects"
	"lectern/shared/speech"
)

// Moment is the time that a job takes.
const Moment = time.Second

// Config describes a stand-in.
type Config struct {
	Bucket objects.Bucket
	// Emit gets the event of the end of each job; nil for nobody.
	Emit func(source, detailType string, detail any) error
	// Moment is the time that a job takes.
	Moment time.Duration
	// Fails is the reason for which every job fails; empty for jobs that are done.
	Fails string
	// Output is the output of each job; nil for the text of the stand-in.
	Output []byte
	Log    *slog.Logger
}

// StandIn is a running stand-in. It is safe for concurrent use.
type StandIn struct {
	Config
	mu      sync.Mutex
	jobs    map[string]*job
	stopped bool
	running sync.WaitGroup
}

// job is a job in the form of an answer.
type job struct {
	Name   string `json:"TranscriptionJobName"`
	Status string `json:"TranscriptionJobStatus"`
	Media  struct {
		URI string `json:"MediaFileUri"`
	}
	Format       string `json:"MediaFormat,omitempty"`
	LanguageCode string `json:",omitempty"`
	Reason       string `json:"FailureReason,omitempty"`
	output       string
	timer        *time.Timer
}

// Start returns a running stand-in.
func Start(c Config) *StandIn { return &StandIn{Config: c, jobs: map[string]*job{}} }

// Stop ends the stand-in: a running job does not end any more.
func (s *StandIn) Stop() {
	s.mu.Lock()
	s.stopped = true
	for _, j := range s.jobs {
		if j.timer.Stop() {
			s.running.Done()
		}
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Jobs returns the number of started jobs.
func (s *StandIn) Jobs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// Running returns the number of jobs that have not ended.
func (s *StandIn) Running() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.Status != speech.JobCompleted && j.Status != speech.JobFailed {
			n++
		}
	}
	return n
}

// startCall is the input of StartTranscriptionJob; of GetTranscriptionJob, it has the name alone.
type startCall struct {
	Name  string `json:"TranscriptionJobName"`
	Media struct {
		URI string `json:"MediaFileUri"`
	}
	Format           string `json:"MediaFormat"`
	IdentifyLanguage bool
	Bucket           string `json:"OutputBucketName"`
	Output           string `json:"OutputKey"`
}

// ServeHTTP answers a call.
func (s *StandIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in startCall
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, "SerializationException", err.Error())
		return
	}
	switch _, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); action {
	case "StartTranscriptionJob":
		s.start(w, in)
	case "GetTranscriptionJob":
		s.get(w, in.Name)
	default:
		refuse(w, "UnknownOperationException", action+" is no call of the stand-in")
	}
}

// start starts a job.
func (s *StandIn) start(w http.ResponseWriter, in startCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.jobs[in.Name] != nil:
		refuse(w, "ConflictException", "The requested job name already exists.")
		return
	case in.Name == "" || in.Output == "" || in.Bucket != s.Bucket.Name || !in.IdentifyLanguage,
		!strings.HasPrefix(in.Media.URI, "s3://"+s.Bucket.Name+"/"):
		refuse(w, "BadRequestException", "The job needs a name, media and an output in the bucket, and IdentifyLanguage.")
		return
	}
	j := &job{Name: in.Name, Status: "IN_PROGRESS", Format: in.Format, output: in.Output}
	j.Media.URI = in.Media.URI
	s.jobs[in.Name] = j
	if !s.stopped {
		s.running.Add(1)
		j.timer = time.AfterFunc(s.Moment, func() { s.end(j) })
	} else {
		j.timer = time.NewTimer(0)
	}
	answer(w, http.StatusOK, map[string]any{"TranscriptionJob": j})
}

// get answers a job.
func (s *StandIn) get(w http.ResponseWriter, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[name] == nil {
		refuse(w, "BadRequestException", "The requested job couldn't be found. Check the job name and try your request again.")
		return
	}
	answer(w, http.StatusOK, map[string]any{"TranscriptionJob": s.jobs[name]})
}

// end ends a job: writes the output, and tells of the end.
func (s *StandIn) end(j *job) {
	defer s.running.Done()
	status, reason := speech.JobCompleted, s.Fails
	if reason == "" {
		if err := s.write(j.output); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		status = speech.JobFailed
	}
	s.mu.Lock()
	j.Status, j.Reason, j.LanguageCode = status, reason, "en-US"
	s.mu.Unlock()
	if s.Emit == nil {
		return
	}
	detail := map[string]string{"TranscriptionJobName": j.Name, "TranscriptionJobStatus": status}
	if err := s.Emit(speech.Source, speech.JobChanged, detail); err != nil {
		s.Log.Error("the stand-in of the transcriber told of no end", "job", j.Name, "error", err)
	}
}

// refuse answers an error in the form of the service.
func refuse(w http.ResponseWriter, name, message string) {
	answer(w, http.StatusBadRequest, map[string]string{"__type": name, "Message": message})
}

// answer writes an answer as JSON. A client that has gone needs no answer.
func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // every answer has a form in JSON
}
