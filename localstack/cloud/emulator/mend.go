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

// openBuckets removes the policies of a bucket of each region, whose name begins with the text of
// prefix for its region: the policies refuse calls without TLS, and the emulator has no TLS.
func (e *Emulator) openBuckets(ctx context.Context, prefix func(region string) string) error {
	for name, region := range stack.Regions {
		config, err := target.Region{AWSRegion: region, Endpoint: e.URL}.Config(ctx)
		if err != nil {
			return err
		}
		client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
		bucket := prefix(name) + account + "-" + region
		if _, err := client.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: &bucket}); err != nil {
			return fmt.Errorf("emulator: open %s: %w", bucket, err)
		}
	}
	return nil
}

// staging begins the name of bootstrap's bucket, and files that of the bucket for bytes.
func staging(string) string      { return "cdk-hnb659fds-assets-" }
func files(region string) string { return "lectern-" + region + "-files-" }

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
