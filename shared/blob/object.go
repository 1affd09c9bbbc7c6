package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// binary is the type of every download that a browser must not show.
const binary = "application/octet-stream"

// Object describes stored bytes.
type Object struct {
	Type, ETag string
	// Encoding is the Content-Encoding that the bytes were sent with; empty for none.
	Encoding string
	Size     int64
}

// Download describes a download: the key, and the name and the type that the client sees.
type Download struct{ Key, Name, Type string }

// Head returns what is stored under a key.
func (s *Store) Head(ctx context.Context, key string) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return Object{}, err
	}
	found, err := o.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: o.bucket, Key: &key})
	if err != nil {
		return Object{}, failed("look at an object", err)
	}
	return Object{
		Type: aws.ToString(found.ContentType), ETag: aws.ToString(found.ETag), Encoding: aws.ToString(found.ContentEncoding),
		Size: aws.ToInt64(found.ContentLength),
	}, nil
}

// Tag returns the value of a tag of an object; empty without the tag.
func (s *Store) Tag(ctx context.Context, key, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	got, err := o.client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: o.bucket, Key: &key})
	if err != nil {
		return "", failed("read the tags of an object", err)
	}
	for _, tag := range got.TagSet {
		if aws.ToString(tag.Key) == name {
			return aws.ToString(tag.Value), nil
		}
	}
	return "", nil
}

// First returns the first bytes of an object, at most n. An empty object has none.
func (s *Store) First(ctx context.Context, key string, n int64) ([]byte, error) {
	return s.Read(ctx, key, 0, n)
}

// Read returns at most n bytes of an object from a place in it. Behind the end there are none.
func (s *Store) Read(ctx context.Context, key string, from, n int64) (part []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	got, err := o.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: o.bucket, Key: &key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", from, from+n-1)),
	})
	if hasCode(err, "InvalidRange") {
		return nil, nil
	}
	if err != nil {
		return nil, failed("read an object", err)
	}
	defer func() { err = errors.Join(err, got.Body.Close()) }()
	if part, err = io.ReadAll(io.LimitReader(got.Body, n)); err != nil {
		return nil, failed("read an object", err)
	}
	return part, nil
}

// Address returns the address of an object for other services of AWS, such as s3://bucket/key, and the
// name of the bucket.
func (s *Store) Address(ctx context.Context, key string) (address, bucket string, err error) {
	o, err := s.open(ctx)
	if err != nil {
		return "", "", err
	}
	return "s3://" + *o.bucket + "/" + key, *o.bucket, nil
}

// Delete removes an object for good: each version and each delete marker. A missing object is no error.
// The versions are listed, because S3 refuses a look at a missing object as it refuses a role without
// the permission.
func (s *Store) Delete(ctx context.Context, key string) error { return s.remove(ctx, key, every) }

// DeleteEarlier removes for good the versions of an object before the latest.
func (s *Store) DeleteEarlier(ctx context.Context, key string) error {
	return s.remove(ctx, key, isEarlier)
}

// every and isEarlier choose versions.
func every(types.ObjectVersion) bool       { return true }
func isEarlier(v types.ObjectVersion) bool { return !aws.ToBool(v.IsLatest) }

// remove removes the chosen versions of an object, and its delete markers. A missing version is no error. The
// S3 server of one machine refuses a version that another call has just removed, so the versions are listed
// once more.
func (s *Store) remove(ctx context.Context, key string, chosen func(types.ObjectVersion) bool) error {
	if key == "" {
		return errUnnamedObject
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	if err = o.remove(ctx, key, chosen); hasCode(err, "InvalidArgument") {
		err = o.remove(ctx, key, chosen)
	}
	return err
}

// remove does Store.remove once.
func (o *opened) remove(ctx context.Context, key string, chosen func(types.ObjectVersion) bool) error {
	versions, err := o.versions(ctx, key, chosen)
	if err != nil {
		return failedRemoval("list the versions of an object", err)
	}
	for _, version := range versions {
		_, err := o.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: o.bucket, Key: &key, VersionId: version})
		if err := unlessAbsent(failedRemoval("delete an object", err)); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether there is an object, also if the role may not read it. The role must be allowed to list
// versions.
func (s *Store) Has(ctx context.Context, key string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	o, err := s.open(ctx)
	if err != nil {
		return false, err
	}
	page, err := o.client.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: o.bucket, Prefix: &key})
	if err != nil {
		return false, failedRemoval("list the versions of an object", err)
	}
	return slices.ContainsFunc(page.Versions, func(v types.ObjectVersion) bool {
		return aws.ToString(v.Key) == key && aws.ToBool(v.IsLatest)
	}), nil
}

// versions returns the ids of the chosen versions and of the delete markers of a key. The key may begin other
// keys.
func (o *opened) versions(ctx context.Context, key string, chosen func(types.ObjectVersion) bool) (ids []*string, err error) {
	pages := s3.NewListObjectVersionsPaginator(o.client, &s3.ListObjectVersionsInput{Bucket: o.bucket, Prefix: &key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range page.Versions {
			if aws.ToString(v.Key) == key && chosen(v) {
				ids = append(ids, v.VersionId)
			}
		}
		for _, m := range page.DeleteMarkers {
			if aws.ToString(m.Key) == key {
				ids = append(ids, m.VersionId)
			}
		}
	}
	return ids, nil
}

// Get returns the request that downloads an object. A browser saves the bytes under the name, and
// shows none of them.
func (s *Store) Get(ctx context.Context, d Download, life time.Duration) (Request, error) {
	o, err := s.open(ctx)
	if err != nil {
		return Request{}, err
	}
	signed, err := o.sign.PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: o.bucket, Key: &d.Key,
		ResponseContentType: aws.String(safeType(d.Type)), ResponseContentDisposition: aws.String(attachment(d.Name)),
	}, expires(life))
	if err != nil {
		return Request{}, failed("sign a download", err)
	}
	return request(signed), nil
}

// safeType returns the type of a picture, a sound, a film or a PDF, and binary for all others. An
// SVG is no picture, since it can have scripts.
func safeType(declared string) string {
	name, _, err := mime.ParseMediaType(declared)
	family, kind, _ := strings.Cut(name, "/")
	switch {
	case err != nil || strings.HasSuffix(kind, "xml"):
		return binary
	case family == "image", family == "audio", family == "video", name == "application/pdf":
		return name
	}
	return binary
}

// attachment returns the Content-Disposition of a name: plain ASCII for old clients, and the whole
// name encoded (RFC 6266).
func attachment(name string) string {
	return `attachment; filename="` + strings.Map(plain, name) + `"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// plain returns an underscore for a character that a quoted ASCII name must not have.
func plain(r rune) rune {
	if r < ' ' || r > '~' || strings.ContainsRune(`"\/%;`, r) {
		return '_'
	}
	return r
}
