package check

import (
	"fmt"
	"strconv"
	"strings"

	"lectern/shared/apierr"
)

// maxPath is how many bytes of a field's name an error repeats. No field of the
// service comes near it; what is longer is the client's own invention.
const maxPath = 1000

// path is where a value stands, such as people[2].email. It is linked to what it
// stands in and becomes text in an error alone: a text for every value would
// take the square of the body's size. The zero path is the whole body.
type path struct {
	parent *path
	key    string
	// place counts from 1 in an array; it is 0 for a property.
	place int
}

// in is the property key of the object at parent.
func in(parent *path, key string) path { return path{parent: parent, key: key} }

// item is the entry i of the array at parent.
func item(parent *path, i int) path { return path{parent: parent, place: i + 1} }

// String names the field as the client wrote it, cut at maxPath bytes.
func (p path) String() string {
	text := string(p.append(nil))
	if len(text) <= maxPath {
		return text
	}
	return strings.ToValidUTF8(text[:maxPath], "") + "…"
}

func (p path) append(text []byte) []byte {
	if p.parent != nil {
		text = p.parent.append(text)
	}
	if p.place > 0 {
		text = strconv.AppendInt(append(text, '['), int64(p.place-1), 10)
		return append(text, ']')
	}
	if len(text) > 0 {
		text = append(text, '.')
	}
	return append(text, p.key...)
}

// refuse is the 400 for what stands at a path. Its sentence begins with the
// field's name.
func refuse(at path, format string, args ...any) *apierr.Error {
	field := at.String()
	subject := field
	if subject == "" {
		subject = "The request body"
	}
	return apierr.Invalid(field, "%s %s", subject, fmt.Sprintf(format, args...))
}
