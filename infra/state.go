package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
	"lectern/infra/stack"
)

// recoveryDays is the number of days for which the table can be restored to any second, the
// maximum of DynamoDB.
const recoveryDays = 35

// newState creates the stack of the data: the table, the secret, the bucket and, if configured,
// the backup. No later deployment deletes the table: stack and table are protected against
// deletion, and a deleted stack leaves table, secret, bucket, key and vault behind.
func newState(app awscdk.App, c *config.Config, region config.Region) awscdk.Stack {
	in := stack.New(app, c, region, stack.Kind{Name: "State", Description: "Lectern " + region.Name + ": the data", Protected: true})
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
	var key awskms.IKey
	if c.CustomerKey {
		key = newKey(in)
		props.Encryption = awsdynamodb.TableEncryption_CUSTOMER_MANAGED
		props.EncryptionKey = key
	}
	table := awsdynamodb.NewTable(in.Scope, jsii.String("Table"), props)
	// Output and table need different ids in the stack, but the output is called Table.
	out := awscdk.NewCfnOutput(in.Scope, jsii.String("TableName"), &awscdk.CfnOutputProps{
		Value: table.TableName(), Description: jsii.String("The table's name"),
	})
	out.OverrideLogicalId(jsii.String("Table"))
	in.Publish("Stream", in.Region.StreamParameter(), "The stream of the table of Lectern "+region.Name, table.TableStreamArn())
	secret := newSecret(in, key)
	in.Publish("KeysArn", in.Region.SecretParameter(), "The secret of Lectern "+region.Name, secret.AttrId())
	bucket := newBucket(in, key)
	if c.Scanner != "" {
		newScanner(in, bucket, key)
	}
	if region.Backup != nil {
		newBackup(in, key)
	}
	return in.Scope
}

// newSecret creates the secret from which the functions that sign and encrypt derive their
// keys. A deleted stack leaves the secret behind, since a table is of no use without the keys of
// its data. A change of GenerateSecretString would replace the value, so it must never change. A
// backup in another AWS region has a replica of the secret beside it.
func newSecret(in *stack.Stack, key awskms.IKey) awssecretsmanager.CfnSecret {
	props := &awssecretsmanager.CfnSecretProps{
		Name:        jsii.String(in.Region.SecretName()),
		Description: jsii.String("The keys of Lectern " + in.Region.Name + " are derived from this. It belongs to the backup of the table."),
		GenerateSecretString: &awssecretsmanager.CfnSecret_GenerateSecretStringProperty{
			SecretStringTemplate: jsii.String("{}"), GenerateStringKey: jsii.String("master"),
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true),
		},
	}
	if key != nil {
		props.KmsKeyId = key.KeyArn()
	}
	if in.Region.Backup != nil {
		props.ReplicaRegions = &[]any{&awssecretsmanager.CfnSecret_ReplicaRegionProperty{Region: jsii.String(in.Region.Backup.AWSRegion())}}
	}
	secret := awssecretsmanager.NewCfnSecret(in.Scope, jsii.String("Keys"), props)
	secret.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	stack.Accept(secret, "AwsSolutions-SMG4", "A rotation by time would replace the value, and what the former value "+
		"has signed and encrypted could not be read again.")
	return secret
}

// newKey creates the account's own key of the data. Functions use the key by its alias, so
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
