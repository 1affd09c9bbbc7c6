package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// The ends of names. A folder <upload>.<ETag of the object>.inprogress has the parts that versitygw joins. A file
// <upload>.<ETag>.reopened stands for such a folder from its renaming until it is known whether the object is there.
const joining, reopened = ".inprogress", ".reopened"

// interrupted is an upload whose parts versitygw was joining when it was killed.
type interrupted struct{ bucket, upload, etag, marker string }

// reopenUploads makes the interrupted uploads of a folder usable again. For the time of a join, versitygw renames
// the folder of an upload, and nothing names it back after a kill: the upload is missing for every call, and
// neither an abort nor a list finds the parts. No server may run on the folder.
func reopenUploads(buckets string) ([]interrupted, error) {
	folders, err := fs.Glob(os.DirFS(buckets), uploadFolders+joining)
	if err != nil {
		return nil, fmt.Errorf("objects: find interrupted uploads: %w", err)
	}
	for _, folder := range folders {
		name := strings.TrimSuffix(filepath.Join(buckets, folder), joining)
		upload, _, ok := strings.Cut(filepath.Base(name), ".")
		if !ok {
			continue // Another versitygw (EnvBinary) may name folders otherwise.
		}
		err := os.WriteFile(name+reopened, nil, 0o600)
		if err == nil {
			err = os.Rename(name+joining, filepath.Join(filepath.Dir(name), upload))
		}
		if err != nil {
			return nil, fmt.Errorf("objects: reopen an interrupted upload: %w", err)
		}
	}
	return markedUploads(buckets)
}

// uploadFolders are the folders of uploads in parts, by bucket and key.
const uploadFolders = "*/.sgwtmp/multipart/*/*"

// markedUploads returns the interrupted uploads that have a marker, also those of an earlier start that was killed.
func markedUploads(buckets string) (all []interrupted, err error) {
	markers, err := fs.Glob(os.DirFS(buckets), uploadFolders+reopened)
	if err != nil {
		return nil, fmt.Errorf("objects: find reopened uploads: %w", err)
	}
	for _, marker := range markers {
		bucket, _, _ := strings.Cut(marker, "/")
		upload, etag, _ := strings.Cut(strings.TrimSuffix(path.Base(marker), reopened), ".")
		all = append(all, interrupted{bucket, upload, etag, filepath.Join(buckets, marker)})
	}
	return all, nil
}

// removeParts ends the interrupted uploads whose object is there: versitygw was killed before it had removed all
// parts.
func (s *Server) removeParts(ctx context.Context, all []interrupted) error {
	for _, of := range all {
		open, err := openUploads(ctx, s.client, &s3.ListMultipartUploadsInput{Bucket: &of.bucket})
		if err != nil {
			return err
		}
		for _, u := range open {
			if *u.UploadId != of.upload {
				continue
			}
			if err := s.endJoined(ctx, &s3.AbortMultipartUploadInput{Bucket: &of.bucket, Key: u.Key, UploadId: u.UploadId}, of.etag); err != nil {
				return err
			}
		}
		if err := os.Remove(of.marker); err != nil {
			return fmt.Errorf("objects: forget an interrupted upload: %w", err)
		}
	}
	return nil
}

// endJoined ends an upload if its object is there.
func (s *Server) endJoined(ctx context.Context, upload *s3.AbortMultipartUploadInput, etag string) error {
	stored, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: upload.Bucket, Key: upload.Key})
	if missing := (*types.NotFound)(nil); errors.As(err, &missing) {
		return nil
	}
	if err == nil && strings.Trim(aws.ToString(stored.ETag), `"`) == etag {
		_, err = s.client.AbortMultipartUpload(ctx, upload)
	}
	if err != nil {
		return fmt.Errorf("objects: end an upload that is joined: %w", err)
	}
	return nil
}
