package stack

import (
	"context"
	"path/filepath"

	"lectern/localstack/local/objects"
	"lectern/shared/blob"
)

// bucketName returns the name of a region's bucket.
func bucketName(region string) string { return "lectern-" + region + "-files" }

// openBucket starts the server of S3. The server of a region in memory starts at the first call of a
// bucket, since most tests need none.
func (s *Stack) openBucket(ctx context.Context) (err error) {
	c := s.config
	name, awsRegion := bucketName(c.Region), Regions[c.Region]
	if c.Dir == "" {
		if s.door, err = objects.Open(name, awsRegion); err == nil {
			s.Bucket = s.door.Bucket()
		}
		return err
	}
	if s.server, err = objects.Start(ctx, filepath.Join(c.Dir, "objects"), awsRegion); err != nil {
		return err
	}
	s.Bucket = s.server.Bucket(name)
	return s.server.CreateBucket(ctx, name)
}

// closeBucket ends what openBucket started.
func (s *Stack) closeBucket() error {
	switch {
	case s.door != nil:
		return s.door.Close()
	case s.server != nil:
		return s.server.Stop()
	}
	return nil
}

// bucketOf returns the bucket as a function calls it. With a recorder, the function has an address of
// its own there. Calls past the recorder are missing in its list, which a check compares.
func (s *Stack) bucketOf(name string) objects.Bucket {
	if s.record == nil {
		return s.Bucket
	}
	address, err := s.record.Bucket(name, s.Bucket.URL)
	if err != nil {
		s.config.Log.Error("no recorder before the bucket", "function", name, "error", err)
		return s.Bucket
	}
	return s.Bucket.At(address)
}

// bucketFor is the bucket of a function.
type bucketFor struct {
	stack *Stack
	name  string
}

// find returns the place of the bucket.
func (b bucketFor) find(context.Context) (blob.Place, error) {
	return b.stack.bucketOf(b.name).Place(), nil
}

// BlobsOf returns the store of bytes of a function in this process, the same for each call: a recorder opens an address
// for each store.
func (s *Stack) BlobsOf(name string) *blob.Store {
	made, _ := s.blobs.LoadOrStore(name, &blob.Store{Find: bucketFor{s, name}.find})
	return made.(*blob.Store)
}
