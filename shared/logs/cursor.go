package logs

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"

	"lectern/shared/apierr"
	"lectern/shared/feed"
)

// position is a place in a log: after the first done events of the item with the sort key, and
// before all later items. A position between items has a bound of time as its key.
type position struct {
	key  string
	done int
}

// plain matches the text of a cursor: the log, the organization, the number of events and the key.
var plain = regexp.MustCompile(`^([a-z_]+) (\d+) (\d{1,6}) ([0-9a-zA-Z#._-]{1,100})$`)

// cursor returns the position as opaque text. The text is not a secret: a changed cursor reads
// only the log of the caller's organization.
func (p position) cursor(s Stream, org int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %d %d %s", s, org, p.done, p.key))
}

// parse returns the position of a cursor of the log. The error is a 400.
func parse(cursor string, s Stream, org int64) (position, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	parts := plain.FindStringSubmatch(string(text))
	if err != nil || parts == nil || parts[1] != string(s) || parts[2] != strconv.FormatInt(org, 10) {
		return position{}, badCursor()
	}
	if _, ok := feed.Time(parts[4]); !ok {
		return position{}, badCursor()
	}
	done, _ := strconv.Atoi(parts[3]) // Six digits fit.
	return position{parts[4], done}, nil
}

func badCursor() *apierr.Error {
	return apierr.Invalid("cursor", "cursor must be the next_cursor of an earlier page of this log.")
}
