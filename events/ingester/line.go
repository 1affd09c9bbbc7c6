package ingester

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"lectern/shared/requestlog"
	"lectern/shared/wire"
)

// The errors of a line that is no entry of an organization.
var (
	errForeign = errors.New("ingester: the line is not about a request")
	errUnowned = errors.New("ingester: the request has no known token")
	errDamaged = errors.New("ingester: the line of a request is damaged")
)

// maxEntry is the largest size of a stored entry, in bytes. The parts of an entry have limits
// of their own, which add up to less.
const maxEntry = 4096

// line has the fields of the log line of a request (shared/api).
type line struct {
	At           time.Time `json:"timestamp"`
	RequestID    string    `json:"request_id"`
	Method       string    `json:"method"`
	Route        string    `json:"route"`
	Status       int       `json:"status"`
	Milliseconds int64     `json:"ms"`
	Org          int64     `json:"org"`
	Token        int64     `json:"token"`
	Reason       string    `json:"reason"`
	IP           string    `json:"ip"`
	UserAgent    string    `json:"user_agent"`
}

// request is the request of a line.
type request struct {
	org   int64
	entry requestlog.Entry
	// size is the size of the stored entry, in bytes.
	size int
}

// read returns the request of a line.
func read(text string) (request, error) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return request{}, errDamaged
	}
	if fields["msg"] != requestlog.Message {
		return request{}, errForeign
	}
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil || !l.complete() {
		return request{}, errDamaged
	}
	if l.Org == 0 {
		return request{}, errUnowned
	}
	r := request{org: l.Org, entry: l.entry(fields)}
	encoded, err := wire.Encode(r.entry)
	if err != nil || len(encoded) > maxEntry {
		return request{}, errDamaged
	}
	r.size = len(encoded)
	return r, nil
}

// complete reports whether the line has the fields of every request.
func (l line) complete() bool {
	status := l.Status >= http.StatusContinue && l.Status < 600
	return l.RequestID != "" && l.Method != "" && status && !l.At.IsZero() && l.Milliseconds >= 0 && l.Org >= 0 && l.Token >= 0
}

// entry returns the entry of the line with these fields.
func (l line) entry(fields map[string]any) requestlog.Entry {
	// A request that was refused before its path was checked has no event.
	event, _ := strconv.ParseInt(text(fields, "eventId"), 10, 64)
	return requestlog.Entry{
		RequestID: l.RequestID, At: wire.At(l.At), Method: l.Method, Path: path(l.Route, fields), Status: l.Status,
		Milliseconds: l.Milliseconds, Event: event, Token: l.Token, Reason: l.Reason, IP: l.IP, UserAgent: l.UserAgent,
	}
}

// parameter finds the names of ids in a route.
var parameter = regexp.MustCompile(`\{\w+\}`)

// path returns a route with the ids of the fields. It keeps the name of an id without a field.
func path(route string, fields map[string]any) string {
	return parameter.ReplaceAllStringFunc(route, func(name string) string {
		if id := text(fields, name[1:len(name)-1]); id != "" {
			return url.PathEscape(id)
		}
		return name
	})
}

// text returns a field that is a text, or else nothing.
func text(fields map[string]any, name string) string {
	value, _ := fields[name].(string)
	return value
}
