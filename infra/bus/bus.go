// Package bus describes how a change gets from the stream of the table to the workers: the bus, the
// rules and the queues, made from the declarations in the package events. Read bus.go first, then
// queues.go.
package bus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

const (
	// keptSeconds is the age at which the bus gives an event up, and furtherTries the number of
	// tries until then, both the maximum of EventBridge.
	keptSeconds  = 24 * 3600
	furtherTries = 185
)

// Bus has the bus of a region, its rules and all queues.
type Bus struct {
	Bus awsevents.CfnEventBus
	// Rules has the full names of the rules by their names, and OfAWS the names of those for the events
	// of AWS.
	Rules map[string]string
	OfAWS map[string]bool
	// queues has the queues by name, the dead-letter queues too.
	queues map[string]awssqs.Queue
}

// New creates the bus, the queues of the workers with their dead-letter queues, and the rules.
func New(in *stack.Stack, workers []events.Worker, rules []events.Rule) *Bus {
	b := &Bus{Rules: map[string]string{}, OfAWS: map[string]bool{}, queues: map[string]awssqs.Queue{}}
	b.Bus = awsevents.NewCfnEventBus(in.Scope, jsii.String("Bus"), &awsevents.CfnEventBusProps{
		Name: jsii.String(in.Region.Prefix()), Description: jsii.String("The published changes of Lectern " + in.Region.Name),
	})
	for _, w := range workers {
		b.addQueues(in, w)
	}
	for _, r := range rules {
		b.addRule(in, r)
	}
	return b
}

// Names returns the names of the queues that New creates.
func Names(workers []events.Worker, rules []events.Rule) (names []string) {
	for _, w := range workers {
		if w.Source == events.Queue {
			names = append(names, w.From)
		}
		if dead := Dead(w); dead != "" {
			names = append(names, dead)
		}
	}
	if len(rules) > 0 {
		names = append(names, Undelivered)
	}
	return names
}

// Queue returns a queue by its name.
func (b *Bus) Queue(name string) awssqs.Queue {
	queue := b.queues[name]
	if queue == nil {
		panic("infra: there is no queue " + name) // function.CheckUses has looked.
	}
	return queue
}

// DeadLetters returns the names of the dead-letter queues, in order.
func (b *Bus) DeadLetters() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.queues)), func(name string) bool { return !isDead(name) })
}

// Waiting returns the names of the queues that workers read, in order.
func (b *Bus) Waiting() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.queues)), isDead)
}

// addRule creates a rule that sends events of the bus to a queue. EventBridge tries an event that
// it cannot send again for a day, and then sends the event to a dead-letter queue. An error that
// no repetition mends, such as a missing permission, sends the event there at once.
func (b *Bus) addRule(in *stack.Stack, r events.Rule) {
	if b.queues[Undelivered] == nil {
		b.queues[Undelivered] = newDeadQueue(in, "bus", Undelivered)
	}
	queue, undelivered := b.Queue(r.Queue), b.Queue(Undelivered)
	name := in.Region.Prefix() + "-" + r.Name
	on, what := b.Bus.Ref(), "published changes"
	if r.OfAWS {
		on, what = nil, "events of AWS" // Without a name, the rule is on the account's default bus.
	}
	rule := awsevents.NewCfnRule(in.Scope, jsii.String("Rule-"+r.Name), &awsevents.CfnRuleProps{
		Name:         &name,
		Description:  jsii.String("Sends " + what + " to the queue " + r.Queue + "."),
		EventBusName: on,
		EventPattern: pattern(r.Pattern),
		Targets: &[]any{&awsevents.CfnRule_TargetProperty{
			Id: jsii.String(r.Queue), Arn: queue.QueueArn(),
			DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: undelivered.QueueArn()},
			RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{
				MaximumEventAgeInSeconds: jsii.Number(keptSeconds), MaximumRetryAttempts: jsii.Number(furtherTries),
			},
		}},
	})
	for _, to := range []awssqs.Queue{queue, undelivered} {
		to.AddToResourcePolicy(sentBy(rule, to))
	}
	b.Rules[r.Name], b.OfAWS[r.Name] = name, r.OfAWS
}

// sentBy allows a rule, and no other, to send messages to a queue.
func sentBy(rule awsevents.CfnRule, to awssqs.Queue) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sqs:SendMessage"),
		Resources:  &[]*string{to.QueueArn()},
		Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": rule.AttrArn()}},
	})
}

// pattern returns a pattern in the form that the CDK takes.
func pattern(p events.Pattern) (plain map[string]any) {
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err != nil {
		panic(fmt.Sprintf("infra: encode a pattern: %v", err)) // A pattern has only text.
	}
	return plain
}
