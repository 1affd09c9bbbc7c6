package smoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logs "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"lectern/functions/operator"
	"lectern/localstack/cloud/preflight"
	"lectern/shared/apierr"
)

// settingsOf returns the settings of a function.
func (r *run) settingsOf(ctx context.Context, function string) (*lambda.GetFunctionConfigurationOutput, error) {
	in := &lambda.GetFunctionConfigurationInput{FunctionName: &function}
	out, err := lambda.NewFromConfig(r.config).GetFunctionConfiguration(ctx, in)
	if err != nil {
		return nil, unread("lambda:GetFunctionConfiguration", err)
	}
	return out, nil
}

// roleOf returns the ARN of a function's role.
func (r *run) roleOf(ctx context.Context, function string) (string, error) {
	settings, err := r.settingsOf(ctx, function)
	if err != nil {
		return "", err
	}
	if settings.Role == nil {
		return "", fmt.Errorf("%s has no role", function)
	}
	return *settings.Role, nil
}

// logOf returns the log group of a function.
func (r *run) logOf(ctx context.Context, function string) (string, error) {
	settings, err := r.settingsOf(ctx, function)
	if err != nil {
		return "", err
	}
	if settings.LoggingConfig == nil || settings.LoggingConfig.LogGroup == nil {
		return "", fmt.Errorf("%s has no log group of its own", function)
	}
	return *settings.LoggingConfig.LogGroup, nil
}

// functions checks that every function is ready.
func (r *run) functions(ctx context.Context) (string, error) {
	names := r.names()
	for _, name := range names {
		settings, err := r.settingsOf(ctx, name)
		if err != nil {
			return "", err
		}
		if settings.State != types.StateActive || settings.LastUpdateStatus != types.LastUpdateStatusSuccessful {
			return "", fmt.Errorf("%s is %s, its last update %s", name, settings.State, settings.LastUpdateStatus)
		}
	}
	return fmt.Sprintf("all %d are active", len(names)), nil
}

// concurrency compares the reserved instances with the configuration, and prints the account's.
func (r *run) concurrency(ctx context.Context) (string, error) {
	client := lambda.NewFromConfig(r.config)
	for _, name := range r.names() {
		out, err := client.GetFunctionConcurrency(ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: &name})
		if err != nil {
			return "", unread("lambda:GetFunctionConcurrency", err)
		}
		reserved := 0
		if out.ReservedConcurrentExecutions != nil {
			reserved = int(*out.ReservedConcurrentExecutions)
		}
		if reserved != r.Made.Concurrency {
			return "", fmt.Errorf("%s has %d reserved instances, and reservedConcurrency is %d", name, reserved, r.Made.Concurrency)
		}
	}
	return fmt.Sprintf("%d for each function, as configured", r.Made.Concurrency), nil
}

// stage compares the limits of requests at the stage with the configuration.
func (r *run) stage(ctx context.Context) (string, error) {
	api, stage, err := r.address(ctx)
	if err != nil {
		return "", err
	}
	out, err := apigateway.NewFromConfig(r.config).GetStage(ctx, &apigateway.GetStageInput{RestApiId: &api, StageName: &stage})
	if err != nil {
		return "", unread("apigateway:GET on the stage", err)
	}
	every, found := out.MethodSettings["*/*"]
	if !found || int(every.ThrottlingRateLimit) != r.Made.ThrottleRate || int(every.ThrottlingBurstLimit) != r.Made.ThrottleBurst {
		return "", fmt.Errorf("the stage %s allows %.0f a second and %d at once, and the configuration %d and %d", stage,
			every.ThrottlingRateLimit, every.ThrottlingBurstLimit, r.Made.ThrottleRate, r.Made.ThrottleBurst)
	}
	return fmt.Sprintf("%d requests a second and %d at once for each method, as configured",
		r.Made.ThrottleRate, r.Made.ThrottleBurst), nil
}

// address returns the ids of API and stage: of the emulator's address, of AWS's default address,
// or of the mapping of a domain.
func (r *run) address(ctx context.Context) (api, stage string, err error) {
	at, err := url.Parse(r.Region.URL)
	if err != nil {
		return "", "", err
	}
	path := strings.Split(strings.Trim(at.Path, "/"), "/")
	id, rest, _ := strings.Cut(at.Hostname(), ".")
	switch {
	case emulated.MatchString(r.Region.URL):
		return path[1], path[2], nil
	case strings.HasPrefix(rest, "execute-api."):
		return id, path[0], nil
	}
	host := at.Hostname()
	out, err := apigateway.NewFromConfig(r.config).GetBasePathMappings(ctx, &apigateway.GetBasePathMappingsInput{DomainName: &host})
	if err != nil {
		return "", "", unread("apigateway:GET on the domain", err)
	}
	for _, mapping := range out.Items {
		if mapping.RestApiId != nil && mapping.Stage != nil {
			return *mapping.RestApiId, *mapping.Stage, nil
		}
	}
	return "", "", fmt.Errorf("the domain %s leads to no stage", host)
}

// certificate checks the certificate of the domain.
func (r *run) certificate(ctx context.Context) (string, error) {
	if r.Made.At.Domain == nil {
		return "", leftOut("the region has no domain")
	}
	found := preflight.Certificate(ctx, r.config, r.Made)
	if found.State == preflight.Failed {
		return "", errors.New(found.Text)
	}
	return found.Text, nil
}

// arrival waits until the line of a request is in the log.
func (r *run) arrival(ctx context.Context) (string, error) {
	const patience, pause = time.Minute, 3 * time.Second
	if r.lastRequest == "" {
		return "", errors.New("no search was answered")
	}
	group, err := r.logOf(ctx, r.function("sessions"))
	if err != nil {
		return "", err
	}
	pattern := fmt.Sprintf(`{ $.request_id = "%s" }`, r.lastRequest)
	missing := fmt.Errorf("the line of request %s is not in %s after %s", r.lastRequest, group, patience)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, missing)
	defer cancel()
	for {
		for _, err := range r.events(ctx, group, &pattern) {
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("the line of request %s is in %s", r.lastRequest, group), nil
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// events returns the events of a log group around the last search. All functions of the API write into
// the group, and a page may be empty while there are more pages: only the last page, or the end of ctx,
// ends the events.
func (r *run) events(ctx context.Context, group string, pattern *string) iter.Seq2[logs.FilteredLogEvent, error] {
	since, until := r.lastAnswer.Add(-maxSkew).UnixMilli(), r.lastAnswer.Add(maxSkew).UnixMilli()
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(cloudwatchlogs.NewFromConfig(r.config),
		&cloudwatchlogs.FilterLogEventsInput{LogGroupName: &group, StartTime: &since, EndTime: &until, FilterPattern: pattern})
	return func(yield func(logs.FilteredLogEvent, error) bool) {
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			switch {
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case err != nil:
				err = unread("logs:FilterLogEvents", err)
			}
			if err != nil {
				yield(logs.FilteredLogEvent{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
		}
	}
}

// platform lists the beginnings of the lines that an emulator writes about invocations.
var platform = []string{"START ", "END ", "REPORT ", "INIT_START "}

// lines checks that the log of the searches has no lines but those of the service, and of
// Lambda about invocations.
func (r *run) lines(ctx context.Context) (string, error) {
	group, err := r.logOf(ctx, r.function("sessions"))
	if err != nil {
		return "", err
	}
	own, ofLambda := 0, 0
	for event, err := range r.events(ctx, group, nil) {
		if err != nil {
			return "", err
		}
		switch text := strings.TrimSpace(*event.Message); {
		case startsWith(text, platform):
			ofLambda++
		case json.Valid([]byte(text)) && !strings.Contains(text, `"errorType"`):
			own++
		default:
			return "", fmt.Errorf("%s has the line %s", group, start([]byte(text)))
		}
	}
	if own == 0 {
		return "", fmt.Errorf("%s has no line of a function", group)
	}
	return fmt.Sprintf("%d lines of functions and %d of Lambda, no others", own, ofLambda), nil
}

// startsWith reports whether the text begins with a prefix of the list.
func startsWith(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// refusals checks that the operator's function refuses in the API's shape.
func (r *run) refusals(ctx context.Context) (string, error) {
	err := r.operate(ctx, "organization-show", object{"org_id": 1 << 50}, nil)
	refused := (*apierr.Error)(nil)
	if !errors.As(err, &refused) {
		return "", fmt.Errorf("an unknown organization is answered with %w", err)
	}
	return fmt.Sprintf("%d %s; there are %d commands", refused.Status, refused.Code, len(operator.Commands())), nil
}
