package observe

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
)

// newDashboard creates a dashboard of the alarms' metrics and the load of the region. It shows
// totals and no metrics of single functions, because AWS bills a dashboard with more than 50
// metrics differently.
func newDashboard(in *stack.Stack, m *metrics, c *changeMetrics) {
	logged := make([]awscloudwatch.IMetric, 0, len(m.signals))
	for _, name := range m.signals.names() {
		if name != firstAttempt { // A time, which is shown beside the other ages.
			logged = append(logged, m.signals[name])
		}
	}
	table := []awscloudwatch.IMetric{m.throttledReads, m.throttledWrites, m.losing}
	for _, call := range calls {
		table = append(table, m.failing[call])
	}
	awscloudwatch.NewDashboard(in.Scope, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(in.Region.Prefix()),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{graph("Requests and 5xx", m.requests, m.faults), graph("Latency of the API, p99, ms", m.latency)},
			{graph("Functions: invocations, most at once", m.invoked, m.running), graph("Time of functions, p99, ms", m.duration)},
			{graph("Functions: errors and throttles", m.failed, m.throttled), graph("Told by logs", logged...)},
			{graph("Units of the table", m.read, m.written), graph("Table: throttled, failed, conflicts", table...)},
			{graph("Age of the last change read, and at the first attempt, ms", c.late.all()...),
				graph("Age of the oldest message, s", c.waiting.all()...)},
			{graph("Messages in dead-letter queues", c.dead.all()...), graph("Lost, and runs of schedules", slices.Concat(
				c.lost.all(), c.invoked.all())...)},
		},
	})
}

// graph returns a graph over half a row of the dashboard.
func graph(title string, of ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Left: &of, Width: jsii.Number(12), Height: jsii.Number(6),
	})
}
