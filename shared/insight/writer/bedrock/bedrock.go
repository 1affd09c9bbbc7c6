// Package bedrock asks a language model of Amazon Bedrock, by the Converse API.
package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lectern/shared/api"
	"lectern/shared/insight/writer"
	"lectern/shared/table"
)

// The tries of a call. The context of the caller limits the time of all tries.
const (
	tries    = 2
	maxPause = time.Second
)

// Model is a model of Amazon Bedrock, or of a server with its protocol. A Model is safe for concurrent use.
type Model struct {
	id, awsRegion string

	mu     sync.Mutex
	client *bedrockruntime.Client
}

// New returns the model of a region; nil for a region without one. The first call of the model loads the
// configuration of the environment.
func New(env api.Env) writer.Model {
	if env.QueryModel == "" {
		return nil
	}
	return &Model{id: env.QueryModel, awsRegion: env.QueryModelRegion}
}

// At returns the model with an id at a configuration.
func At(c aws.Config, id string) *Model {
	return &Model{id: id, client: bedrockruntime.NewFromConfig(c, options)}
}

// open returns the client of the model.
func (m *Model) open(ctx context.Context) (*bedrockruntime.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil {
		return m.client, nil
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(m.awsRegion))
	if err != nil {
		return nil, fmt.Errorf("bedrock: load AWS configuration: %w", err)
	}
	loaded.HTTPClient = table.HTTPClient(loaded.HTTPClient)
	m.client = bedrockruntime.NewFromConfig(loaded, options)
	return m.client, nil
}

// options sets how a client repeats calls.
func options(o *bedrockruntime.Options) { o.Retryer = retry.NewStandard(soon) }

// soon sets the tries and the pauses of a call.
func soon(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = tries, maxPause }

// Answer returns the answer of the model (writer.Model). The request has no temperature, since some models refuse it.
func (m *Model) Answer(ctx context.Context, system string, conversation []writer.Message) (string, error) {
	client, err := m.open(ctx)
	if err != nil {
		return "", err
	}
	input := &bedrockruntime.ConverseInput{
		ModelId:         &m.id,
		System:          []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: system}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(writer.MaxTokens)},
	}
	for _, message := range conversation {
		input.Messages = append(input.Messages, types.Message{
			Role: types.ConversationRole(message.Role), Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: message.Content}},
		})
	}
	output, err := client.Converse(ctx, input)
	if err != nil {
		return "", failed(err)
	}
	return textOf(output.Output), nil
}

// textOf returns the text of an answer. Other blocks, such as the reasoning of the model, are left out.
func textOf(of types.ConverseOutput) string {
	message, ok := of.(*types.ConverseOutputMemberMessage)
	if !ok {
		return ""
	}
	var text strings.Builder
	for _, block := range message.Value.Content {
		if t, ok := block.(*types.ContentBlockMemberText); ok {
			text.WriteString(t.Value)
		}
	}
	return text.String()
}

// failed returns the error of a call with its meaning.
func failed(err error) error {
	if isBusy(err) {
		return fmt.Errorf("%w: %w", writer.ErrBusy, err)
	}
	return fmt.Errorf("bedrock: ask the model: %w", err)
}

// temporary lists the statuses of refusals that end by themselves: of a slow, a failed and a throttled model.
var temporary = []int{http.StatusRequestTimeout, http.StatusFailedDependency, http.StatusTooManyRequests}

// isBusy reports whether a later call may succeed. An answer that was cut off has the status 200.
func isBusy(err error) bool {
	if quota := (*types.ServiceQuotaExceededException)(nil); errors.As(err, &quota) {
		return true
	}
	if answer := (*smithyhttp.ResponseError)(nil); errors.As(err, &answer) {
		status := answer.HTTPStatusCode()
		return status < http.StatusBadRequest || status >= http.StatusInternalServerError || slices.Contains(temporary, status)
	}
	unsent := (*smithyhttp.RequestSendError)(nil)
	return errors.As(err, &unsent) || errors.Is(err, context.DeadlineExceeded)
}
