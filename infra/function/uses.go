package function

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/bus"
	"lectern/infra/stack"
	"lectern/shared/media"
	"lectern/shared/recording"
	"lectern/shared/sessionfile"
	"lectern/shared/speech"
)

// Parts of a region, beside the table, that functions call.
const (
	theBus  = "BUS"
	theKeys = "KEYS"
	// theBucket has the bytes.
	theBucket = "BUCKET"
	// theAddress is the address of the API, for links.
	theAddress = "API_URL"
	// theTranscriber does the jobs of a region with a transcriber.
	theTranscriber = "TRANSCRIBER"
	// theSlides are drawn in a region with holding slides.
	theSlides = "HOLDING_SLIDES"
	// theRegistration tells that applications register themselves, in a region where they may.
	theRegistration = "OPEN_REGISTRATION"
	// theScanner looks for malware in a region with a scanner.
	theScanner = "SCANNER"
	// theModel is the language model of a region with one, and theModelRegion the AWS region of the model.
	theModel       = "QUERY_MODEL"
	theModelRegion = "QUERY_MODEL_REGION"
	// aQueue begins the variable of each queue.
	aQueue = "QUEUE"
)

// use allows a function to call a part of its region. The function finds the part by a variable of
// its environment.
type use struct {
	part string
	// queue is the name of the queue; empty for other parts.
	queue   string
	actions []string
	// kind begins the keys of the objects in the bucket; empty for other parts.
	kind string
	// listing is an action on the bucket that lists the objects of the kind; empty for none.
	listing string
	// options are those of the regions with the part; none for a part of every region.
	options events.Options
	// intoBucket reports whether the actions have no resource, and write into the bucket alone.
	intoBucket bool
}

// Actions on objects that also need the account's key.
const putObject, getObject = "s3:PutObject", "s3:GetObject"

// abortUpload ends an upload in parts, listParts lists its parts.
const abortUpload, listParts = "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"

// Uses by purpose.
var (
	// publish puts events on the bus.
	publish = use{part: theBus, actions: []string{"events:PutEvents"}}
	// unseal reads the secret that the keys of the region are derived from.
	unseal = use{part: theKeys, actions: []string{"secretsmanager:GetSecretValue"}}
	// link writes the addresses of records, and calls nothing.
	link = use{part: theAddress}
	// attempt sends a delivery to the deliverer.
	attempt = send(events.Deliveries)
)

// askModel asks the language model of the region.
var askModel = []use{{part: theModel, actions: []string{"bedrock:InvokeModel"}}, {part: theModelRegion}}

// send allows to send messages to a queue.
func send(queue string) use {
	return use{part: aQueue, queue: queue, actions: []string{"sqs:SendMessage"}}
}

// empty allows to take messages out of a dead-letter queue.
func empty(queue string) use {
	return use{part: aQueue, queue: queue, actions: []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}}
}

// keep allows actions on the objects of a kind, the first part of their keys.
func keep(kind string, actions ...string) use {
	return use{part: theBucket, kind: kind, actions: actions}
}

// remove allows to remove the objects of a kind, and more actions. A list names the versions of an object.
func remove(kind string, more ...string) use {
	u := keep(kind, append(more, "s3:DeleteObjectVersion")...)
	u.listing = "s3:ListBucketVersions"
	return u
}

// only makes a use one of the regions with options.
func only(options events.Options, u use) use {
	u.options = options
	return u
}

// The options of uses.
var (
	transcribed = events.Options{Transcriber: true}
	drawn       = events.Options{Slides: true}
	scanned     = events.Options{Scanner: true}
)

// Uses of options. order tells a function that there is a transcriber, setUp that holding slides are drawn, and
// ask that there is a scanner.
// AWS knows no resource of a job to be started.
var (
	order    = only(transcribed, use{part: theTranscriber})
	startJob = only(transcribed, use{part: theTranscriber, actions: []string{"transcribe:StartTranscriptionJob"}, intoBucket: true})
	findJob  = only(transcribed, use{part: theTranscriber, actions: []string{"transcribe:GetTranscriptionJob"}})
	setUp    = only(drawn, use{part: theSlides})
	ask      = only(scanned, use{part: theScanner})
)

// judge allows to read the tags of the objects of a kind, by which the scanner tells what it has found. refuse allows
// to remove objects of a kind in which it has found malware.
func judge(kind string) use  { return only(scanned, keep(kind, "s3:GetObjectTagging")) }
func refuse(kind string) use { return only(scanned, remove(kind)) }

// used lists what each function calls beside the table. `.ci/permissions` compares the actions with
// the calls of the functions, as those of declared. Lambda itself reads the source of a worker, with
// the worker's role: the policies for that are in role.go.
var used = map[string][]use{
	// publisher keeps the keys of the change records that it cannot decode.
	events.Publisher: {publish, send(bus.Unpublished)},
	events.Matcher:   {attempt, link},
	events.Deliverer: {attempt, unseal},
	events.Sweeper:   {attempt},
	"webhooks":       {unseal},
	"oauth":          {unseal, {part: theRegistration}},
	"gdpr":           {unseal},
	"insights":       askModel,
	"recordings":     {keep(recording.Folder, putObject, getObject)},
	"media": {
		keep(media.Folder, putObject, getObject, abortUpload, listParts), order, judge(media.Folder), refuse(media.Folder), ask,
	},
	// sessionfiles signs links with a key of the region, and removes bytes and parts that it refuses.
	"sessionfiles": {remove(sessionfile.Folder, putObject, getObject, abortUpload), judge(sessionfile.Folder), ask, unseal},
	// slides signs links with a key of the region, and sends sessions to its own queue.
	events.Slides: {remove(sessionfile.Folder, putObject), send(events.Drawings), unseal},
	// transcriber checks a job later by its own queue. A job reads and writes with its role.
	events.Transcriber: {
		keep(media.Folder, getObject), remove(speech.Folder, putObject, getObject), send(events.Media), startJob, findJob,
	},
	// dataworker sends the second round of an erasure to its own queue, and removes the files of a person. It
	// replaces recordings by converted ones, in parts.
	events.Dataworker: {
		remove(sessionfile.Folder, abortUpload), remove(recording.Folder, putObject, getObject, abortUpload, listParts),
		send(events.Work), link,
	},
	// operator publishes again what the dead-letter queues of bus and stream stand for, and moves the
	// messages of the others back. Its maintenance removes bytes.
	Operator: {
		remove(media.Folder, abortUpload), remove(recording.Folder, abortUpload), remove(sessionfile.Folder, abortUpload),
		unseal, publish, send(events.Webhooks), attempt, send(events.Work),
		empty(bus.DeadOf(events.Webhooks)), empty(bus.DeadOf(events.Deliveries)), empty(bus.DeadOf(events.Work)),
		only(transcribed, send(events.Media)), only(transcribed, empty(bus.DeadOf(events.Media))),
		setUp, only(drawn, send(events.Drawings)), only(drawn, empty(bus.DeadOf(events.Drawings))),
	},
}

// CheckUses returns an error that names each queue that a function uses and no worker has.
func CheckUses(specs []Spec, queues []string) (err error) {
	for _, s := range specs {
		for _, u := range s.uses {
			if u.part == aQueue && u.options == (events.Options{}) && !slices.Contains(queues, u.queue) {
				err = errors.Join(err, fmt.Errorf("infra: %s uses the queue %s, which no worker has", s.Name, u.queue))
			}
		}
	}
	return err
}

// usesIn returns the uses of the function in a region.
func (s Spec) usesIn(in *stack.Stack) []use {
	options := in.Config.Options()
	return slices.DeleteFunc(slices.Clone(s.uses), func(u use) bool {
		return !options.Has(u.options) || u.ofModel() && in.Region.QueryModel == nil ||
			u.part == theRegistration && !in.Config.OpenRegistration
	})
}

// ofModel reports whether the part is one of regions with a language model.
func (u use) ofModel() bool { return u.part == theModel || u.part == theModelRegion }

// usesKeys reports whether the function reads the secret of the region.
func (s Spec) usesKeys() bool {
	return slices.ContainsFunc(s.uses, func(u use) bool { return u.part == theKeys })
}

// usesBucket reports whether the function calls the bucket with one of the actions; with any if none is
// given.
func (s Spec) usesBucket(actions ...string) bool {
	for _, u := range s.uses {
		one := func(action string) bool { return slices.Contains(u.actions, action) }
		if u.part == theBucket && (actions == nil || slices.ContainsFunc(actions, one)) {
			return true
		}
	}
	return false
}

// variable returns the name of the variable that names the part.
func (u use) variable() string {
	name := "LECTERN_" + u.part
	if u.queue != "" {
		name += "_" + strings.ToUpper(strings.ReplaceAll(u.queue, "-", "_"))
	}
	return name
}

// names returns the ARN of the part, for the role, and the value of its variable.
func (u use) names(in *stack.Stack, of Parts) (arn, value *string) {
	switch u.part {
	case theAddress:
		return nil, of.Address
	case theBus:
		return of.Bus.Bus.AttrArn(), of.Bus.Bus.Ref()
	case theKeys:
		return in.SecretARN(), in.SecretARN()
	case theBucket:
		return in.ObjectsARN(u.kind), in.BucketName()
	case theTranscriber:
		return in.JobsARN(), &in.Config.Transcriber
	case theSlides, theRegistration:
		return nil, jsii.String("1")
	case theScanner:
		return nil, &in.Config.Scanner
	case theModel:
		return in.ModelARN(), &in.Region.QueryModel.ID
	case theModelRegion:
		return nil, &in.Region.QueryModel.AWSRegion
	}
	queue := of.Bus.Queue(u.queue)
	return queue.QueueArn(), queue.QueueUrl()
}

// callPolicy allows a function to call the parts of the region that it uses.
func callPolicy(in *stack.Stack, spec Spec, of Parts) awsiam.PolicyDocument {
	policy := awsiam.NewPolicyDocument(nil)
	for _, u := range spec.usesIn(in) {
		if u.actions == nil {
			continue
		}
		arn, _ := u.names(in, of)
		props := &awsiam.PolicyStatementProps{Actions: jsii.Strings(u.actions...), Resources: &[]*string{arn}}
		if u.intoBucket {
			props.Resources = jsii.Strings("*")
			props.Conditions = &map[string]any{"StringEquals": map[string]any{"transcribe:OutputBucketName": in.BucketName()}}
		}
		policy.AddStatements(awsiam.NewPolicyStatement(props))
		if u.listing != "" {
			policy.AddStatements(u.list(in))
		}
		if u.part == theModel && in.Region.QueryModel.Profile() != "" {
			policy.AddStatements(u.behind(in, arn))
		}
	}
	return policy
}

// list allows to list the objects of the kind, and refuses a list of other objects.
func (u use) list(in *stack.Stack) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings(u.listing), Resources: &[]*string{in.BucketARN()},
		Conditions: &map[string]any{"StringLike": map[string]any{"s3:prefix": u.kind + "/*"}},
	})
}

// behind allows to ask the model of an inference profile through the profile alone.
func (u use) behind(in *stack.Stack, profile *string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings(u.actions...), Resources: &[]*string{in.ProfiledARN()},
		Conditions: &map[string]any{"StringLike": map[string]any{"bedrock:InferenceProfileArn": profile}},
	})
}
