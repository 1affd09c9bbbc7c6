package deployed

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"lectern/functions/operator"
	"lectern/shared/api/check"
)

// Key is the access key, and secret, of an emulator's administrator.
const Key = "test"

// Config is how the region's own AWS services are called.
func (r Region) Config(ctx context.Context) (aws.Config, error) {
	if r.Endpoint != "" {
		return aws.Config{Region: r.AWSRegion, BaseEndpoint: &r.Endpoint, Credentials: credentials.NewStaticCredentialsProvider(Key, Key, "")}, nil
	}
	c, err := config.LoadDefaultConfig(ctx, config.WithRegion(r.AWSRegion))
	if err != nil {
		return c, fmt.Errorf("deployed: load AWS configuration: %w", err)
	}
	return c, nil
}

func once(o *lambda.Options) { o.Retryer = aws.NopRetryer{} }

// Do does an operator command by invoking the operator's function and gives its answer.
// It is an *apierr.Error when the command or its input is refused. It is invoked once: who
// has no answer cannot know whether the command was done.
func (r Region) Do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	if _, err := check.Decode[map[string]any](input); err != nil {
		return nil, err // What is no JSON cannot be sent either.
	}
	c, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(operator.Invocation{Command: command, Input: input})
	if err != nil {
		return nil, fmt.Errorf("deployed: encode the command: %w", err)
	}
	out, err := lambda.NewFromConfig(c, once).Invoke(ctx, &lambda.InvokeInput{FunctionName: &r.Operator, Payload: payload})
	if err != nil {
		return nil, fmt.Errorf("deployed: invoke %s: %w", r.Operator, err)
	}
	if out.FunctionError != nil {
		return nil, fmt.Errorf("deployed: %s failed: %s: %s", r.Operator, *out.FunctionError, out.Payload)
	}
	return operator.Answer(out.Payload)
}
