package recorder

import (
	"slices"
	"strings"
)

// objectActions has the IAM actions of the calls of S3 for an object, by method and
// subresource.
var objectActions = map[string]string{
	"GET": "GetObject", "GET versionId": "GetObjectVersion", "GET uploadId": "ListMultipartUploadParts", "GET tagging": "GetObjectTagging",
	"HEAD": "GetObject", "HEAD versionId": "GetObjectVersion",
	// The parts of an upload, its start and its end need the action of a whole object.
	"PUT": "PutObject", "PUT partNumber uploadId": "PutObject", "PUT tagging": "PutObjectTagging",
	"POST uploads": "PutObject", "POST uploadId": "PutObject",
	"DELETE": "DeleteObject", "DELETE versionId": "DeleteObjectVersion", "DELETE uploadId": "AbortMultipartUpload",
}

// listVersions is the only call for a whole bucket that a function may make.
const listVersions = "GET prefix versions"

// plain has the parameters that ask for no other action.
var plain = []string{"x-id", "max-parts", "part-number-marker", "key-marker", "version-id-marker"}

// Headers of S3 that ask for a further action.
const (
	headerTags = "X-Amz-Tagging"
	headerCopy = "X-Amz-Copy-Source"
)

// objects returns the permissions for a call of S3. The pattern is the text of the object's key
// up to the first slash, and a star. A list of versions has the pattern of its prefix; without a
// prefix it is unknown, because no function may list a whole bucket.
func objects(c sent) ([]Permission, error) {
	_, key, _ := strings.Cut(c.path, "/")
	call := c.objectCall()
	prefix := c.URL.Query().Get("prefix")
	if key == "" && call == listVersions && prefix != "" {
		return []Permission{c.permission("ListBucketVersions", pattern(prefix, "/"))}, nil
	}
	action := objectActions[call]
	// The source of a copy needs a permission too, and a copy ends at 5 GB.
	if action == "" || key == "" || c.Header.Get(headerCopy) != "" {
		return nil, c.unknown()
	}
	all := []Permission{c.permission(action, pattern(key, "/"))}
	if c.Header.Get(headerTags) != "" {
		all = append(all, c.permission("PutObjectTagging", pattern(key, "/")))
	}
	return all, nil
}

// objectCall returns the method of a call and the parameters that ask for an action, in order.
func (c sent) objectCall() string {
	call := []string{c.Method}
	for name := range c.URL.Query() {
		if !slices.Contains(plain, name) && !strings.HasPrefix(name, signedQuery) && !strings.HasPrefix(name, shownQuery) {
			call = append(call, name)
		}
	}
	slices.Sort(call[1:])
	return strings.Join(call, " ")
}
