package sessionfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"lectern/shared/apierr"
	"lectern/shared/blob"
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
	if object.Size != b.Size {
		return true, apierr.Invalid("size_bytes", "The file has %d bytes, and size_bytes was %d.", object.Size, b.Size)
	}
	if b.Type == svg && b.Size > maxSVG {
		return true, apierr.Invalid("size_bytes", "An SVG must not be larger than %d bytes.", maxSVG)
	}
	first, err := st.Blobs.First(ctx, b.Object, firstBytes(b.Type))
	if err != nil {
		return false, err
	}
	err = checkBytes(b.Type, first)
	return err != nil, err
}

// firstBytes returns how many bytes of a file of a type are read.
func firstBytes(kind string) int64 {
	if kind == svg {
		return maxSVG
	}
	return seen
}

// checkBytes returns the 400 of bytes that are not of the declared type, or are of a type that is
// refused.
func checkBytes(declared string, first []byte) error {
	found := mimetype.Detect(first)
	if is := slices.IndexFunc(lineage(found), denied); is >= 0 {
		return apierr.Invalid("content_type", "The bytes are of the type %s, which is refused.", lineage(found)[is])
	}
	if !fits(declared, found) {
		return apierr.Invalid("content_type", "The bytes are of the type %s, and not of the type %s.", plainType(found.String()), declared)
	}
	if found.Is(svg) || declared == svg {
		return checkSVG(first)
	}
	return nil
}

// fits reports whether bytes of a found type may be of the declared type. The types form a tree: a
// found type is of all types above it, and a document in a container that is not known to its end is
// found as the container. Bytes of no known form may be of a type that is not known.
func fits(declared string, found *mimetype.MIME) bool {
	known := mimetype.Lookup(declared)
	if known == nil || declared == unknownType {
		return true
	}
	if found.Is(declared) || slices.Contains(lineage(found), plainType(known.String())) {
		return true
	}
	return found.Parent() != nil && slices.Contains(lineage(known), plainType(found.String()))
}

// lineage returns a type and all types above it but the root, which all bytes are of.
func lineage(m *mimetype.MIME) (all []string) {
	for ; m != nil && m.Parent() != nil; m = m.Parent() {
		all = append(all, plainType(m.String()))
	}
	return all
}

// errScript is the 400 of an SVG that can do something.
func errScript(what string) error {
	return apierr.Invalid("content_type", "The SVG has %s, which is refused: it must be a picture alone.", what)
}

// checkSVG refuses an SVG with scripts, handlers, foreign content, entities, or addresses of others.
func checkSVG(text []byte) error {
	decoder, root := xml.NewDecoder(bytes.NewReader(text)), ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && root == "svg" {
			return nil
		}
		if err != nil {
			return apierr.Invalid("content_type", "The bytes cannot be read as an SVG.")
		}
		switch part := token.(type) {
		case xml.Directive:
			if strings.Contains(string(part), "[") {
				return errScript("declarations")
			}
		case xml.ProcInst:
			if part.Target != "xml" {
				return errScript("processing instructions")
			}
		case xml.StartElement:
			root = cmp.Or(root, part.Name.Local)
			if err := checkElement(part); err != nil {
				return err
			}
		}
	}
}

// activeElements are the elements of an SVG that run, load or show something else, in lower case.
var activeElements = []string{
	"script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler", "listener", "animate", "set", "link",
}

// inside are the starts of addresses that lead to nothing outside the picture.
var inside = []string{"#", "data:image/png", "data:image/jpeg"}

// checkElement refuses an active element, a handler of events, and an address outside the picture.
func checkElement(e xml.StartElement) error {
	if name := strings.ToLower(e.Name.Local); slices.Contains(activeElements, name) {
		return errScript("the element " + name)
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		switch value := strings.ToLower(strings.TrimSpace(a.Value)); {
		case strings.HasPrefix(name, "on"):
			return errScript("the handler " + name)
		case name == "href" && !slices.ContainsFunc(inside, func(start string) bool { return strings.HasPrefix(value, start) }):
			return errScript("an address")
		}
	}
	return nil
}
