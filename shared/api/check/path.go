package check

import (
	"fmt"
	"strconv"
	"strings"

	"lectern/shared/apierr"
)

// maxPath is the largest number of bytes of a path in an error. All paths of the service are
// shorter.
const maxPath = 1000

// path is the position of a value in the body, for example people[2].email. A path links to the
// path of its parent. It becomes text only in errors: a text for every value would take memory
// that grows with the square of the body. The zero path is the whole body.
type path struct {
	parent *path
	key    string
	// position counts from 1 in an array; 0 for a property.
	position int
}

// in returns the path of a property of the object at parent.
func in(parent *path, key string) path { return path{parent: parent, key: key} }

// item returns the path of the entry i of the array at parent.
func item(parent *path, i int) path { return path{parent: parent, position: i + 1} }

// String returns the path as the client wrote it, cut at maxPath bytes.
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
	if p.position > 0 {
		text = strconv.AppendInt(append(text, '['), int64(p.position-1), 10)
		return append(text, ']')
	}
	if len(text) > 0 {
		text = append(text, '.')
	}
	return append(text, p.key...)
}

// refuse returns the 400 for the value at a path. The message begins with the path.
func refuse(at path, format string, args ...any) *apierr.Error {
	field := at.String()
	subject := field
	if subject == "" {
		subject = "The request body"
	}
	return apierr.Invalid(field, "%s %s", subject, fmt.Sprintf(format, args...))
}
