package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/infra/function"
)

func TestTheTableIsSafe(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		state := ofDefaults(t)["Lectern-"+at+"-State"]
		require.Len(t, state.Resources, 1)
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
	all := policies(t, service)
	for _, spec := range specs {
		name := spec.Name
		text := plain(t, all[name])
		require.Equal(t, spec.UsesTable(), strings.Contains(text, "kms:"), name)
		if strings.Contains(text, "kms:") {
			require.Contains(t, text, `"kms:ViaService":"dynamodb.us-west-2.amazonaws.com"`)
			require.Contains(t, text, `"kms:ResourceAliases":"alias/lectern-us"`)
			require.Equal(t, strings.Contains(text, `"dynamodb:UpdateItem"`), strings.Contains(text, "kms:Encrypt"), name)
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
