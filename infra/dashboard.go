package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// newDashboard shows what the alarms look at, and how busy the region is.
func newDashboard(stack awscdk.Stack, at region, functions []built, m *metrics) {
	var invoked, failed, slow []awscloudwatch.IMetric
	for _, f := range functions {
		shown := func(statistic, label string) *awscloudwatch.MetricOptions {
			return &awscloudwatch.MetricOptions{Statistic: &statistic, Label: jsii.String(f.name + label), Period: period()}
		}
		invoked = append(invoked, f.lambda.MetricInvocations(shown("Sum", "")))
		failed = append(failed, f.lambda.MetricErrors(shown("Sum", " errors")), f.lambda.MetricThrottles(shown("Sum", " throttles")))
		slow = append(slow, f.lambda.MetricDuration(shown("p99", "")))
	}
	told := make([]awscloudwatch.IMetric, 0, len(m.signals))
	for _, name := range slices.Sorted(maps.Keys(m.signals)) {
		told = append(told, m.signals[name])
	}
	table := []awscloudwatch.IMetric{m.throttledReads, m.throttledWrites, m.losing}
	for _, call := range calls {
		table = append(table, m.failing[call])
	}
	awscloudwatch.NewDashboard(stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(at.prefix()),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{graph("Requests and 5xx", m.requests, m.faults), graph("Latency of the API, p99, ms", m.latency)},
			{graph("Invocations", invoked...), graph("Time of functions, p99, ms", slow...)},
			{graph("Functions: errors and throttles", failed...), graph("Told by logs", told...)},
			{graph("Units of the table", m.read, m.written), graph("Table: throttled, failed, conflicts", table...)},
		},
	})
}

// graph is half a row of the dashboard.
func graph(title string, of ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Left: &of, Width: jsii.Number(12), Height: jsii.Number(6),
	})
}
