package sessionfile

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lectern/shared/apierr"
	"lectern/shared/blob"
	"lectern/shared/session"
	"lectern/shared/table"
)

const (
	// purpose is the purpose of the signatures of links.
	purpose = "file link"
	// idBytes is the length of an id in a link, and sumBytes that of the signature.
	idBytes, sumBytes = 16, 16
	// downloadTime is the life of the address that a link leads to.
	downloadTime = 5 * time.Minute
)

// where names the bytes of a file.
type where struct {
	session.Place
	session, bytes string
}

// link returns the last segment of the address of the bytes. The segment has the place and a
// signature, so a link that the service has not made costs no read.
func (st *Store) link(ctx context.Context, at where) (string, error) {
	text := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(at.Org)), uint64(at.Event)) //nolint:gosec // ids are above 0
	for _, id := range []string{at.session, at.bytes} {
		parsed, err := uuid.Parse(id)
		if err != nil {
			return "", fmt.Errorf("sessionfile: link to %s: %w", id, err)
		}
		text = append(text, parsed[:]...)
	}
	sum, err := st.Keys.Sum(ctx, purpose, text)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(text, sum[:sumBytes]...)), nil
}

// open returns what a link names; 404 for a link that the service has not made.
func (st *Store) open(ctx context.Context, link string) (at where, err error) {
	text, err := base64.RawURLEncoding.DecodeString(link)
	if err != nil || len(text) < 2*idBytes+sumBytes {
		return at, Kind.NotFound()
	}
	text, sum := text[:len(text)-sumBytes], text[len(text)-sumBytes:]
	want, err := st.Keys.Sum(ctx, purpose, text)
	if err != nil {
		return at, err
	}
	if !hmac.Equal(sum, want[:sumBytes]) {
		return at, Kind.NotFound()
	}
	org, n := binary.Uvarint(text)
	event, m := binary.Uvarint(text[n:])
	ids := text[n+m:]
	at.Place = session.Of(int64(org), int64(event)) //nolint:gosec // link has signed both
	at.session, at.bytes = uuid.UUID(ids[:idBytes]).String(), uuid.UUID(ids[idBytes:]).String()
	return at, nil
}

// Download returns the address of the bytes that a link names, for five minutes; 404 for bytes that no
// file of a session has.
func (st *Store) Download(ctx context.Context, link string) (string, error) {
	at, err := st.open(ctx, link)
	if err != nil {
		return "", err
	}
	got, err := st.Table.GetMany(ctx, []table.Key{at.Body(at.session)})
	if err != nil {
		return "", err
	}
	body, err := at.Live(got, at.session)
	if apierr.IsNotFound(err) {
		return "", Kind.NotFound()
	}
	if err != nil {
		return "", err
	}
	f := body.FileOf(at.bytes)
	if f == nil {
		return "", Kind.NotFound()
	}
	download := blob.Download{Key: object(at.Place, at.session, at.bytes), Name: f.Filename, Type: f.MIMEType}
	request, err := st.Blobs.Get(ctx, download, downloadTime)
	return request.URL, err
}
