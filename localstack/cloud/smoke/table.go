package smoke

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// recoveryDays is the number of days of the point-in-time recovery (infra).
const recoveryDays = 35

// expiry checks that DynamoDB deletes what has expired.
func (r *run) expiry(ctx context.Context) (string, error) {
	out, err := dynamodb.NewFromConfig(r.config).DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &r.Region.Table})
	if err != nil {
		return "", unread("dynamodb:DescribeTimeToLive", err)
	}
	ttl := out.TimeToLiveDescription
	if ttl == nil || ttl.TimeToLiveStatus != types.TimeToLiveStatusEnabled || ttl.AttributeName == nil || *ttl.AttributeName != "ttl" {
		return "", fmt.Errorf("expiry is not on for the attribute ttl: %+v", ttl)
	}
	return "on, for the attribute ttl", nil
}

// recovery checks the point-in-time recovery.
func (r *run) recovery(ctx context.Context) (string, error) {
	in := &dynamodb.DescribeContinuousBackupsInput{TableName: &r.Region.Table}
	out, err := dynamodb.NewFromConfig(r.config).DescribeContinuousBackups(ctx, in)
	if err != nil {
		return "", unread("dynamodb:DescribeContinuousBackups", err)
	}
	if out.ContinuousBackupsDescription == nil || out.ContinuousBackupsDescription.PointInTimeRecoveryDescription == nil {
		return "", errors.New("point-in-time recovery is not described")
	}
	recovery := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
	days := int32(0)
	if recovery.RecoveryPeriodInDays != nil {
		days = *recovery.RecoveryPeriodInDays
	}
	if recovery.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled || days != recoveryDays {
		return "", fmt.Errorf("point-in-time recovery is %s, for %d days instead of %d", recovery.PointInTimeRecoveryStatus, days, recoveryDays)
	}
	return fmt.Sprintf("on, for %d days", days), nil
}

// table returns the description of the table.
func (r *run) table(ctx context.Context) (*types.TableDescription, error) {
	out, err := dynamodb.NewFromConfig(r.config).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.Region.Table})
	if err != nil {
		return nil, unread("dynamodb:DescribeTable", err)
	}
	if out.Table == nil || out.Table.TableArn == nil {
		return nil, fmt.Errorf("%s is not described", r.Region.Table)
	}
	return out.Table, nil
}

// protection checks that the table cannot be deleted by mistake.
func (r *run) protection(ctx context.Context) (string, error) {
	table, err := r.table(ctx)
	if err != nil {
		return "", err
	}
	if table.DeletionProtectionEnabled == nil || !*table.DeletionProtectionEnabled {
		return "", fmt.Errorf("the deletion protection of %s is off", r.Region.Table)
	}
	return "on", nil
}

// stream checks that the stream has the images of an item before and after a change.
func (r *run) stream(ctx context.Context) (string, error) {
	table, err := r.table(ctx)
	if err != nil {
		return "", err
	}
	s := table.StreamSpecification
	if s == nil || s.StreamEnabled == nil || !*s.StreamEnabled || s.StreamViewType != types.StreamViewTypeNewAndOldImages {
		return "", fmt.Errorf("the stream does not have both images: %+v", s)
	}
	return "on, with both images", nil
}

// keyOf returns the ARN of the account's key of the table, empty for a key of DynamoDB.
func (r *run) keyOf(ctx context.Context) (string, error) {
	table, err := r.table(ctx)
	if err != nil || table.SSEDescription == nil || table.SSEDescription.KMSMasterKeyArn == nil {
		return "", err
	}
	return *table.SSEDescription.KMSMasterKeyArn, nil
}
