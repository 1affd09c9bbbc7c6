package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
)

var (
	onceTranscriber sync.Once
	withTranscriber map[string]template
)

// ofTranscriber gives the templates of regions with a transcriber and no other option.
func ofTranscriber(t *testing.T) map[string]template {
	t.Helper()
	onceTranscriber.Do(func() { withTranscriber = synthesized(t, map[string]any{"transcriber": "amazon"}) })
	require.NotEmpty(t, withTranscriber)
	return withTranscriber
}

// transcribes reports whether templates have the transcriber.
func transcribes(all map[string]template) bool {
	return strings.Contains(all["Lectern-us-Service"].text, "lectern-us-transcriber")
}

// rulesOf gives the rules that templates have.
func rulesOf(all map[string]template) []events.Rule {
	if transcribes(all) {
		_, rules := events.WithTranscriber()
		return rules
	}
	return events.Rules
}

// TestTheTranscriberIsAnOption: without it, no template names a worker, a queue, a rule or a permission,
// and no function is told of one. With it, the functions that order and do transcriptions are told.
func TestTheTranscriberIsAnOption(t *testing.T) {
	without := ofDefaults(t)["Lectern-us-Service"]
	for _, text := range []string{"transcriber", "TRANSCRIBER", "lectern-us-media-dead", "transcribe:", "aws.transcribe"} {
		require.NotContains(t, without.text, text)
	}
	service := ofTranscriber(t)["Lectern-us-Service"]
	told := map[string]any{}
	for _, f := range service.of("AWS::Lambda::Function") {
		if name, ok := environment(f)["LECTERN_TRANSCRIBER"]; ok {
			told[strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-us-")] = name
		}
	}
	require.Equal(t, map[string]any{"media": "amazon", "transcriber": "amazon"}, told)
	require.Len(t, service.of("AWS::Lambda::Function"), len(without.of("AWS::Lambda::Function"))+1)
	require.Equal(t, map[string]any{
		"EventSourceArn": arnOf(t, service, "media"), "BatchSize": 1.0, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
		"ScalingConfig": map[string]any{"MaximumConcurrency": 5.0},
	}, mapping(t, service, "transcriber"))
}

// TestTheTranscriberMayDoItsJobsAlone: it starts jobs that write into the bucket, and finds jobs of
// the region.
func TestTheTranscriberMayDoItsJobsAlone(t *testing.T) {
	service := ofTranscriber(t)["Lectern-us-Service"]
	var jobs []map[string]any
	for _, s := range statements(t, service, "transcriber", "calls") {
		if strings.Contains(plain(t, s), "transcribe:") {
			jobs = append(jobs, s)
		}
	}
	require.ElementsMatch(t, []map[string]any{
		{
			"Effect": "Allow", "Action": "transcribe:StartTranscriptionJob", "Resource": "*",
			"Condition": map[string]any{"StringEquals": map[string]any{"transcribe:OutputBucketName": "lectern-us-files-${AWS::AccountId}-us-east-1"}},
		},
		{
			"Effect": "Allow", "Action": "transcribe:GetTranscriptionJob",
			"Resource": "arn:aws:transcribe:us-east-1:${AWS::AccountId}:transcription-job/lectern-us-*",
		},
	}, jobs)
}
