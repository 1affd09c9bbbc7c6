// Package svg finds what an SVG has beside a picture: scripts, handlers, foreign content and addresses of
// others. Read Active.
package svg

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrUnreadable is the error for bytes without a readable SVG.
var ErrUnreadable = errors.New("svg: the bytes are no SVG")

// Active returns what an SVG has beside a picture, in words: scripts, handlers, foreign content,
// declarations, or addresses of others. It is empty for a picture alone. Active returns ErrUnreadable
// for other bytes. Its time grows with the length of the text alone.
func Active(text []byte) (what string, err error) {
	text, err = unicodeOf(text)
	if err != nil {
		return "", err
	}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	decoder.CharsetReader = func(_ string, text io.Reader) (io.Reader, error) { return text, nil }
	var r reader
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && r.root == "svg" {
			return "", nil
		}
		if err != nil {
			return "", ErrUnreadable
		}
		if what := r.read(token); what != "" {
			return what, nil
		}
	}
}

// encoding finds the encoding in the declaration of an XML.
var encoding = regexp.MustCompile(`encoding\s*=\s*["']([^"']*)["']`)

// unicodeOf returns the text of an SVG in UTF-8, without the mark of the byte order. It returns
// ErrUnreadable for control characters, and for encodings with a second reading of the same bytes.
func unicodeOf(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	declaration := ""
	if head, _, found := bytes.Cut(text, []byte("?>")); found && bytes.HasPrefix(head, []byte("<?xml")) {
		declaration = strings.ToLower(string(head))
	}
	if strings.Contains(declaration, "encoding") {
		named := encoding.FindStringSubmatch(declaration)
		switch {
		case named == nil:
			return nil, ErrUnreadable
		case named[1] == "iso-8859-1":
			text = fromLatin1(text)
		case !slices.Contains([]string{"utf-8", "us-ascii"}, named[1]):
			return nil, ErrUnreadable
		}
	}
	if !utf8.Valid(text) || bytes.ContainsFunc(text, isControl) {
		return nil, ErrUnreadable
	}
	return text, nil
}

// fromLatin1 returns a text of ISO 8859-1 in UTF-8.
func fromLatin1(text []byte) []byte {
	all := make([]rune, len(text))
	for i, b := range text {
		all[i] = rune(b)
	}
	return []byte(string(all))
}

// isControl reports whether XML has no such character.
func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

// isDoctype matches a document type without an address, or with one of the W3C.
var isDoctype = regexp.MustCompile(
	`^DOCTYPE\s+svg(\s+PUBLIC\s+["']-//W3C//DTD SVG [^"'<>]*["']\s+["']https?://www\.w3\.org/[^"'<>]*["'])?\s*$`)

// instructions are harmless processing instructions.
var instructions = []string{"xml", "xpacket", "plantuml", "plantuml-src"}

// reader reads the tokens of an SVG.
type reader struct {
	// root is the name of the first element, and depth the number of open elements.
	root  string
	depth int
	// inStyle reports whether a style sheet is open. style has the text of the open style sheet.
	inStyle bool
	style   strings.Builder
}

// read returns what a token has beside a picture.
func (r *reader) read(token xml.Token) string {
	switch part := token.(type) {
	case xml.Directive:
		if !isDoctype.Match(part) {
			return "declarations"
		}
	case xml.ProcInst:
		if !slices.Contains(instructions, part.Target) {
			return "processing instructions"
		}
	case xml.StartElement:
		return r.begin(part)
	case xml.CharData:
		switch {
		case r.depth == 0 && len(bytes.TrimSpace(part)) > 0:
			return "text beside the picture"
		case r.inStyle:
			r.style.Write(part)
		}
	case xml.EndElement:
		return r.end()
	}
	return ""
}

// begin begins an element.
func (r *reader) begin(e xml.StartElement) string {
	switch {
	case r.inStyle:
		return "an element in a style"
	case r.depth == 0 && r.root != "":
		return "elements after the picture"
	}
	r.depth++
	r.root, r.inStyle = cmp.Or(r.root, e.Name.Local), strings.EqualFold(e.Name.Local, "style")
	return element(e)
}

// end ends an element. A style sheet is read at the end, since comments can part the text.
func (r *reader) end() string {
	r.depth--
	if !r.inStyle {
		return ""
	}
	text := r.style.String()
	r.inStyle = false
	r.style.Reset()
	return style(text)
}

// activeElements run, load or show something else, in lower case.
var activeElements = []string{
	"script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler", "listener", "animate", "set", "link",
}

// maxSpace is the length of the longest name space. Each element costs a look at the whole name space.
const maxSpace = 256

// isHandler matches the attributes for events. Editors have only_selected.
var isHandler = regexp.MustCompile(`^on[a-z]+$`)

// element returns what an element has beside a picture.
func element(e xml.StartElement) string {
	name := strings.ToLower(e.Name.Local)
	switch {
	case slices.Contains(activeElements, name):
		return "the element " + name
	case len(e.Name.Space) > maxSpace:
		return "a name space that is too long"
	case strings.Contains(strings.ToLower(e.Name.Space), "xhtml"):
		return "elements of HTML"
	}
	for _, a := range e.Attr {
		if what := attribute(a); what != "" {
			return what
		}
	}
	return ""
}

// An address of others, in words.
const address = "an address"

// attribute returns what an attribute has beside a picture. Attributes of editors, in name spaces of their
// own, have no styles.
func attribute(a xml.Attr) string {
	name, value := strings.ToLower(a.Name.Local), strings.ToLower(a.Value)
	switch {
	case isHandler.MatchString(name):
		return "the handler " + name
	case name == "href" && !inside(value), name == "src", name == "base":
		return address
	case name == "style":
		return style(value)
	case a.Name.Space == "" && !strings.HasPrefix(name, "data-") && loads(value):
		return address
	}
	return ""
}

// style returns what a style has beside the looks of a picture.
func style(text string) string {
	text = strings.ToLower(text)
	if loads(text) || strings.Contains(withoutAddresses(text), "//") {
		return "a style that loads something"
	}
	return ""
}

// loads reports whether a value of a style loads something from outside the picture. A backslash can
// spell any other character.
func loads(text string) bool {
	return strings.Contains(text, "@import") || strings.Contains(text, "image-set(") || strings.Contains(text, `\`) || outside(text)
}

// starts begin addresses within the picture, and those of pictures and fonts.
var starts = []string{"#", "data:image/png", "data:image/jpeg", "data:font/", "data:application/font", "data:application/x-font"}

// before are the characters that may stand before an address in url().
const before = " \t\r\n\f\"'"

// inside reports whether an address leads to a part of the picture, or is a picture or a font.
func inside(address string) bool {
	address = strings.TrimLeft(address, before)
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(address, start) })
}

// url begins an address in a style.
const url = "url("

// outside reports whether a text has the address of something outside the picture.
func outside(text string) bool {
	for {
		_, rest, found := strings.Cut(text, url)
		if !found {
			return false
		}
		if !inside(rest) {
			return true
		}
		text = rest
	}
}

// withoutAddresses returns a style without what stands in url(). An address ends with a quote, a comment or a
// block, too: other text could hide behind a url( of a string or a comment.
func withoutAddresses(text string) string {
	var left strings.Builder
	for {
		kept, rest, found := strings.Cut(text, url)
		left.WriteString(kept)
		if !found {
			return left.String()
		}
		rest = strings.TrimLeft(rest, before)
		text = rest[len(rest):]
		if end := strings.IndexAny(rest, `)*{}"'`); end >= 0 {
			text = rest[end:]
		}
	}
}
