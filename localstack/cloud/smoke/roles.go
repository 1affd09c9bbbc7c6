package smoke

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// simulation is an action that a role may or may not do.
type simulation struct {
	action, resource string
	// context has keys of conditions with their values.
	context map[string][]string
	allowed bool
}

// simulate asks IAM for each action, and returns an error for each answer that differs.
func (r *run) simulate(ctx context.Context, role string, all []simulation) (err error) {
	client := iam.NewFromConfig(r.config)
	for _, s := range all {
		in := &iam.SimulatePrincipalPolicyInput{PolicySourceArn: &role, ActionNames: []string{s.action}, ResourceArns: []string{s.resource}}
		for key, values := range s.context {
			kind := types.ContextKeyTypeEnumStringList
			if key == service {
				kind = types.ContextKeyTypeEnumString
			}
			in.ContextEntries = append(in.ContextEntries, types.ContextEntry{ContextKeyName: &key, ContextKeyType: kind, ContextKeyValues: values})
		}
		out, failed := client.SimulatePrincipalPolicy(ctx, in)
		if failed != nil {
			return unread("iam:SimulatePrincipalPolicy", failed)
		}
		if len(out.EvaluationResults) != 1 {
			return fmt.Errorf("iam:SimulatePrincipalPolicy has %d results", len(out.EvaluationResults))
		}
		decision := out.EvaluationResults[0].EvalDecision
		if (decision == types.PolicyEvaluationDecisionTypeAllowed) != s.allowed {
			err = errors.Join(err, fmt.Errorf("%s with %v is %s for %s", s.action, s.context, decision, role))
		}
	}
	return err
}

// Keys of conditions: the partition keys, the service that uses a key, and the key's aliases.
// Only the service has a single value.
const leading, service, aliases = "dynamodb:LeadingKeys", "kms:ViaService", "kms:ResourceAliases"

// leadingKeys checks by simulation that roles reach only the items of their keys.
func (r *run) leadingKeys(ctx context.Context) (string, error) {
	table, err := r.table(ctx)
	if err != nil {
		return "", err
	}
	arn := *table.TableArn
	keys := func(values ...string) map[string][]string { return map[string][]string{leading: values} }
	writes, err := r.roleOf(ctx, r.function("sessionwrites"))
	if err != nil {
		return "", err
	}
	reads, err := r.roleOf(ctx, r.function("sessions"))
	if err != nil {
		return "", err
	}
	root, err := r.roleOf(ctx, r.function("root"))
	if err != nil {
		return "", err
	}
	const get, put, scan = "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Scan"
	err = errors.Join(
		r.simulate(ctx, writes, []simulation{
			{get, arn, keys("O#1"), true},
			{put, arn, keys("O#1#E#2#S"), true},
			{put, arn, keys("O#1", "O#2"), true},
			{put, arn, keys("L#1#session_writes"), false},
			{put, arn, keys("R#org"), false},
			{get, arn, keys("N#id"), false},
			{put, arn, keys("O#1", "R#org"), false},
			{scan, arn, nil, false},
			{put, arn + "-other", keys("O#1"), false},
		}),
		r.simulate(ctx, reads, []simulation{
			{get, arn, keys("O#1"), true},
			{put, arn, keys("O#1"), false},
			{get, arn, keys("R#org"), false},
		}),
		r.simulate(ctx, root, []simulation{{get, arn, keys("O#1"), false}}),
	)
	return "by simulation, sessionwrites, sessions and root reach the items of their keys alone", err
}

// ownKey checks by simulation that a function uses the account's key through DynamoDB and by its
// alias alone.
func (r *run) ownKey(ctx context.Context) (string, error) {
	key, err := r.keyOf(ctx)
	if err != nil {
		return "", err
	}
	if key == "" {
		return "", leftOut("the table has a key of DynamoDB's own (customerKey is off)")
	}
	role, err := r.roleOf(ctx, r.function("sessions"))
	if err != nil {
		return "", err
	}
	const decrypt = "kms:Decrypt"
	table, alias := []string{"dynamodb." + r.Region.AWSRegion + ".amazonaws.com"}, []string{"alias/" + r.prefix()}
	err = r.simulate(ctx, role, []simulation{
		{decrypt, key, map[string][]string{service: table, aliases: alias}, true},
		{decrypt, key, map[string][]string{service: table, aliases: {"alias/other"}}, false},
		{decrypt, key, map[string][]string{service: {"s3." + r.Region.AWSRegion + ".amazonaws.com"}, aliases: alias}, false},
		{"kms:ScheduleKeyDeletion", key, map[string][]string{service: table, aliases: alias}, false},
	})
	return "by simulation, sessions uses the key through DynamoDB and by its alias alone", err
}
