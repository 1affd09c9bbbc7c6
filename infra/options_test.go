package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
)

var withOptions templates

// ofOptions gives the templates of regions with the options that functions know, and no other option.
func ofOptions(t *testing.T) map[string]template {
	t.Helper()
	return withOptions.of(t, func(*testing.T) map[string]any {
		return map[string]any{"transcriber": "amazon", "holdingSlides": true, "scanner": "guardduty"}
	})
}

// options gives the options of templates that functions know.
func options(all map[string]template) events.Options {
	has := func(text string) bool {
		return strings.Contains(all["Lectern-us-Service"].text, text)
	}
	return events.Options{
		Transcriber: has("lectern-us-" + events.Transcriber), Slides: has("lectern-us-" + events.Slides), Scanner: has("LECTERN_SCANNER"),
	}
}

// told gives the values of a variable by the names of the functions that have it.
func told(service template, variable string) map[string]any {
	all := map[string]any{}
	for _, f := range service.of("AWS::Lambda::Function") {
		if value, ok := environment(f)[variable]; ok {
			all[strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-us-")] = value
		}
	}
	return all
}

// TestWorkersAreOptions: without the option of a worker, no template names the worker, a queue, a rule or a
// permission, and no function is told of it. With the option, the functions that need to know are told, and a
// month without requests costs one queue and three metrics more (tools/cost).
func TestWorkersAreOptions(t *testing.T) {
	without := ofDefaults(t)["Lectern-us-Service"]
	for _, option := range []struct {
		name     string
		value    any
		variable string
		told     map[string]any
		// texts are those of no template without the option.
		texts []string
		// metrics is the number of metrics of alarms that the option adds: a rule has one of its own.
		metrics int
	}{
		{"transcriber", "amazon", "LECTERN_TRANSCRIBER", map[string]any{"media": "amazon", "transcriber": "amazon"},
			[]string{"transcriber", "TRANSCRIBER", "lectern-us-media-dead", "transcribe:", "aws.transcribe"}, 4},
		{"holdingSlides", true, "LECTERN_HOLDING_SLIDES", map[string]any{"operator": "1"},
			[]string{"lectern-us-slides", "HOLDING_SLIDES", "DRAWINGS", "lectern-us-drawings", "event.changed"}, 3},
	} {
		with := synthesized(t, map[string]any{"regions": "us", option.name: option.value})["Lectern-us-Service"]
		for _, text := range option.texts {
			require.NotContains(t, without.text, text)
			require.Contains(t, with.text, text)
		}
		require.Equal(t, option.told, told(with, option.variable))
		require.Len(t, with.of("AWS::Lambda::Function"), len(without.of("AWS::Lambda::Function"))+1)
		want := billed(without)
		want["polled queues"]++
		want["metrics of alarms"] += option.metrics
		require.Equal(t, want, billed(with), option.name)
	}
	for worker, w := range map[string]struct {
		queue string
		batch float64
	}{events.Transcriber: {events.Media, 1}, events.Slides: {events.Drawings, 10}} {
		service := ofOptions(t)["Lectern-us-Service"]
		require.Equal(t, map[string]any{
			"EventSourceArn": arnOf(t, service, w.queue), "BatchSize": w.batch, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
			"ScalingConfig": map[string]any{"MaximumConcurrency": 5.0},
		}, mapping(t, service, worker))
	}
}

// TestOpenRegistrationIsAnOption of which the function of OAuth alone is told.
func TestOpenRegistrationIsAnOption(t *testing.T) {
	const variable = "LECTERN_OPEN_REGISTRATION"
	require.Empty(t, told(ofDefaults(t)["Lectern-us-Service"], variable))
	with := synthesized(t, map[string]any{"regions": "us", "openRegistration": true})["Lectern-us-Service"]
	require.Equal(t, map[string]any{"oauth": "1"}, told(with, variable))
}

// TestTheWorkerOfSlidesHasItsMemoryAndItsTime, and is told of its queue, the bucket and the secret of links.
func TestTheWorkerOfSlidesHasItsMemoryAndItsTime(t *testing.T) {
	service := ofOptions(t)["Lectern-us-Service"]
	f := service.Resources[service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-us-slides")]
	of := environment(f)
	require.Equal(t, []any{1024.0, "896MiB", 120.0}, []any{f.Properties["MemorySize"], of["GOMEMLIMIT"], f.Properties["Timeout"]})
	queue := "${" + service.logical(t, "AWS::SQS::Queue", "QueueName", "lectern-us-drawings")
	require.Equal(t, []any{queue + "}", "${KeysArn}", "lectern-us-files-${AWS::AccountId}-us-east-1"},
		[]any{written(of["LECTERN_QUEUE_DRAWINGS"]), written(of["LECTERN_KEYS"]), written(of["LECTERN_BUCKET"])})
	require.Equal(t, map[string]any{"slides": of["LECTERN_QUEUE_DRAWINGS"], "operator": of["LECTERN_QUEUE_DRAWINGS"]},
		told(service, "LECTERN_QUEUE_DRAWINGS"))
}

// TestTheTranscriberMayDoItsJobsAlone: it starts jobs that write into the bucket, and finds jobs of
// the region.
func TestTheTranscriberMayDoItsJobsAlone(t *testing.T) {
	service := ofOptions(t)["Lectern-us-Service"]
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

// TestTheScannerIsAnOption: GuardDuty scans and tags what waits for a verdict, and nothing else, and only the functions
// that ask for verdicts read the tags. Without the option, no template names any of it.
func TestTheScannerIsAnOption(t *testing.T) {
	for _, without := range ofDefaults(t) {
		for _, text := range []string{"GuardDuty", "guardduty", "SCANNER", "Tagging"} {
			require.NotContains(t, without.text, text)
		}
	}
	all := synthesized(t, map[string]any{"regions": "us", "scanner": "guardduty"})
	state, service := all["Lectern-us-State"], all["Lectern-us-Service"]
	require.Equal(t, map[string]any{"media": "guardduty", "sessionfiles": "guardduty"}, told(service, "LECTERN_SCANNER"))
	require.Equal(t, billed(ofDefaults(t)["Lectern-us-Service"]), billed(service))
	bucket := "${" + state.id(t, "AWS::S3::Bucket")
	require.Equal(t, map[string]any{
		"Role":              "${" + state.id(t, "AWS::IAM::Role") + ".Arn}",
		"ProtectedResource": map[string]any{"S3Bucket": map[string]any{"BucketName": bucket + "}", "ObjectPrefixes": []any{"files/", "media/"}}},
		"Actions":           map[string]any{"Tagging": map[string]any{"Status": "ENABLED"}},
	}, written(state.one(t, "AWS::GuardDuty::MalwareProtectionPlan").Properties))
	var read []any
	for _, g := range grants(t, state) {
		for _, action := range many(g.statement["Action"]) {
			if action == "s3:GetObject" {
				read = many(g.statement["Resource"])
			}
		}
	}
	at := "arn:aws:s3:::lectern-us-files-${AWS::AccountId}-us-east-1/"
	require.Equal(t, []any{at + "files/*", at + "media/*"}, read)
	require.Contains(t, ofEverything(t)["Lectern-us-State"].text, "s3.us-west-2.amazonaws.com", "the role may use the key of the account")
}
