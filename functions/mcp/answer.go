package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lectern/shared/apierr"
)

// Limits of an answer to a model.
const (
	// mostBytes is the longest answer. The others are the longest texts, in characters: of one record, of a record in a list, and of a
	// record in a list above mostBytes.
	mostBytes = 60_000
	longest   = 20_000
	listed    = 300
	shortest  = 80
)

// shown returns the result of a tool from the answer of the operation: without empty properties, and with long texts cut.
func shown(answer []byte) (*sdk.CallToolResult, error) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	var record any
	if err := decoder.Decode(&record); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	if list, is := record.([]any); is {
		record = map[string]any{"results": list}
	}
	cuts := []cut{{longest, false}, {listed, true}, {shortest, true}}
	if isList(record) {
		cuts = cuts[1:]
	}
	for _, c := range cuts {
		text, err := encoded(c.of(record, 0))
		if err != nil {
			return nil, err
		}
		if len(text) <= mostBytes {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}, nil
		}
	}
	return nil, apierr.Invalid(pageSize, "The answer is too long. Ask for fewer results: a smaller page_size, or a filter.")
}

// isList reports whether a record is a page of a list.
func isList(record any) bool {
	page, _ := record.(map[string]any)
	return page["pagination"] != nil || page["results"] != nil
}

// cut is how a value is cut.
type cut struct {
	// length is the longest text, in characters.
	length int
	// brief shows the names of a record within a record, and no other properties.
	brief bool
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
	some := map[string]any{}
	for name, one := range v {
		if name == "admin_url" || c.brief && isRecord && depth > 0 && !slices.Contains(naming, name) {
			continue
		}
		within := depth
		if isRecord {
			within++
		}
		if kept := c.of(one, within); !isEmpty(kept) {
			some[name] = kept
		}
	}
	return some
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

// encoded returns a value as JSON for a model: with <, > and & as they are.
func encoded(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
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
func refused(refusal *apierr.Error) *sdk.CallToolResult {
	text := []string{refusal.Message}
	if field, _ := refusal.Details["field"].(string); field != "" {
		text = append(text, "Argument: "+field+".")
	}
	if wait := refusal.Header.Get("Retry-After"); wait != "" {
		text = append(text, "Wait "+wait+" seconds.")
	}
	text = append(text, advice[refusal.Status])
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: strings.Join(text, " ")}}}
}
