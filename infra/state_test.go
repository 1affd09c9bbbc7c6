package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
	"lectern/infra/function"
)

func TestTheTableIsSafe(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		state := ofDefaults(t)["Lectern-"+at+"-State"]
		require.Len(t, state.Resources, 6)
		table := state.one(t, "AWS::DynamoDB::Table")
		require.Equal(t, []string{"Retain", "Retain"}, []string{table.DeletionPolicy, table.UpdateReplacePolicy})
		require.Equal(t, map[string]any{
			"TableName":            "lectern-" + at,
			"AttributeDefinitions": []any{attribute("PK"), attribute("SK")},
			"KeySchema": []any{
				map[string]any{"AttributeName": "PK", "KeyType": "HASH"}, map[string]any{"AttributeName": "SK", "KeyType": "RANGE"},
			},
			"BillingMode":                      "PAY_PER_REQUEST",
			"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35.0},
			"TimeToLiveSpecification":          map[string]any{"AttributeName": "ttl", "Enabled": true},
			"StreamSpecification":              map[string]any{"StreamViewType": "NEW_AND_OLD_IMAGES"},
			"DeletionProtectionEnabled":        true,
			// Without a key of the account, DynamoDB encrypts with its own.
			"SSESpecification": map[string]any{"SSEEnabled": false},
		}, table.Properties)
	}
}

func attribute(name string) any { return map[string]any{"AttributeName": name, "AttributeType": "S"} }

func TestTheStackOfStateIsProtected(t *testing.T) {
	app := appOf(t, map[string]any{"regions": "us"})
	for _, stack := range *app.Synth(nil).Stacks() {
		require.Equal(t, *stack.StackName() == "Lectern-us-State", *stack.TerminationProtection(), *stack.StackName())
	}
}

// TestStreamAndSecretAreFoundByParameters: no export ties the stacks, so a restored table can take
// the place of the table.
func TestStreamAndSecretAreFoundByParameters(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		state := ofDefaults(t)["Lectern-"+at+"-State"]
		found := map[any]any{}
		for id, p := range state.of("AWS::SSM::Parameter") {
			require.Equal(t, "String", p.Properties["Type"], id)
			found[p.Properties["Name"]] = written(p.Properties["Value"])
		}
		require.Equal(t, map[any]any{
			"/lectern/" + at + "/stream": "${" + state.id(t, "AWS::DynamoDB::Table") + ".StreamArn}",
			"/lectern/" + at + "/keys":   "${" + state.id(t, "AWS::SecretsManager::Secret") + ".Id}",
		}, found)
	}
}

// TestTheSecretIsMadeOnce: CloudFormation makes a new value if a property of its generation
// changes, and what the former value has signed and encrypted is lost. So these properties
// stay as they are, for every deployment and every option.
func TestTheSecretIsMadeOnce(t *testing.T) {
	generated := map[string]any{
		"SecretStringTemplate": "{}", "GenerateStringKey": "master", "PasswordLength": 64.0, "ExcludePunctuation": true,
	}
	for _, at := range []string{"us", "eu"} {
		for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
			secret := all["Lectern-"+at+"-State"].one(t, "AWS::SecretsManager::Secret")
			require.Equal(t, []string{"Retain", "Retain"}, []string{secret.DeletionPolicy, secret.UpdateReplacePolicy})
			require.Equal(t, "lectern/"+at+"/keys", secret.Properties["Name"])
			require.Equal(t, generated, secret.Properties["GenerateSecretString"])
		}
	}
	plainly := ofDefaults(t)["Lectern-us-State"].one(t, "AWS::SecretsManager::Secret").Properties
	require.NotContains(t, plainly, "KmsKeyId")
	require.NotContains(t, plainly, "ReplicaRegions")
	state := ofEverything(t)["Lectern-us-State"]
	guarded := state.one(t, "AWS::SecretsManager::Secret").Properties
	require.Equal(t, "${"+state.id(t, "AWS::KMS::Key")+".Arn}", written(guarded["KmsKeyId"]))
	require.Equal(t, []any{map[string]any{"Region": "us-east-1"}}, guarded["ReplicaRegions"])
}

func TestABackupIsCopiedElsewhereEachDay(t *testing.T) {
	require.NotContains(t, ofDefaults(t)["Lectern-us-State"].text, "AWS::Backup")
	for at, regions := range map[string][]string{"us": {"us-west-2", "us-east-1"}, "eu": {"eu-west-1", "eu-central-1"}} {
		state := ofEverything(t)["Lectern-"+at+"-State"]
		vault := state.one(t, "AWS::Backup::BackupVault")
		require.Equal(t, []string{"Retain", "Retain"}, []string{vault.DeletionPolicy, vault.UpdateReplacePolicy})
		require.Equal(t, "lectern-"+at, vault.Properties["BackupVaultName"])
		require.Equal(t, "${"+state.id(t, "AWS::KMS::Key")+".Arn}", written(vault.Properties["EncryptionKeyArn"]))
		days := map[string]any{"DeleteAfterDays": 90.0}
		require.Equal(t, map[string]any{"BackupPlanName": "lectern-" + at, "BackupPlanRule": []any{map[string]any{
			"RuleName": "daily", "TargetBackupVault": "${" + state.id(t, "AWS::Backup::BackupVault") + "}",
			"ScheduleExpression": "cron(0 3 * * ? *)", "Lifecycle": days,
			"CopyActions": []any{map[string]any{
				"DestinationBackupVaultArn": "arn:aws:backup:" + regions[1] + ":123456789012:backup-vault:lectern-" + at, "Lifecycle": days,
			}},
		}}}, written(state.one(t, "AWS::Backup::BackupPlan").Properties["BackupPlan"]))
		selection := written(state.one(t, "AWS::Backup::BackupSelection").Properties).(map[string]any)
		require.Equal(t, "${"+state.id(t, "AWS::Backup::BackupPlan")+"}", selection["BackupPlanId"])
		require.Equal(t, map[string]any{
			"SelectionName": "table", "IamRoleArn": "${" + state.logical(t, "AWS::IAM::Role", "Description", "What AWS Backup may do for Lectern "+at) + ".Arn}",
			// The table that is served.
			"Resources": []any{"arn:aws:dynamodb:" + regions[0] + ":123456789012:table/lectern-" + at + "-restored"},
		}, selection["BackupSelection"])
	}
}

func TestAKeyOfTheAccountIsRotatedAndStays(t *testing.T) {
	state, service := ofEverything(t)["Lectern-us-State"], ofEverything(t)["Lectern-us-Service"]
	key := state.one(t, "AWS::KMS::Key")
	require.Equal(t, true, key.Properties["EnableKeyRotation"])
	alias := state.one(t, "AWS::KMS::Alias")
	require.Equal(t, "alias/lectern-us", alias.Properties["AliasName"])
	// Functions may use the key as long as it has the alias.
	for _, stays := range []resource{key, alias} {
		require.Equal(t, []string{"Retain", "Retain"}, []string{stays.DeletionPolicy, stays.UpdateReplacePolicy}, stays.Type)
	}
	require.Equal(t, map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
		"Effect": "Allow", "Action": "kms:*", "Resource": "*",
		"Principal": map[string]any{"AWS": "arn:aws:iam::123456789012:root"},
	}}}, written(key.Properties["KeyPolicy"]))
	require.Equal(t, "KMS", state.one(t, "AWS::DynamoDB::Table").Properties["SSESpecification"].(map[string]any)["SSEType"])

	specs, err := function.Specs(functions.Groups)
	require.NoError(t, err)
	workers, err := function.WorkerSpecs(events.With(events.Every))
	require.NoError(t, err)
	all := policies(t, service)
	for _, spec := range slices.Concat(specs, workers) {
		name := spec.Name
		text := plain(t, all[name])
		require.Equal(t, spec.UsesTable() || spec.Source == events.Stream, strings.Contains(text, "kms:"), name)
		if strings.Contains(text, "kms:") {
			require.Contains(t, text, `"kms:ViaService":"dynamodb.us-west-2.amazonaws.com"`)
			require.Contains(t, text, `"kms:ResourceAliases":"alias/lectern-us"`)
			writes := strings.Contains(text, `"dynamodb:UpdateItem"`) || strings.Contains(text, `"dynamodb:PutItem"`)
			require.Equal(t, writes, strings.Contains(text, "kms:Encrypt"), name)
		}
	}
}

func TestARestoredTableIsServedInPlaceOfTheOwn(t *testing.T) {
	state, service := ofEverything(t)["Lectern-us-State"], ofEverything(t)["Lectern-us-Service"]
	require.Equal(t, "lectern-us", state.one(t, "AWS::DynamoDB::Table").Properties["TableName"])
	for id, f := range service.of("AWS::Lambda::Function") {
		require.Equal(t, "lectern-us-restored", environment(f)["LECTERN_TABLE"], id)
	}
	require.NotContains(t, service.text, "table/lectern-us\"")
	require.Contains(t, service.text, "table/lectern-us-restored\"")
}

// TestTheBucketIsSafe: bytes are private, encrypted and kept, and only what was abandoned or removed
// ends by itself.
func TestTheBucketIsSafe(t *testing.T) {
	for at, region := range map[string]string{"us": "us-east-1", "eu": "eu-central-1"} {
		state := ofDefaults(t)["Lectern-"+at+"-State"]
		bucket := state.one(t, "AWS::S3::Bucket")
		require.Equal(t, []string{"Retain", "Retain"}, []string{bucket.DeletionPolicy, bucket.UpdateReplacePolicy})
		require.Equal(t, map[string]any{
			"BucketName": "lectern-" + at + "-files-${AWS::AccountId}-" + region,
			"BucketEncryption": map[string]any{"ServerSideEncryptionConfiguration": []any{
				map[string]any{"ServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "AES256"}},
			}},
			"PublicAccessBlockConfiguration": map[string]any{
				"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true,
			},
			"OwnershipControls":       map[string]any{"Rules": []any{map[string]any{"ObjectOwnership": "BucketOwnerEnforced"}}},
			"VersioningConfiguration": map[string]any{"Status": "Enabled"},
			"LifecycleConfiguration": map[string]any{"Rules": []any{map[string]any{
				"Status": "Enabled", "AbortIncompleteMultipartUpload": map[string]any{"DaysAfterInitiation": 7.0},
				"NoncurrentVersionExpiration": map[string]any{"NoncurrentDays": 30.0}, "ExpiredObjectDeleteMarker": true,
			}, map[string]any{
				"Status": "Enabled", "Prefix": "transcripts/", "ExpirationInDays": 14.0, "NoncurrentVersionExpiration": map[string]any{"NoncurrentDays": 1.0},
			}}},
			"CorsConfiguration": map[string]any{"CorsRules": []any{map[string]any{
				"AllowedMethods": []any{"GET", "HEAD", "PUT"}, "AllowedOrigins": []any{"*"}, "AllowedHeaders": []any{"*"},
				"ExposedHeaders": []any{"ETag"}, "MaxAge": 3600.0,
			}}},
		}, written(bucket.Properties))
		policy := state.one(t, "AWS::S3::BucketPolicy")
		id := state.id(t, "AWS::S3::Bucket")
		require.Equal(t, "${"+id+"}", written(policy.Properties["Bucket"]))
		require.Equal(t, []any{map[string]any{
			"Effect": "Deny", "Principal": map[string]any{"AWS": "*"}, "Action": "s3:*",
			"Resource":  []any{"${" + id + ".Arn}", "${" + id + ".Arn}/*"},
			"Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}},
		}}, written(policy.Properties["PolicyDocument"].(map[string]any)["Statement"]))
	}
	state := ofEverything(t)["Lectern-us-State"]
	require.Equal(t, []any{map[string]any{
		"BucketKeyEnabled": true, "ServerSideEncryptionByDefault": map[string]any{
			"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "${" + state.id(t, "AWS::KMS::Key") + ".Arn}",
		},
	}}, written(state.one(t, "AWS::S3::Bucket").Properties["BucketEncryption"].(map[string]any)["ServerSideEncryptionConfiguration"]))
}
