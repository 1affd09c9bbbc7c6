package sessionfile

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/scan"
	"lectern/shared/svg"
)

const (
	// seen is the number of first bytes by which the type of a file is known.
	seen = 64 << 10
	// maxSVG is the length of the longest SVG. An SVG is read as a whole.
	maxSVG = 2 << 20
)

// errMissing is the 400 of a file whose bytes have not come. The client may send them.
func errMissing() error {
	return apierr.Invalid("", "The bytes have not been uploaded. Send them to the address of the upload, and complete the file again.")
}

// accept inspects the uploaded bytes of a file, and returns the verdict of the scanner on the bytes. It
// returns the errors of upload.Store.Scan too.
func (st *Store) accept(ctx context.Context, c *auth.Caller, b *Bytes) (verdict scan.Verdict, refused bool, err error) {
	if refused, err = st.inspect(ctx, b); err != nil {
		return "", refused, err
	}
	verdict, err = st.Scan(ctx, c, &b.Upload)
	return verdict, verdict == scan.Infected || verdict == scan.Unread, err
}

// inspect checks the uploaded bytes of a file. It returns a 400 for missing bytes, and for bytes that
// are not what the client has declared; refused reports that the bytes must be removed.
func (st *Store) inspect(ctx context.Context, b *Bytes) (refused bool, err error) {
	object, err := st.Blobs.Head(ctx, b.Object)
	if errors.Is(err, blob.ErrAbsent) {
		return false, errMissing()
	}
	if err != nil {
		return false, err
	}
	if object.Encoding != "" {
		return true, apierr.Invalid("", "The bytes were sent with a Content-Encoding. Send the file as it is.")
	}
	if object.Size != b.Size {
		return true, apierr.Invalid("size_bytes", "The file has %d bytes, and size_bytes was %d.", object.Size, b.Size)
	}
	first, err := st.Blobs.First(ctx, b.Object, firstBytes(b.Type))
	if errors.Is(err, blob.ErrAbsent) { // Another request has refused and removed the bytes.
		return false, errMissing()
	}
	if err != nil {
		return false, err
	}
	err = checkBytes(b.Type, first)
	return err != nil, err
}

// errLargeSVG returns the 400 of an SVG that is too large, by the property that tells of it.
func errLargeSVG(name string) error {
	return apierr.Invalid(name, "An SVG must not be larger than %d bytes.", maxSVG)
}

// firstBytes returns how many bytes of a file of a type are read.
func firstBytes(kind string) int64 {
	if kind == svgType {
		return maxSVG
	}
	return seen
}

// detect returns the type of bytes by the first of them.
func detect(first []byte) *mimetype.MIME {
	mimetype.SetLimit(seen) // For all of the process; the library looks at 3 KB by itself.
	return mimetype.Detect(first)
}

// checkBytes returns the 400 of bytes that are not of the declared type, or are of a type that is
// refused.
func checkBytes(declared string, first []byte) error {
	if declared == svgType {
		return checkSVG(first)
	}
	found := detect(first)
	if is := slices.IndexFunc(lineage(found), denied); is >= 0 {
		return apierr.Invalid("content_type", "The bytes are of the type %s, which is refused.", lineage(found)[is])
	}
	// Bytes that a browser takes for HTML may be found as another type, for example as a PDF that begins later.
	if !found.Is(svgType) && strings.HasPrefix(http.DetectContentType(first), "text/html") {
		return apierr.Invalid("content_type", "The bytes begin as HTML, which is refused.")
	}
	if !fits(declared, found) {
		return apierr.Invalid("content_type", "The bytes are of the type %s, and not of the type %s.", plainType(found.String()), declared)
	}
	if found.Is(svgType) {
		return checkSVG(first)
	}
	return nil
}

// fits reports whether bytes of a found type may be of the declared type. The types form a tree: a
// found type is of all types above it, and a document in a container that is not known to its end is
// found as the container.
func fits(declared string, found *mimetype.MIME) bool {
	known := mimetype.Lookup(declared)
	switch {
	case declared == unknownType:
		return true
	case known == nil:
		return fitsFamily(declared, found)
	}
	if found.Is(declared) || slices.Contains(lineage(found), plainType(known.String())) {
		return true
	}
	return found.Parent() != nil && slices.Contains(lineage(known), plainType(found.String())) || areSiblings(known, found)
}

// areSiblings reports whether files of two types have one form, and differ by a mark at the beginning alone: sound, or
// a picture, in the container of MP4, such as audio/mp4 and audio/x-m4a. A table of text is found by what separates
// its cells.
func areSiblings(a, b *mimetype.MIME) bool {
	const container, table = "video/mp4", "text/plain"
	tables := []string{"text/csv", "text/tab-separated-values"}
	one, other := plainType(a.String()), plainType(b.String())
	switch {
	case a.Parent() == nil || b.Parent() == nil || !b.Parent().Is(a.Parent().String()):
		return false
	case a.Parent().Is(container):
		return family(one) == family(other)
	}
	return a.Parent().Is(table) && slices.Contains(tables, one) && slices.Contains(tables, other)
}

// fitsFamily reports whether bytes may be of a type that is not known: bytes of no known form, those of
// the same family, and any bytes for the family application.
func fitsFamily(declared string, found *mimetype.MIME) bool {
	return family(declared) == "application" || found.Parent() == nil ||
		slices.ContainsFunc(lineage(found), func(kind string) bool { return family(kind) == family(declared) })
}

// family returns the part of a type before the slash.
func family(kind string) string {
	name, _, _ := strings.Cut(kind, "/")
	return name
}

// lineage returns a type and all types above it but the root, which all bytes are of.
func lineage(m *mimetype.MIME) (all []string) {
	for ; m != nil && m.Parent() != nil; m = m.Parent() {
		all = append(all, plainType(m.String()))
	}
	return all
}

// checkSVG returns the 400 of an SVG that is more than a picture.
func checkSVG(text []byte) error {
	what, err := svg.Active(text)
	switch {
	case err != nil:
		return apierr.Invalid("content_type", "The bytes cannot be read as an SVG.")
	case what != "":
		return apierr.Invalid("content_type", "The SVG has %s, which is refused: it must be a picture alone.", what)
	}
	return nil
}
