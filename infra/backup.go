package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
)

// everyNight is the time at which AWS Backup begins, in UTC.
const everyNight = "cron(0 3 * * ? *)"

// newBackup creates a daily backup of the served table, in a vault of the region, with a copy
// in the configured vault of another AWS region. A deleted stack leaves the vault with its
// backups behind. The vault for the copies is not part of any stack: a stack makes resources
// in its own AWS region alone, and the vault may belong to another account.
func newBackup(in *stack.Stack, key awskms.IKey) {
	name, days := in.Region.Prefix(), jsii.Number(in.Region.Backup.Days)
	vaultProps := &awsbackup.CfnBackupVaultProps{BackupVaultName: &name}
	if key != nil {
		vaultProps.EncryptionKeyArn = key.KeyArn()
	}
	vault := awsbackup.NewCfnBackupVault(in.Scope, jsii.String("Vault"), vaultProps)
	vault.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	plan := awsbackup.NewCfnBackupPlan(in.Scope, jsii.String("Backup"), &awsbackup.CfnBackupPlanProps{
		BackupPlan: &awsbackup.CfnBackupPlan_BackupPlanResourceTypeProperty{
			BackupPlanName: &name,
			BackupPlanRule: &[]any{&awsbackup.CfnBackupPlan_BackupRuleResourceTypeProperty{
				RuleName: jsii.String("daily"), TargetBackupVault: vault.Ref(), ScheduleExpression: jsii.String(everyNight),
				Lifecycle: &awsbackup.CfnBackupPlan_LifecycleResourceTypeProperty{DeleteAfterDays: days},
				CopyActions: &[]any{&awsbackup.CfnBackupPlan_CopyActionResourceTypeProperty{
					DestinationBackupVaultArn: &in.Region.Backup.VaultARN,
					Lifecycle:                 &awsbackup.CfnBackupPlan_LifecycleResourceTypeProperty{DeleteAfterDays: days},
				}},
			}},
		},
	})
	awsbackup.NewCfnBackupSelection(in.Scope, jsii.String("BackupTable"), &awsbackup.CfnBackupSelectionProps{
		BackupPlanId: plan.Ref(),
		BackupSelection: &awsbackup.CfnBackupSelection_BackupSelectionResourceTypeProperty{
			SelectionName: jsii.String("table"), IamRoleArn: newBackupRole(in).RoleArn(), Resources: &[]*string{in.TableARN()},
		},
	})
}

// newBackupRole creates the role of AWS Backup.
func newBackupRole(in *stack.Stack) awsiam.Role {
	role := awsiam.NewRole(in.Scope, jsii.String("BackupRole"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
		Description: jsii.String("What AWS Backup may do for Lectern " + in.Region.Name),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForBackup")),
		},
	})
	stack.Accept(role, "AwsSolutions-IAM4", "AWS extends this policy when AWS Backup needs more permissions for a backup or a copy.")
	return role
}
