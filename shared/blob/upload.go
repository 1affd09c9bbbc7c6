package blob

import (
	"bytes"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// anyETag is the value of If-None-Match that refuses a key in use.
const anyETag = "*"

// Upload describes bytes to be sent.
type Upload struct {
	Key, Type string
	Size      int64
}

// Put returns the request that sends the bytes at once. S3 refuses another length, another type,
// another key, a second use and a late use.
func (s *Store) Put(ctx context.Context, u Upload, life time.Duration) (Request, error) {
	o, err := s.open(ctx)
	if err != nil {
		return Request{}, err
	}
	signed, err := o.sign.PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket: o.bucket, Key: &u.Key, ContentType: &u.Type, ContentLength: &u.Size, IfNoneMatch: aws.String(anyETag),
	}, expires(life))
	if err != nil {
		return Request{}, failed("sign an upload", err)
	}
	return request(signed), nil
}

// Write stores bytes that the service has made. A repeated call replaces them.
func (s *Store) Write(ctx context.Context, u Upload, content []byte) error {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	return Again(ctx, func() error {
		_, err := o.patient.PutObject(ctx, &s3.PutObjectInput{
			Bucket: o.bucket, Key: &u.Key, ContentType: &u.Type, Body: bytes.NewReader(content),
		}, unsigned)
		return failed("store an object", err)
	})
}
