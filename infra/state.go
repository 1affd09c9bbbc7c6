package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
	"lectern/infra/stack"
)

// recoveryDays is the number of days for which the table can be restored to any second, the
// maximum of DynamoDB.
const recoveryDays = 35

// newState creates the stack of the table. No later deployment deletes the table: stack and
// table are protected against deletion, and a deleted stack leaves the table behind.
func newState(app awscdk.App, c *config.Config, region config.Region) awscdk.Stack {
	in := stack.New(app, c, region, stack.Kind{Name: "State", Description: "Lectern " + region.Name + ": the table", Protected: true})
	props := &awsdynamodb.TableProps{
		TableName:    jsii.String(region.OwnTable()),
		PartitionKey: &awsdynamodb.Attribute{Name: jsii.String("PK"), Type: awsdynamodb.AttributeType_STRING},
		SortKey:      &awsdynamodb.Attribute{Name: jsii.String("SK"), Type: awsdynamodb.AttributeType_STRING},
		BillingMode:  awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true), RecoveryPeriodInDays: jsii.Number(recoveryDays),
		},
		TimeToLiveAttribute: jsii.String("ttl"),
		Stream:              awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES,
		DeletionProtection:  jsii.Bool(true),
		RemovalPolicy:       awscdk.RemovalPolicy_RETAIN,
		Encryption:          awsdynamodb.TableEncryption_DEFAULT,
	}
	if c.CustomerKey {
		props.Encryption = awsdynamodb.TableEncryption_CUSTOMER_MANAGED
		props.EncryptionKey = newKey(in)
	}
	table := awsdynamodb.NewTable(in.Scope, jsii.String("Table"), props)
	// Output and table need different ids in the stack, but the output is called Table.
	out := awscdk.NewCfnOutput(in.Scope, jsii.String("TableName"), &awscdk.CfnOutputProps{
		Value: table.TableName(), Description: jsii.String("The table's name"),
	})
	out.OverrideLogicalId(jsii.String("Table"))
	return in.Scope
}

// newKey creates the account's own key of the table. Functions use the key by its alias, so
// their stack needs no value of this stack. A deleted stack leaves key and alias behind:
// without the alias no function may use the key, and so cannot read the table.
func newKey(in *stack.Stack) awskms.IKey {
	key := awskms.NewKey(in.Scope, jsii.String("Key"), &awskms.KeyProps{
		Description:       jsii.String("The table of Lectern " + in.Region.Name),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
	})
	key.AddAlias(jsii.String(in.Region.KeyAlias())).ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN)
	return key
}
