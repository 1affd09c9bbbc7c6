package emulator

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lectern/localstack/cloud/target"
	"lectern/localstack/local/stack"
)

// openStaging removes the policy of bootstrap's buckets: the policy refuses calls without TLS,
// and the emulator has no TLS.
func (e *Emulator) openStaging(ctx context.Context) error {
	for _, region := range stack.Regions {
		config, err := target.Region{AWSRegion: region, Endpoint: e.URL}.Config(ctx)
		if err != nil {
			return err
		}
		client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
		bucket := "cdk-hnb659fds-assets-" + account + "-" + region
		if _, err := client.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: &bucket}); err != nil {
			return fmt.Errorf("emulator: open %s: %w", bucket, err)
		}
	}
	return nil
}

// expire switches on the table's TTL, because the emulator ignores TTL in the template.
func (e *Emulator) expire(ctx context.Context, r target.Region) error {
	config, err := r.Config(ctx)
	if err != nil {
		return err
	}
	client := dynamodb.NewFromConfig(config)
	described, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &r.Table})
	if err == nil && described.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusEnabled {
		_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &r.Table,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)}})
	}
	if err != nil {
		return fmt.Errorf("emulator: switch TTL of %s on: %w", r.Table, err)
	}
	return nil
}
