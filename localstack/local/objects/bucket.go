package objects

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lectern/shared/blob"
	"lectern/shared/table"
)

// Bucket names a bucket and the address and key pair to call it with. Other processes read a Bucket
// as JSON.
type Bucket struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	AWSRegion string `json:"aws_region"`
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

// Bucket returns a bucket of the server.
func (s *Server) Bucket(name string) Bucket {
	return Bucket{Name: name, URL: s.URL, AWSRegion: s.AWSRegion, AccessKey: s.AccessKey, SecretKey: s.SecretKey}
}

// At returns the bucket with another address.
func (b Bucket) At(url string) Bucket {
	b.URL = url
	return b
}

// connections are those of this process to all buckets. A client of its own for each call would keep its connection
// for a minute and a half, and a test of thousands of calls has no files for so many.
var connections = sync.OnceValue(func() aws.HTTPClient { return table.HTTPClient(nil) })

// Place returns what a blob.Store needs.
func (b Bucket) Place() blob.Place {
	return blob.Place{Bucket: b.Name, Config: aws.Config{
		BaseEndpoint: &b.URL, Region: b.AWSRegion, HTTPClient: connections(),
		Credentials: credentials.NewStaticCredentialsProvider(b.AccessKey, b.SecretKey, ""),
	}}
}

// Store returns the bucket as a client in this process calls it.
func (b Bucket) Store() *blob.Store { return &blob.Store{Find: b.find} }

// client returns a client of the bucket for calls that no blob.Store makes.
func (b Bucket) client() *s3.Client {
	return s3.NewFromConfig(b.Place().Config, func(o *s3.Options) { o.UsePathStyle = true })
}

// Keys returns the keys with bytes that begin with a prefix, in order. Bytes of an earlier version and of an
// unfinished upload in parts count too.
func (b Bucket) Keys(ctx context.Context, prefix string) ([]string, error) {
	client := b.client()
	keys := []string{}
	pages := s3.NewListObjectVersionsPaginator(client, &s3.ListObjectVersionsInput{Bucket: &b.Name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("objects: list the keys: %w", err)
		}
		for _, version := range page.Versions {
			keys = append(keys, *version.Key)
		}
	}
	open, err := b.unfinished(ctx, client, prefix)
	keys = append(keys, open...)
	slices.Sort(keys)
	return slices.Compact(keys), err
}

// Tag puts a tag on an object, in the place of the others that it has.
func (b Bucket) Tag(ctx context.Context, key, name, value string) error {
	_, err := b.client().PutObjectTagging(ctx, &s3.PutObjectTaggingInput{
		Bucket: &b.Name, Key: &key, Tagging: &types.Tagging{TagSet: []types.Tag{{Key: &name, Value: &value}}},
	})
	if err != nil {
		return fmt.Errorf("objects: put a tag: %w", err)
	}
	return nil
}

// unfinished returns the keys of the unfinished uploads that have parts. The bucket ends an upload without parts.
func (b Bucket) unfinished(ctx context.Context, client *s3.Client, prefix string) (keys []string, err error) {
	open, err := openUploads(ctx, client, &s3.ListMultipartUploadsInput{Bucket: &b.Name, Prefix: &prefix})
	if err != nil {
		return nil, err
	}
	for _, u := range open {
		parts, err := b.Store().Parts(ctx, blob.Multipart{Key: *u.Key, ID: *u.UploadId})
		if err != nil {
			return nil, err
		}
		if len(parts) > 0 {
			keys = append(keys, *u.Key)
		}
	}
	return keys, nil
}

// openUploads returns the uploads in parts that a list asks for. It goes on behind a key alone: versitygw refuses the
// marker of an upload of another key, and the service begins one upload a key.
func openUploads(ctx context.Context, client *s3.Client, in *s3.ListMultipartUploadsInput) (all []types.MultipartUpload, err error) {
	for {
		page, err := client.ListMultipartUploads(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("objects: list the uploads in parts: %w", err)
		}
		all = append(all, page.Uploads...)
		if !aws.ToBool(page.IsTruncated) {
			return all, nil
		}
		in.KeyMarker = page.NextKeyMarker
	}
}

// find returns the place.
func (b Bucket) find(context.Context) (blob.Place, error) { return b.Place(), nil }

// Variables returns the environment variables, each NAME=value, by which a function finds the bucket.
func (b Bucket) Variables() []string {
	return []string{
		"LECTERN_BUCKET=" + b.Name, "AWS_ENDPOINT_URL_S3=" + b.URL,
		"AWS_ACCESS_KEY_ID=" + b.AccessKey, "AWS_SECRET_ACCESS_KEY=" + b.SecretKey,
	}
}
