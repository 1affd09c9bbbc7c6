// Package objects runs the local S3 server, versitygw, as a child process. The server checks
// signatures, signed headers, expiry, checksums and the smallest part of an upload as S3 does.
// Read objects.go, then bucket.go, reopen.go for uploads that a kill interrupted, and door.go for a server that
// starts when it is needed.
package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lectern/localstack/local/child"
	"lectern/shared/table"
)

// EnvBinary is the variable with a versitygw binary to use in place of the built one.
const EnvBinary = "VERSITYGW_BIN"

// version is the version of tools/versitygw, which the Makefile builds.
const version = "v1.8.0"

const (
	host = "127.0.0.1"
	// accessKey is the access key of every client on this machine. The secret key differs for
	// each server.
	accessKey = "local"
	// startTime limits a start, which may share the machine with a build.
	startTime = 30 * time.Second
	// stopTime is the time that the server has to stop before a kill.
	stopTime = 10 * time.Second
	// portTries is the number of free ports to try: another process may take a port between
	// the choice and the start.
	portTries = 5
	// poll is the time between two calls that look whether the server answers.
	poll = 10 * time.Millisecond
	// callTime limits such a call.
	callTime = time.Second
	// corsSeconds is the time for which a browser remembers that it may send a request.
	corsSeconds = 3600
)

// Server is a running server.
type Server struct {
	// URL is the address, and AWSRegion the AWS region of signatures.
	URL, AWSRegion string
	// AccessKey and SecretKey are the only key pair that the server accepts.
	AccessKey, SecretKey string

	child  *child.Process
	client *s3.Client
}

// Start runs a server on a folder and waits until the server accepts its new key pair. awsRegion is
// the AWS region of signatures. On Linux, the server dies with this process.
func Start(ctx context.Context, dir, awsRegion string) (*Server, error) {
	return start(ctx, dir, awsRegion, rand.Text())
}

// start does Start with a secret key.
func start(ctx context.Context, dir, awsRegion, secretKey string) (*Server, error) {
	binary, err := find()
	if err != nil {
		return nil, err
	}
	// The server changes its working folder.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("objects: find the folder: %w", err)
	}
	buckets, versions := filepath.Join(dir, "buckets"), filepath.Join(dir, "versions")
	for _, folder := range []string{buckets, versions} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, fmt.Errorf("objects: make the folder: %w", err)
		}
	}
	open, err := reopenUploads(buckets)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for range portTries {
		var port int
		if port, err = child.FreePort(ctx); err != nil {
			return nil, err
		}
		s := newServer(net.JoinHostPort(host, strconv.Itoa(port)), awsRegion, secretKey)
		if err = s.run(ctx, binary, "posix", "--versioning-dir", versions, buckets); err == nil {
			if err = s.removeParts(ctx, open); err != nil {
				return nil, errors.Join(err, s.Stop())
			}
			return s, nil
		}
		if ctx.Err() != nil {
			return s, err
		}
	}
	return nil, fmt.Errorf("objects: start %s: %w", binary, err)
}

// newServer returns a server for an address.
func newServer(address, awsRegion, secretKey string) *Server {
	s := &Server{URL: "http://" + address, AWSRegion: awsRegion, AccessKey: accessKey, SecretKey: secretKey}
	s.client = s3.New(s3.Options{
		BaseEndpoint: &s.URL, Region: awsRegion, UsePathStyle: true, HTTPClient: table.HTTPClient(nil), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
	})
	return s
}

// run starts the process and waits until a call with the key pair succeeds. Another process on the
// port refuses the key pair.
func (s *Server) run(ctx context.Context, binary string, backend ...string) (err error) {
	args := append([]string{"--quiet", "--region", s.AWSRegion, "--port", s.URL[len("http://"):]}, backend...)
	cmd := exec.Command(binary, args...) //nolint:gosec,noctx // the binary is the project's own; the context is the start's
	output := child.NewOutput("")
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	if s.child, err = child.Start(cmd); err != nil {
		return fmt.Errorf("objects: %w", err)
	}
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.child.Ended():
			return fmt.Errorf("objects: the server ended at once (%s): %s", s.child.State(), output)
		case <-ctx.Done():
			return fmt.Errorf("objects: %w; the server said: %s", errors.Join(err, s.child.Kill()), output)
		case <-time.After(poll):
		}
	}
}

// answers makes a call with the key pair. Another process on the port may never answer.
func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := s.client.ListBuckets(ctx, &s3.ListBucketsInput{})
	return err
}

// CreateBucket creates a missing bucket that keeps versions and answers pages of browsers, as the
// deployed bucket does (infra/bucket.go).
func (s *Server) CreateBucket(ctx context.Context, name string) error {
	var exists *types.BucketAlreadyOwnedByYou // An earlier start created the bucket.
	if _, err := s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("objects: create the bucket %s: %w", name, err)
	}
	_, err := s.client.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &name, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		return fmt.Errorf("objects: keep versions in %s: %w", name, err)
	}
	_, err = s.client.PutBucketCors(ctx, &s3.PutBucketCorsInput{Bucket: &name, CORSConfiguration: &types.CORSConfiguration{
		CORSRules: []types.CORSRule{{
			AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPut}, AllowedOrigins: []string{"*"},
			AllowedHeaders: []string{"*"}, ExposeHeaders: []string{"ETag"}, MaxAgeSeconds: aws.Int32(corsSeconds),
		}},
	}})
	if err != nil {
		return fmt.Errorf("objects: let pages of browsers use %s: %w", name, err)
	}
	return nil
}

// PID returns the process id.
func (s *Server) PID() int { return s.child.PID() }

// Stop ends the server and waits for the end. A second call does nothing.
func (s *Server) Stop() error { return s.child.Stop(stopTime) }

// Kill ends the server like kill -9 and waits for the end.
func (s *Server) Kill() error { return s.child.Kill() }

// find returns the versitygw binary: VERSITYGW_BIN, or the built one.
func find() (string, error) {
	if binary := os.Getenv(EnvBinary); binary != "" {
		return binary, nil
	}
	if binary, ok := child.Find(filepath.Join(".local", "bin", "versitygw-"+version)); ok {
		return binary, nil
	}
	return "", fmt.Errorf("objects: no S3 server: build one with `make build`, or set %s to a versitygw binary", EnvBinary)
}
