package bus

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lectern/events"
	"lectern/infra/stack"
)

// Names of the dead-letter queues that belong to no queue.
const (
	// Undelivered has the events that the bus could not send to a queue.
	Undelivered = "bus-dead"
	// Unpublished has the places in the stream of the changes that were not published, and the keys of
	// those that cannot be decoded.
	Unpublished = "changes-dead"
	// Unstored has the lines of requests that were not stored.
	Unstored = "ingest-dead"
	// dead ends the name of each dead-letter queue.
	dead = "-dead"
)

const (
	// keptDays is the time that a message stays in a queue, and in the dead-letter queue behind it, the
	// maximum of SQS. The time begins when the message was sent first.
	keptDays = 14
	// tries is the number of times that a message is received before it goes to the dead-letter
	// queue.
	tries = 5
	// visibility is the time that a received message is hidden, in times of its function, as
	// Lambda's documents ask for: an instance may wait before it begins.
	visibility = 6
)

// Dead returns the name of the dead-letter queue of a worker; empty for a worker that is invoked by a
// schedule, which loses nothing with an invocation.
func Dead(w events.Worker) string {
	switch w.Source {
	case events.Queue:
		return DeadOf(w.From)
	case events.Stream:
		return Unpublished
	case events.Log:
		return Unstored
	}
	return ""
}

// DeadOf returns the name of the dead-letter queue of a queue.
func DeadOf(queue string) string { return queue + dead }

// isDead reports whether the name is that of a dead-letter queue.
func isDead(name string) bool { return strings.HasSuffix(name, dead) }

// addQueues creates the dead-letter queue of a worker, and its queue if a queue invokes the worker.
func (b *Bus) addQueues(in *stack.Stack, w events.Worker) {
	name := Dead(w)
	if name == "" {
		return
	}
	b.queues[name] = newDeadQueue(in, w.Name, name)
	if w.Source != events.Queue {
		return
	}
	props := newProps(in, w.From)
	props.VisibilityTimeout = awscdk.Duration_Seconds(jsii.Number(visibility * w.Seconds))
	props.DeadLetterQueue = &awssqs.DeadLetterQueue{Queue: b.queues[name], MaxReceiveCount: jsii.Number(tries)}
	b.queues[w.From] = awssqs.NewQueue(in.Scope, jsii.String("Queue-"+w.From), props)
}

// newDeadQueue creates a dead-letter queue of a worker or of the bus.
func newDeadQueue(in *stack.Stack, of, name string) awssqs.Queue {
	props := newProps(in, name)
	queue := awssqs.NewQueue(in.Scope, jsii.String("Dead-"+of), props)
	stack.Accept(queue, "AwsSolutions-SQS3", "The queue itself has what failed; an operator sends it on again.")
	return queue
}

// newProps returns what all queues have: a name, encryption by SQS, the longest retention, and a policy
// that refuses calls without TLS.
func newProps(in *stack.Stack, name string) *awssqs.QueueProps {
	return &awssqs.QueueProps{
		QueueName: jsii.String(in.Region.Prefix() + "-" + name), Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(keptDays)),
	}
}
