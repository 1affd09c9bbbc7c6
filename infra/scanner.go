package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsguardduty"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
	"lectern/shared/media"
	"lectern/shared/sessionfile"
)

const (
	// scannerService is the service of AWS that scans, and that manages a rule for it.
	scannerService = "malware-protection-plan.guardduty.amazonaws.com"
	// scannerRule begins the name of the rule by which GuardDuty learns of new objects.
	scannerRule = "DO-NOT-DELETE-AmazonGuardDutyMalwareProtectionS3*"
	// scannerTest is the object by which GuardDuty tries whether it may scan the bucket.
	scannerTest = "malware-protection-resource-validation-object"
)

// scannedKinds are the kinds of objects that wait for a verdict (package scan).
var scannedKinds = []string{sessionfile.Folder, media.Folder}

// newScanner lets GuardDuty scan each new object of the kinds that wait for a verdict, and tag it with the
// result.
func newScanner(in *stack.Stack, bucket awss3.Bucket, key awskms.IKey) {
	var prefixes []string
	for _, kind := range scannedKinds {
		prefixes = append(prefixes, kind+"/")
	}
	awsguardduty.NewCfnMalwareProtectionPlan(in.Scope, jsii.String("Scanner"), &awsguardduty.CfnMalwareProtectionPlanProps{
		Role: newScannerRole(in, bucket, key).RoleArn(),
		ProtectedResource: &awsguardduty.CfnMalwareProtectionPlan_CFNProtectedResourceProperty{
			S3Bucket: &awsguardduty.CfnMalwareProtectionPlan_S3BucketProperty{
				BucketName: bucket.BucketName(), ObjectPrefixes: jsii.Strings(prefixes...),
			},
		},
		Actions: &awsguardduty.CfnMalwareProtectionPlan_CFNActionsProperty{
			Tagging: &awsguardduty.CfnMalwareProtectionPlan_CFNTaggingProperty{Status: jsii.String("ENABLED")},
		},
	})
}

// newScannerRole creates the role of GuardDuty: the permissions that AWS asks for, but for the objects of the
// scanned kinds alone. Who makes a plan with a role must be allowed to pass it, so no other account can.
func newScannerRole(in *stack.Stack, bucket awss3.Bucket, key awskms.IKey) awsiam.Role {
	findings := []string{in.Finding("events", "rule/"+scannerRule)}
	var objects []string
	for _, kind := range scannedKinds {
		objects, findings = append(objects, *in.ObjectsARN(kind)), append(findings, in.ObjectsFinding(kind))
	}
	rules := []string{*in.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("events"), Resource: jsii.String("rule"), ResourceName: jsii.String(scannerRule),
	})}
	managed := allow(rules, "events:DeleteRule", "events:PutRule", "events:PutTargets", "events:RemoveTargets")
	managed.AddCondition(jsii.String("StringLike"), map[string]any{"events:ManagedBy": scannerService})
	policy := awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		managed,
		allow(rules, "events:DescribeRule", "events:ListTargetsByRule"),
		allow(objects, "s3:GetObject", "s3:GetObjectTagging", "s3:GetObjectVersion", "s3:GetObjectVersionTagging",
			"s3:PutObjectTagging", "s3:PutObjectVersionTagging"),
		allow([]string{*bucket.BucketArn()}, "s3:GetBucketNotification", "s3:ListBucket", "s3:PutBucketNotification"),
		allow([]string{*bucket.BucketArn() + "/" + scannerTest}, "s3:PutObject"),
	}})
	if key != nil {
		use := allow([]string{*key.KeyArn()}, "kms:Decrypt", "kms:GenerateDataKey")
		use.AddCondition(jsii.String("StringEquals"), map[string]any{"kms:ViaService": "s3." + in.Region.AWSRegion + ".amazonaws.com"})
		policy.AddStatements(use)
	}
	role := awsiam.NewRole(in.Scope, jsii.String("ScannerRole"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String(scannerService), nil),
		Description:    jsii.String("What GuardDuty may do to scan what clients send to Lectern " + in.Region.Name),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"scan": policy},
	})
	stack.Accept(role, stack.RuleWildcards, "GuardDuty names its rule itself, and scans each object of a kind.", findings...)
	return role
}

// allow allows actions on resources.
func allow(resources []string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: jsii.Strings(resources...)})
}
