package observe

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/function"
	"lectern/infra/stack"
)

// newDashboard creates a dashboard of the alarms' metrics and the load of the region.
func newDashboard(in *stack.Stack, functions []function.Function, m *metrics) {
	var invoked, failed, slow []awscloudwatch.IMetric
	for _, f := range functions {
		invoked = append(invoked, f.Lambda.MetricInvocations(labelled("Sum", f.Name)))
		failed = append(failed, f.Lambda.MetricErrors(labelled("Sum", f.Name+" "+
			"errors")), f.Lambda.MetricThrottles(labelled("Sum", f.Name+" throttles")))
		slow = append(slow, f.Lambda.MetricDuration(labelled("p99", f.Name)))
	}
	logged := make([]awscloudwatch.IMetric, 0, len(m.signals))
	for _, name := range slices.Sorted(maps.Keys(m.signals)) {
		logged = append(logged, m.signals[name])
	}
	table := []awscloudwatch.IMetric{m.throttledReads, m.throttledWrites, m.losing}
	for _, call := range calls {
		table = append(table, m.failing[call])
	}
	awscloudwatch.NewDashboard(in.Scope, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(in.Region.Prefix()),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{graph("Requests and 5xx", m.requests, m.faults), graph("Latency of the API, p99, ms", m.latency)},
			{graph("Invocations", invoked...), graph("Time of functions, p99, ms", slow...)},
			{graph("Functions: errors and throttles", failed...), graph("Told by logs", logged...)},
			{graph("Units of the table", m.read, m.written), graph("Table: throttled, failed, conflicts", table...)},
		},
	})
}

// labelled returns a statistic with a label on the dashboard.
func labelled(statistic, label string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &statistic, Label: &label, Period: period()}
}

// graph returns a graph over half a row of the dashboard.
func graph(title string, of ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Left: &of, Width: jsii.Number(12), Height: jsii.Number(6),
	})
}
