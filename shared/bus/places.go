package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lectern/shared/table"
)

// The environment variables that name the bus and the queues. queuePrefix comes before the name
// of a queue in capitals; the name webhooks-dead becomes WEBHOOKS_DEAD.
const (
	busVariable = "LECTERN_BUS"
	queuePrefix = "LECTERN_QUEUE_"
)

// Changes is the name of the source of change records. It has a dead-letter queue, and no queue.
const Changes = "changes"

// Dead returns the name of the dead-letter queue of a queue, or of Changes.
func Dead(queue string) string { return queue + "-dead" }

// Config describes the places of a region.
type Config struct {
	// Endpoint is the address of a local bus; Region is the AWS region.
	Endpoint, Region string
	// Bus is the name or the ARN of the bus; empty for a function that publishes nothing.
	Bus string
	// Queues has the URLs of queues by name.
	Queues map[string]string
}

// Places has the bus and the queues that a function may use.
type Places struct {
	aws    aws.Config
	bus    string
	queues map[string]string
}

// Local returns the places at a local bus. It reads nothing from the environment.
func Local(c Config) *Places {
	return &Places{bus: c.Bus, queues: maps.Clone(c.Queues), aws: aws.Config{
		Region: c.Region, BaseEndpoint: &c.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: table.HTTPClient(nil),
	}}
}

// FromEnvironment returns the places that the environment variables name: LECTERN_BUS, and
// LECTERN_QUEUE_<NAME> for each queue.
func FromEnvironment(ctx context.Context) (*Places, error) {
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("bus: load AWS configuration: %w", err)
	}
	loaded.HTTPClient = table.HTTPClient(loaded.HTTPClient)
	return &Places{aws: loaded, bus: os.Getenv(busVariable), queues: named(os.Environ())}, nil
}

// named returns the URLs of the queues in environment variables, each NAME=value.
func named(variables []string) map[string]string {
	queues := map[string]string{}
	for _, v := range variables {
		name, url, _ := strings.Cut(v, "=")
		if name, found := strings.CutPrefix(name, queuePrefix); found && url != "" {
			queues[strings.ReplaceAll(strings.ToLower(name), "_", "-")] = url
		}
	}
	return queues
}

// Variables returns the environment variables that name the places, each NAME=value, in order.
func (c Config) Variables() []string {
	all := []string{busVariable + "=" + c.Bus}
	for name, url := range c.Queues {
		all = append(all, queuePrefix+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+url)
	}
	slices.Sort(all)
	return all
}

// ErrUnnamed is returned for a bus or a queue that the configuration does not name.
var ErrUnnamed = errors.New("bus: the configuration does not name")

// AWS returns the configuration for clients of other services of AWS.
func (p *Places) AWS() aws.Config { return p.aws }

// Bus returns the bus.
func (p *Places) Bus() (Bus, error) {
	if p == nil || p.bus == "" {
		return nil, fmt.Errorf("%w the bus", ErrUnnamed)
	}
	return &eventBridge{eventbridge.NewFromConfig(p.aws), p.bus}, nil
}

// Queue returns the queue with a name.
func (p *Places) Queue(name string) (*SQS, error) {
	if p == nil || p.queues[name] == "" {
		return nil, fmt.Errorf("%w the queue %s", ErrUnnamed, name)
	}
	return &SQS{sqs.NewFromConfig(p.aws), p.queues[name]}, nil
}

// Redrivable returns the names of the queues with a dead-letter queue, in order.
func (p *Places) Redrivable() (names []string) {
	if p == nil {
		return nil
	}
	for name := range p.queues {
		if p.queues[Dead(name)] != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
