package target

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

// Key is the access key of an emulator's administrator, and the secret too.
const Key = "test"

// Config returns the configuration to call the region's AWS services.
func (r Region) Config(ctx context.Context) (aws.Config, error) {
	if r.Endpoint != "" {
		key := credentials.NewStaticCredentialsProvider(Key, Key, "")
		return aws.Config{Region: r.AWSRegion, BaseEndpoint: &r.Endpoint, Credentials: key}, nil
	}
	c, err := config.LoadDefaultConfig(ctx, config.WithRegion(r.AWSRegion))
	if err != nil {
		return c, fmt.Errorf("deployed: load AWS configuration: %w", err)
	}
	return c, nil
}

// once turns retries off.
func once(o *lambda.Options) { o.Retryer = aws.NopRetryer{} }

// Do does an operator command by invoking the operator's function and returns the answer as
// JSON. A refused command or input is an *apierr.Error. There is no retry: without an answer,
// the command may have been done.
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
