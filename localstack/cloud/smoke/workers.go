package smoke

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	alarms "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bus "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"lectern/events"
	command "lectern/functions/operator"
)

// sources checks that whatever invokes a worker is on. A reader of the stream that is off raises no
// alarm. What the caller may not read hides no failure of the others.
func (r *run) sources(ctx context.Context) (string, error) {
	var failed, hidden error
	for _, w := range events.Workers {
		check := map[events.Source]func(*run, context.Context, string) error{
			events.Stream: (*run).mapping, events.Queue: (*run).mapping, events.Schedule: (*run).schedule, events.Log: (*run).subscription,
		}[w.Source]
		err := check(r, ctx, r.function(w.Name))
		if reason := leftOut(""); errors.As(err, &reason) {
			hidden = cmp.Or(hidden, err)
			continue
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil && hidden != nil {
		return "", hidden
	}
	return fmt.Sprintf("those of all %d are on", len(events.Workers)), failed
}

// rules checks that the rules are on which send published changes to the queues, and the rule that begins
// maintenance. No alarm is raised without them.
func (r *run) rules(ctx context.Context) (string, error) {
	own := r.prefix()
	on := map[string]*string{r.function(command.Maintain): nil} // It is on the bus of the account.
	for _, rule := range events.Rules {
		on[r.function(rule.Name)] = &own
	}
	client := eventbridge.NewFromConfig(r.config)
	for _, name := range slices.Sorted(maps.Keys(on)) {
		out, err := client.DescribeRule(ctx, &eventbridge.DescribeRuleInput{EventBusName: on[name], Name: &name})
		if err != nil {
			return "", unread("events:DescribeRule", err)
		}
		if out.State != bus.RuleStateEnabled {
			return "", fmt.Errorf("the rule %s is %s", name, out.State)
		}
	}
	return fmt.Sprintf("all %d are on", len(on)), nil
}

// mapping checks that the records of a stream, or the messages of a queue, invoke a function, and did
// so without a problem the last time.
func (r *run) mapping(ctx context.Context, function string) error {
	out, err := lambda.NewFromConfig(r.config).ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: &function})
	if err != nil {
		return unread("lambda:ListEventSourceMappings", err)
	}
	if len(out.EventSourceMappings) != 1 {
		return fmt.Errorf("%s has %d event source mappings", function, len(out.EventSourceMappings))
	}
	state, last := "", ""
	if m := out.EventSourceMappings[0]; m.State != nil {
		state = *m.State
		if m.LastProcessingResult != nil {
			last = *m.LastProcessingResult
		}
	}
	if state != "Enabled" || strings.HasPrefix(last, "PROBLEM") {
		return fmt.Errorf("the event source mapping of %s is %q, its last result %q", function, state, last)
	}
	return nil
}

// schedule checks that the schedule with the name of a function is on.
func (r *run) schedule(ctx context.Context, function string) error {
	out, err := scheduler.NewFromConfig(r.config).GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &function})
	if err != nil {
		return unread("scheduler:GetSchedule", err)
	}
	if out.State != types.ScheduleStateEnabled {
		return fmt.Errorf("the schedule of %s is %s", function, out.State)
	}
	return nil
}

// subscription checks that the log of the API has the subscription with the name of a function.
func (r *run) subscription(ctx context.Context, function string) error {
	group, err := r.logOf(ctx, r.function("sessions"))
	if err != nil {
		return err
	}
	in := &cloudwatchlogs.DescribeSubscriptionFiltersInput{LogGroupName: &group, FilterNamePrefix: &function}
	out, err := cloudwatchlogs.NewFromConfig(r.config).DescribeSubscriptionFilters(ctx, in)
	if err != nil {
		return unread("logs:DescribeSubscriptionFilters", err)
	}
	if len(out.SubscriptionFilters) != 1 {
		return fmt.Errorf("%s has %d subscriptions of %s", group, len(out.SubscriptionFilters), function)
	}
	return nil
}

// worked checks that a change is worked on: a request for the data of nobody is completed by the reader of the
// stream, the bus, a queue, its worker, and the keys that the function of the request reads.
func (r *run) worked(ctx context.Context) (string, error) {
	const patience, pause = 2 * time.Minute, 2 * time.Second
	const path = "/v1/gdpr/requests"
	_, err := r.expect(ctx, http.StatusCreated, r.post(path, object{
		"requestType": "access", "identityType": "email", "identityValue": "nobody@example.org",
	}))
	if err != nil {
		return "", err
	}
	late := fmt.Errorf("a data request is not completed after %s", patience)
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, late)
	defer cancel()
	for {
		a, err := r.expect(ctx, http.StatusOK, r.get(path))
		if err != nil {
			return "", err
		}
		if strings.Contains(string(a.body), `"status":"completed"`) {
			return fmt.Sprintf("a data request was completed after %.1f s", time.Since(began).Seconds()), nil
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// alarms checks that the region has alarms, and that none is raised but operator-used, since the
// commands of this run raise that alarm, and a new alarm that no value has raised.
func (r *run) alarms(ctx context.Context) (string, error) {
	prefix := r.prefix() + "-"
	in := &cloudwatch.DescribeAlarmsInput{AlarmNamePrefix: &prefix}
	pages := cloudwatch.NewDescribeAlarmsPaginator(cloudwatch.NewFromConfig(r.config), in)
	states, raised, early := map[alarms.StateValue]int{}, []string{}, ""
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", unread("cloudwatch:DescribeAlarms", err)
		}
		for _, alarm := range page.MetricAlarms {
			states[alarm.StateValue]++
			switch name := *alarm.AlarmName; {
			case alarm.StateValue != alarms.StateValueAlarm || name == prefix+"operator-used":
			case tooNew(alarm, time.Now()):
				early += fmt.Sprintf("; %s is new and looks at minutes before the deployment: look again at %s",
					name, alarm.AlarmConfigurationUpdatedTimestamp.Add(settled).UTC().Format("15:04 UTC"))
			default:
				raised = append(raised, name)
			}
		}
	}
	switch {
	case len(states) == 0:
		return "", fmt.Errorf("no alarm begins with %s", prefix)
	case len(raised) > 0:
		return "", fmt.Errorf("raised: %s", strings.Join(raised, ", "))
	}
	return fmt.Sprintf("none is raised: %d are ok, %d have no data yet%s",
		states[alarms.StateValueOk], states[alarms.StateValueInsufficientData], early), nil
}

// settled is the time after its deployment in which an alarm on ten minutes may look at a time before
// the deployment: the ten minutes, and the period of five that has not ended.
const settled = 15 * time.Minute

// tooNew reports whether an alarm that missing values raise, as sweeper-silent, is raised by them alone,
// and so soon after its deployment that the values of its function cannot all be there. An alarm that was
// raised before a deployment changed the alarm is not new.
func tooNew(alarm alarms.MetricAlarm, now time.Time) bool {
	if alarm.TreatMissingData == nil || *alarm.TreatMissingData != "breaching" || alarm.StateReasonData == nil ||
		alarm.AlarmConfigurationUpdatedTimestamp == nil || now.Sub(*alarm.AlarmConfigurationUpdatedTimestamp) > settled {
		return false
	}
	if raised := alarm.StateTransitionedTimestamp; raised != nil && raised.Before(*alarm.AlarmConfigurationUpdatedTimestamp) {
		return false
	}
	var reason struct {
		RecentDatapoints []*float64
		Threshold        float64
	}
	if err := json.Unmarshal([]byte(*alarm.StateReasonData), &reason); err != nil {
		return false
	}
	for _, value := range reason.RecentDatapoints {
		if value != nil && *value < reason.Threshold {
			return false // A value has raised it.
		}
	}
	return true
}
