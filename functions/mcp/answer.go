package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lectern/shared/apierr"
	"lectern/shared/page"
	"lectern/shared/wire"
)

// mostBytes is the longest answer.
const mostBytes = 60_000

// cut is how values are cut.
type cut struct {
	// length is the longest text, in characters.
	length int
	// brief shows the names of a record within a record, and no other properties; bare no lists of records within a record.
	brief, bare bool
}

// ofOne are the cuts of a record, and ofList those of a list: the first that makes an answer short enough counts.
var (
	ofOne = []cut{
		{length: 20_000}, {length: 20_000, brief: true}, {length: 4000, brief: true}, {length: 1000, brief: true}, {length: 300, brief: true},
		{length: 80, brief: true},
	}
	ofList = []cut{
		{length: 300, brief: true}, {length: 80, brief: true}, {length: 300, brief: true, bare: true}, {length: 80, brief: true, bare: true},
	}
)

// shown returns the result of a tool from the answer of the operation: without empty properties, and with long texts cut. The answer to a
// write is never refused for being long: lists of a record are left out then, and named in omitted.
func (c caller) shown(answer []byte, query page.Query) (*sdk.CallToolResult, error) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	var record any
	if err := decoder.Decode(&record); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	if list, is := record.([]any); is {
		record = map[string]any{results: list}
	}
	object, _ := record.(map[string]any)
	if c.Divides != "" {
		divide(object, c.Divides, query)
	}
	cuts := ofOne
	if object["pagination"] != nil {
		cuts = ofList
	}
	for _, how := range cuts {
		if text, err := wire.Encode(how.of(record, 0)); err != nil || len(text) <= mostBytes {
			return whole(text), err
		}
	}
	if !c.Writes() {
		return nil, apierr.Invalid(c.sizeOfPage(), "The answer is too long. Ask for less.")
	}
	omitLists(object)
	text, err := wire.Encode(ofOne[len(ofOne)-1].of(record, 0))
	return whole(text), err
}

// whole returns a result with a JSON text.
func whole(text []byte) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}
}

// divide replaces a list by a page of the list.
func divide(object map[string]any, name string, query page.Query) {
	list, _ := object[name].([]any)
	object[name] = page.Cut(query, list)
	at := page.New(query, len(list), list).Pagination
	object["pagination"] = map[string]any{
		"currentPage": at.CurrentPage, "pageSize": at.PageSize, "totalPages": at.TotalPages, "totalResults": at.TotalResults,
	}
}

// omitLists leaves the lists of a record out, and names them in omitted.
func omitLists(object map[string]any) {
	omitted := []any{}
	for name, value := range object {
		if _, is := value.([]any); is {
			omitted = append(omitted, name)
			delete(object, name)
		}
	}
	object["omitted"] = omitted
}

// sizeOfPage returns the name of the argument for the size of a page; empty for a tool without.
func (c caller) sizeOfPage() string {
	for _, name := range []string{pageSize, "limit"} {
		if slices.Contains(c.inputs(), name) {
			return name
		}
	}
	return ""
}

// of returns a value without empty properties and addresses for people. depth counts the records around the value.
func (c cut) of(value any, depth int) any {
	switch v := value.(type) {
	case string:
		if runes := []rune(v); len(runes) > c.length {
			return string(runes[:c.length]) + "…"
		}
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = c.of(one, depth)
		}
		return all
	case map[string]any:
		return c.record(v, depth)
	}
	return value
}

// record cuts an object.
func (c cut) record(v map[string]any, depth int) map[string]any {
	_, isRecord := v["id"]
	within, some := depth, map[string]any{}
	if isRecord {
		within++
	}
	for name, one := range v {
		if name == "admin_url" || isRecord && c.drops(name, one, depth) {
			continue
		}
		if kept := c.of(one, within); !isEmpty(kept) {
			some[name] = kept
		}
	}
	return some
}

// drops reports whether a property of a record is left out. The participants of a session are speakers, moderators and chairpersons, too.
func (c cut) drops(name string, value any, depth int) bool {
	if !c.brief {
		return false
	}
	return depth > 0 && !slices.Contains(naming, name) || name == "participants" || c.bare && isRecords(value)
}

// isRecords reports whether a value is a list of records.
func isRecords(value any) bool {
	list, _ := value.([]any)
	if len(list) == 0 {
		return false
	}
	_, is := list[0].(map[string]any)
	return is
}

// naming lists the names of a record within another.
var naming = []string{
	"id", "name", "internal_name", "value", "full_name", "title", "company_name", "participant_role", "starts_at", "ends_at",
}

// isEmpty reports whether a property has no value.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// advice says how a model goes on after a refusal with a status.
var advice = map[int]string{
	http.StatusBadRequest:          "Correct the argument and call the tool again.",
	http.StatusUnauthorized:        "The connection has ended. The person must connect the assistant again.",
	http.StatusForbidden:           "Tell the person: connection, member or event lack this. A new connection can have more scopes.",
	http.StatusNotFound:            "Look the id up with a find_ or list_ tool.",
	http.StatusConflict:            "Read the record again. Repeat the change only if it is still wanted.",
	http.StatusUnprocessableEntity: "Change the arguments as the message says.",
	http.StatusTooManyRequests:     "Wait, and call the tool again.",
	http.StatusServiceUnavailable:  "Call the tool again in a few seconds.",
	http.StatusInternalServerError: "Do not call the tool again with these arguments. Tell the person.",
}

// refused returns the result of a refused call: the reason, the argument, and the advice.
func (c caller) refused(refusal *apierr.Error) *sdk.CallToolResult {
	message := refusal.Message
	if field, _ := refusal.Details["field"].(string); field != "" {
		first, rest, _ := strings.Cut(field, ".")
		name := Snake(first)
		if slices.Contains(c.inputs(), name) {
			message = strings.ReplaceAll(message, first, name)
			field = strings.TrimSuffix(name+"."+rest, ".")
		}
		message += " Argument: " + field + "."
	}
	text := message + " " + advised(refusal)
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// advised returns how to go on after a refusal.
func advised(refusal *apierr.Error) string {
	text := cmp.Or(advice[refusal.Status], advice[http.StatusInternalServerError])
	if wait := refusal.Header.Get("Retry-After"); wait != "" {
		text = "Wait " + wait + " seconds. " + text
	}
	return text
}
