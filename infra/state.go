package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
)

// recoveryDays is how far back the table can be restored to any second: as far as
// DynamoDB can.
const recoveryDays = 35

// newState describes what must outlive everything else: the table. Nothing that is
// deployed or deleted later takes it away: the stack is protected, so is the table,
// and where both are given up the table still stays behind.
func newState(app awscdk.App, c *config, at region) awscdk.Stack {
	stack := newStack(app, c, at, "State", "Lectern "+at.name+": the table", true)
	props := &awsdynamodb.TableProps{
		TableName:    jsii.String(at.ownTable()),
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
	if c.customerKey {
		props.Encryption = awsdynamodb.TableEncryption_CUSTOMER_MANAGED
		props.EncryptionKey = newKey(stack, at)
	}
	table := awsdynamodb.NewTable(stack, jsii.String("Table"), props)
	// The output has the same name as the table, so it stands apart from it.
	out := awscdk.NewCfnOutput(stack, jsii.String("TableName"), &awscdk.CfnOutputProps{
		Value: table.TableName(), Description: jsii.String("The table's name"),
	})
	out.OverrideLogicalId(jsii.String("Table"))
	return stack
}

// newKey is the account's own key of the table. It is found by its alias, so that the
// stack of functions needs nothing of this one. The alias stays as the key does: without
// it no function may use the key, and what the table keeps could not be read.
func newKey(stack awscdk.Stack, at region) awskms.IKey {
	key := awskms.NewKey(stack, jsii.String("Key"), &awskms.KeyProps{
		Description:       jsii.String("The table of Lectern " + at.name),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
	})
	key.AddAlias(jsii.String(at.keyAlias())).ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN)
	return key
}

// prefix begins the names of what is made in a region.
func (at region) prefix() string { return "lectern-" + at.name }

func (at region) keyAlias() string { return "alias/" + at.prefix() }

// ownTable is the table of the stack of state.
func (at region) ownTable() string { return at.prefix() }

// table is the table that is served.
func (at region) table() string {
	if at.restoredTable != "" {
		return at.restoredTable
	}
	return at.ownTable()
}
