package sessionfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
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
	first, err := st.Blobs.First(ctx, b.Object, firstBytes(b))
	if err != nil {
		return false, err
	}
	err = checkBytes(b.Type, first)
	return err != nil, err
}

// firstBytes returns how many bytes of a file are read.
func firstBytes(b *Bytes) int64 {
	if b.Type == svg {
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
	// Bytes that a browser takes for HTML may be found as another type, for example as a PDF that begins later.
	if !found.Is(svg) && strings.HasPrefix(http.DetectContentType(first), "text/html") {
		return apierr.Invalid("content_type", "The bytes begin as HTML, which is refused.")
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
	decoder, p := xml.NewDecoder(bytes.NewReader(text)), &picture{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && p.root == "svg" {
			return nil
		}
		if err != nil {
			return apierr.Invalid("content_type", "The bytes cannot be read as an SVG.")
		}
		if err := p.check(token); err != nil {
			return err
		}
	}
}

// picture is an SVG while its parts are read.
type picture struct {
	// root is the name of the first element.
	root string
	// style collects the text of the open style element. Comments can cut the text anywhere.
	style   strings.Builder
	inStyle bool
}

// check refuses a part of the SVG.
func (p *picture) check(token xml.Token) error {
	switch part := token.(type) {
	case xml.Directive:
		if strings.Contains(string(part), "[") {
			return errScript("declarations")
		}
	case xml.ProcInst:
		if part.Target != "xml" {
			return errScript("processing instructions")
		}
	case xml.CharData:
		if p.inStyle {
			p.style.Write(part)
		}
	case xml.EndElement:
		if p.inStyle && leadsOut(p.style.String()) {
			return errScript("an address")
		}
		p.inStyle = false
	case xml.StartElement:
		if p.inStyle {
			return errScript("an element in a style")
		}
		p.root, p.inStyle = cmp.Or(p.root, part.Name.Local), strings.EqualFold(part.Name.Local, "style")
		p.style.Reset()
		return checkElement(part)
	}
	return nil
}

// activeElements are the elements of an SVG that run, load or show something else, in lower case.
var activeElements = []string{
	"script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler", "listener", "animate", "set", "link",
}

// inside are the starts of addresses that lead to nothing outside the picture.
var inside = []string{"#", "data:image/png", "data:image/jpeg"}

// addresses are the attributes with an address, in lower case.
var addresses = []string{"href", "src", "base"}

// xhtml is the name space of the elements of HTML.
const xhtml = "http://www.w3.org/1999/xhtml"

// isInside reports whether an address in lower case leads to nothing outside the picture.
func isInside(address string) bool {
	return slices.ContainsFunc(inside, func(start string) bool { return strings.HasPrefix(address, start) })
}

// leadsOut reports whether a style loads something from outside the picture. A backslash can hide any word.
func leadsOut(style string) bool {
	style = strings.ToLower(style)
	for _, word := range []string{`\`, "@import", "image-set("} {
		if strings.Contains(style, word) {
			return true
		}
	}
	for _, address := range strings.Split(style, "url(")[1:] {
		if !isInside(strings.TrimLeft(address, " \t\r\n\f\"'")) {
			return true
		}
	}
	return false
}

// checkElement refuses an active element, a handler of events, and an address outside the picture.
func checkElement(e xml.StartElement) error {
	if name := strings.ToLower(e.Name.Local); slices.Contains(activeElements, name) {
		return errScript("the element " + name)
	}
	if e.Name.Space == xhtml {
		return errScript("HTML")
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		switch value := strings.ToLower(strings.TrimSpace(a.Value)); {
		case strings.HasPrefix(name, "on"):
			return errScript("the handler " + name)
		case slices.Contains(addresses, name) && !isInside(value):
			return errScript("an address")
		case a.Name.Space == "" && leadsOut(value): // The attributes of a picture have styles, those of editors do not.
			return errScript("an address")
		}
	}
	return nil
}
