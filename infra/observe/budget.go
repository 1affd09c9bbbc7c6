package observe

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
)

// newBudget creates a budget of a month for the account's AWS region. AWS writes to the address
// for alarms when the cost is over the budget, and when the forecast for the month is. An AWS
// region with other services has their cost too: a budget by tags would need tags that the
// account's owner has activated for billing. CloudFormation replaces a budget for a change of the
// address, and needs another name for the replacement, so the budget has no name here.
func newBudget(in *stack.Stack) {
	var notifications []any
	for _, kind := range []string{"ACTUAL", "FORECASTED"} {
		notifications = append(notifications, &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: jsii.String(kind), ComparisonOperator: jsii.String("GREATER_THAN"),
				Threshold: jsii.Number(100), ThresholdType: jsii.String("PERCENTAGE"),
			},
			Subscribers: &[]any{&awsbudgets.CfnBudget_SubscriberProperty{
				SubscriptionType: jsii.String("EMAIL"), Address: &in.Config.AlarmEmail,
			}},
		})
	}
	awsbudgets.NewCfnBudget(in.Scope, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(in.Config.MonthlyBudget), Unit: jsii.String("USD")},
			CostFilters: map[string]any{"Region": []string{in.Region.AWSRegion}},
		},
		NotificationsWithSubscribers: &notifications,
	})
}
