package blob

import (
	"bytes"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// MaxParts is the number of parts that an upload may have.
	MaxParts = 10_000
	// MinPart is the size of the smallest part but the last.
	MinPart = 5 << 20
)

// Multipart is an upload in parts: its key, and the id that S3 has given.
type Multipart struct{ Key, ID string }

// Part is a stored part. Complete needs Number and ETag.
type Part struct {
	Number int32
	ETag   string
	Size   int64
}

// Begin starts an upload in parts.
func (s *Store) Begin(ctx context.Context, key, contentType string) (Multipart, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return Multipart{}, err
	}
	begun, err := o.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: o.bucket, Key: &key, ContentType: &contentType,
	})
	if err != nil {
		return Multipart{}, failed("begin an upload", err)
	}
	return Multipart{key, aws.ToString(begun.UploadId)}, nil
}

// PutPart returns the request that sends a part.
func (s *Store) PutPart(ctx context.Context, m Multipart, number int32, life time.Duration) (Request, error) {
	o, err := s.open(ctx)
	if err != nil {
		return Request{}, err
	}
	signed, err := o.sign.PresignUploadPart(ctx, &s3.UploadPartInput{
		Bucket: o.bucket, Key: &m.Key, UploadId: &m.ID, PartNumber: &number,
	}, expires(life))
	if err != nil {
		return Request{}, failed("sign a part", err)
	}
	return request(signed), nil
}

// Send stores a part. Each part but the last needs MinPart bytes.
func (s *Store) Send(ctx context.Context, m Multipart, number int32, content []byte) (Part, error) {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return Part{}, err
	}
	sent, err := o.patient.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: o.bucket, Key: &m.Key, UploadId: &m.ID, PartNumber: &number, Body: bytes.NewReader(content),
	}, unsigned)
	if err != nil {
		return Part{}, failed("send a part", err)
	}
	return Part{number, aws.ToString(sent.ETag), int64(len(content))}, nil
}

// unsigned leaves the bytes out of the signature, as signed addresses do: the connection protects them.
func unsigned(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, signer.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
}

// Parts returns the stored parts of an upload in the order of their numbers.
func (s *Store) Parts(ctx context.Context, m Multipart) (all []Part, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	pages := s3.NewListPartsPaginator(o.client, &s3.ListPartsInput{Bucket: o.bucket, Key: &m.Key, UploadId: &m.ID})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failed("list the parts", err)
		}
		for _, p := range page.Parts {
			all = append(all, Part{aws.ToInt32(p.PartNumber), aws.ToString(p.ETag), aws.ToInt64(p.Size)})
		}
	}
	return all, nil
}

// Complete joins the parts into the object. It returns ErrRefused for parts that S3 does not join,
// and for a key in use.
func (s *Store) Complete(ctx context.Context, m Multipart, parts []Part) error {
	return s.join(ctx, m, parts, aws.String(anyETag))
}

// Replace joins the parts into the next version of an object. The version before stays until DeleteEarlier.
func (s *Store) Replace(ctx context.Context, m Multipart, parts []Part) error {
	return s.join(ctx, m, parts, nil)
}

// join joins the parts. refused is the ETag that the key must not have; nil for none.
func (s *Store) join(ctx context.Context, m Multipart, parts []Part, refused *string) error {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	joined := make([]types.CompletedPart, len(parts))
	for i, p := range parts {
		joined[i] = types.CompletedPart{PartNumber: aws.Int32(p.Number), ETag: aws.String(p.ETag)}
	}
	_, err = o.patient.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: o.bucket, Key: &m.Key, UploadId: &m.ID, IfNoneMatch: refused,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: joined},
	})
	return failed("complete an upload", err)
}

// Abort ends an upload and removes its parts. An upload that has ended is no error.
func (s *Store) Abort(ctx context.Context, m Multipart) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	_, err = o.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: o.bucket, Key: &m.Key, UploadId: &m.ID})
	return unlessAbsent(failedRemoval("abort an upload", err))
}
