package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/stack"
	"lectern/shared/speech"
)

const (
	// abandonedDays is the time after which S3 removes the parts of an upload that nobody ended.
	abandonedDays = 7
	// noncurrentDays is the time for which a removed object can be had back.
	noncurrentDays = 30
	// outputDays is the time after which S3 removes the output of a transcription that was not removed
	// when it was read.
	outputDays = 14
	// corsSeconds is the time for which a browser remembers that it may send a request.
	corsSeconds = 3600
)

// newBucket creates the bucket for bytes. A deleted stack leaves the bucket behind. Addresses are
// signed, so a browser may send and fetch bytes from a page of any origin; it needs the ETag of each
// part.
func newBucket(in *stack.Stack, key awskms.IKey) awss3.Bucket {
	props := &awss3.BucketProps{
		BucketName:        in.BucketName(),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		EnforceSSL:        jsii.Bool(true),
		Versioned:         jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
		LifecycleRules: &[]*awss3.LifecycleRule{{
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(abandonedDays)),
			NoncurrentVersionExpiration:         awscdk.Duration_Days(jsii.Number(noncurrentDays)),
			ExpiredObjectDeleteMarker:           jsii.Bool(true),
		}, {
			Prefix:                      jsii.String(speech.Folder + "/"),
			Expiration:                  awscdk.Duration_Days(jsii.Number(outputDays)),
			NoncurrentVersionExpiration: awscdk.Duration_Days(jsii.Number(1)),
		}},
		Cors: &[]*awss3.CorsRule{{
			AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_GET, awss3.HttpMethods_HEAD, awss3.HttpMethods_PUT},
			AllowedOrigins: jsii.Strings("*"), AllowedHeaders: jsii.Strings("*"), ExposedHeaders: jsii.Strings("ETag"),
			MaxAge: jsii.Number(corsSeconds),
		}},
	}
	if key != nil {
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, key, jsii.Bool(true)
	}
	bucket := awss3.NewBucket(in.Scope, jsii.String("Files"), props)
	stack.Accept(bucket, "AwsSolutions-S1", "Every address is signed for a caller whose request is in the log of the API; "+
		"a log of accesses would need a second bucket.")
	return bucket
}
