package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// The names of services in signatures. IAM actions begin with the same names.
const (
	dynamoDB       = "dynamodb"
	s3             = "s3"
	sqs            = "sqs"
	eventBridge    = "events"
	secretsManager = "secretsmanager"
	transcription  = "transcribe"
)

// sent is a call as a function sent it to the door.
type sent struct {
	*http.Request
	// group is the calling function, service the name in the call's signature.
	group, service string
	// path is the path behind the function's name.
	path string
	// action is the action in X-Amz-Target; empty for S3.
	action string
	body   []byte
}

// service reads the calls of a service of AWS.
type service struct {
	// target is the text before the action in X-Amz-Target; empty if the service has no such
	// header.
	target string
	// needed returns the permissions for a call.
	needed func(sent) ([]Permission, error)
}

// services has every service that a function may call, by name.
var services = map[string]service{
	dynamoDB:       {"DynamoDB_20120810", items},
	s3:             {"", objects},
	sqs:            {"AmazonSQS", queues},
	eventBridge:    {"AWSEvents", buses},
	secretsManager: {"secretsmanager", secrets},
	transcription:  {"Transcribe", jobs},
}

// scope finds the service in the signature of a call.
var scope = regexp.MustCompile(`\bCredential=[^/,]+/[0-9]{8}/[^/,]+/([a-z0-9-]+)/aws4_request\b`)

// read returns a call with the permissions that the call needs. The error of an unknown call
// names the call, so that a new call is never allowed by mistake.
func read(r *http.Request, body []byte) (sent, []Permission, error) {
	group, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c := sent{Request: r, group: group, path: path, body: body}
	found := scope.FindStringSubmatch(r.Header.Get("Authorization"))
	if found == nil {
		return c, nil, errors.New("recorder: the call is not signed, so its service is unknown")
	}
	c.service = found[1]
	s, known := services[c.service]
	if !known {
		return c, nil, fmt.Errorf("recorder: %s is an unknown service", c.service)
	}
	target, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if target != s.target || (action == "") != (target == "") {
		return c, nil, fmt.Errorf("recorder: %q is no call of %s", r.Header.Get("X-Amz-Target"), c.service)
	}
	c.action = action
	all, err := s.needed(c)
	return c, all, err
}

// permission returns the permission for an action of the call's service.
func (c sent) permission(action, pattern string) Permission {
	return Permission{c.group, c.service + ":" + action, pattern}
}

// decode reads the call's body.
func (c sent) decode(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return fmt.Errorf("recorder: the body of %s: %w", c.action, err)
	}
	return nil
}

// unknown returns the error for a call that the recorder cannot name a permission for.
func (c sent) unknown() error {
	return fmt.Errorf("recorder: %s %s %s?%s is an unknown call of %s", c.Method, c.action, c.path, c.URL.RawQuery, c.service)
}

// queueActions maps the calls of SQS to their IAM actions: a batch has the action of its
// parts.
var queueActions = map[string]string{
	"SendMessage": "SendMessage", "SendMessageBatch": "SendMessage",
	"ReceiveMessage": "ReceiveMessage",
	"DeleteMessage":  "DeleteMessage", "DeleteMessageBatch": "DeleteMessage",
	"ChangeMessageVisibility": "ChangeMessageVisibility", "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
	"GetQueueAttributes": "GetQueueAttributes",
}

// queues returns the permission for a call of SQS. The pattern is the queue's name.
func queues(c sent) ([]Permission, error) {
	var q struct {
		URL string `json:"QueueUrl"`
	}
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	name := q.URL[strings.LastIndexByte(q.URL, '/')+1:]
	action := queueActions[c.action]
	if action == "" || name == "" {
		return nil, c.unknown()
	}
	return []Permission{c.permission(action, name)}, nil
}

// buses returns the permissions for a call of EventBridge. The patterns are the names of the
// buses.
func buses(c sent) (all []Permission, err error) {
	var events struct {
		Entries []struct{ EventBusName string }
	}
	if err := c.decode(&events); err != nil {
		return nil, err
	}
	if c.action != "PutEvents" || len(events.Entries) == 0 {
		return nil, c.unknown()
	}
	for _, e := range events.Entries {
		name := e.EventBusName[strings.LastIndexByte(e.EventBusName, '/')+1:]
		if name == "" {
			name = "default"
		}
		all = append(all, c.permission(c.action, name))
	}
	return all, nil
}

// secretARN finds the name of a secret in an ARN, which ends with six random characters.
var secretARN = regexp.MustCompile(`^arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:(.+)-[A-Za-z0-9]{6}$`)

// secrets returns the permission for a call of Secrets Manager. The pattern is the secret's
// name.
func secrets(c sent) ([]Permission, error) {
	var s struct {
		ID string `json:"SecretId"`
	}
	if err := c.decode(&s); err != nil {
		return nil, err
	}
	if c.action != "GetSecretValue" || s.ID == "" {
		return nil, c.unknown()
	}
	if found := secretARN.FindStringSubmatch(s.ID); found != nil {
		s.ID = found[1]
	}
	return []Permission{c.permission(c.action, s.ID)}, nil
}

// jobs returns the permissions for a call of Amazon Transcribe. The pattern of a job is the start of its
// name. A job reads the media and writes the output with the permissions of the role that starts it.
func jobs(c sent) ([]Permission, error) {
	var j struct {
		Name   string `json:"TranscriptionJobName"`
		Output string `json:"OutputKey"`
		Media  struct {
			URI string `json:"MediaFileUri"`
		}
	}
	if err := c.decode(&j); err != nil {
		return nil, err
	}
	switch c.action {
	case "GetTranscriptionJob":
		return []Permission{c.permission(c.action, jobPattern(j.Name))}, nil
	case "StartTranscriptionJob":
		_, key, _ := strings.Cut(strings.TrimPrefix(j.Media.URI, "s3://"), "/")
		return []Permission{
			c.permission(c.action, "*"),
			{c.group, s3 + ":GetObject", pattern(key, "/")}, {c.group, s3 + ":PutObject", pattern(j.Output, "/")},
		}, nil
	}
	return nil, c.unknown()
}

// uuidLength is the length of the id that ends the name of a job.
const uuidLength = 36

// jobPattern returns the pattern for the name of a job, which ends with a UUID.
func jobPattern(name string) string { return name[:max(len(name)-uuidLength, 0)] + "*" }
