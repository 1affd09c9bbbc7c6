package blob

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lectern/shared/table"
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

// writes are the tries of Write. The client tries again after most failures, but not after a conflict: the
// server of one machine answers 409 to a write beside the removal of a folder.
var writes = table.Retry{Tries: 4, First: 50 * time.Millisecond, Max: time.Second}

// Write stores bytes that the service has made. A repeated call replaces them.
func (s *Store) Write(ctx context.Context, u Upload, content []byte) error {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	for _, ended := range writes.Each(ctx) {
		if ended != nil {
			return errors.Join(err, ended)
		}
		_, err = o.patient.PutObject(ctx, &s3.PutObjectInput{
			Bucket: o.bucket, Key: &u.Key, ContentType: &u.Type, Body: bytes.NewReader(content),
		}, unsigned)
		if err = failed("store an object", err); !errors.Is(err, ErrBusy) {
			return err
		}
	}
	return err
}
