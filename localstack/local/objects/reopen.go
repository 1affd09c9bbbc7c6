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

// joining is the end of the name of a folder whose parts versitygw joins: <upload>.<ETag of the object>.inprogress.
const joining = ".inprogress"

// interrupted has, by bucket and id, the ETags of the objects of uploads whose parts versitygw was joining when
// it was killed.
type interrupted map[string]map[string]string

// reopenUploads makes the interrupted uploads of a folder usable again. For the time of a join, versitygw renames
// the folder of an upload, and nothing names it back after a kill: the upload is missing for every call, and
// neither an abort nor a list finds the parts. No server may run on the folder.
func reopenUploads(buckets string) (interrupted, error) {
	folders, err := fs.Glob(os.DirFS(buckets), "*/.sgwtmp/multipart/*/*"+joining)
	if err != nil {
		return nil, fmt.Errorf("objects: find interrupted uploads: %w", err)
	}
	all := interrupted{}
	for _, folder := range folders {
		parent, name := path.Split(folder)
		upload, etag, ok := strings.Cut(strings.TrimSuffix(name, joining), ".")
		if !ok {
			continue // Another versitygw (EnvBinary) may name folders otherwise.
		}
		if err := os.Rename(filepath.Join(buckets, folder), filepath.Join(buckets, parent, upload)); err != nil {
			return nil, fmt.Errorf("objects: reopen an interrupted upload: %w", err)
		}
		bucket, _, _ := strings.Cut(folder, "/")
		if all[bucket] == nil {
			all[bucket] = map[string]string{}
		}
		all[bucket][upload] = etag
	}
	return all, nil
}

// removeParts ends the interrupted uploads whose object is there: versitygw was killed before it had removed all
// parts.
func (s *Server) removeParts(ctx context.Context, all interrupted) error {
	for bucket, etags := range all {
		pages := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &bucket})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return fmt.Errorf("objects: list the uploads in parts: %w", err)
			}
			for _, u := range page.Uploads {
				etag, ok := etags[*u.UploadId]
				if !ok {
					continue
				}
				if err := s.endJoined(ctx, &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: u.Key, UploadId: u.UploadId}, etag); err != nil {
					return err
				}
			}
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
