package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
)

// caller does the calls of a tool.
type caller struct {
	Described
	operation
}

// call does the operation of the tool with the arguments of a call. A refusal is a result too, for the model to read.
func (c caller) call(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
	refusal := c.safely(ctx, func(ctx context.Context) (err error) {
		result, err = c.do(ctx, r.Params.Arguments)
		return err
	})
	if refusal != nil {
		return c.refused(refusal), nil
	}
	return result, nil
}

// do checks the arguments and does the operation.
func (c caller) do(ctx context.Context, sent json.RawMessage) (*sdk.CallToolResult, error) {
	decoder := json.NewDecoder(strings.NewReader(cmp.Or(string(sent), "null")))
	decoder.UseNumber()
	var args map[string]any
	if err := decoder.Decode(&args); err != nil {
		return nil, apierr.Invalid("arguments", "arguments must be an object.")
	}
	if args == nil {
		args = map[string]any{}
	}
	known := c.inputs()
	for name := range args {
		if !slices.Contains(known, name) {
			return nil, apierr.Invalid(name, "%s has no argument %s. It has: %s.", c.Tool.Name, name, strings.Join(known, ", "))
		}
	}
	if _, paged := c.InQuery[pageSize]; paged && args[pageSize] == nil {
		args[pageSize] = usualPage
	}
	var query page.Query
	if c.Divides != "" {
		var err error
		if query, err = takePage(args); err != nil {
			return nil, err
		}
	}
	answer, err := c.request(ctx, args)
	if err != nil {
		return nil, err
	}
	return c.shown(answer, query)
}

// The argument for the size of a page, and the size without the argument, in results.
const (
	pageSize  = "page_size"
	usualPage = 20
	// dividedPage is the usual size of a page of a list that the tool divides itself. mostPaged is the largest page, and the last one.
	dividedPage = 50
	mostPaged   = 1000
)

// takePage takes the page of a list that the tool divides out of the arguments.
func takePage(args map[string]any) (q page.Query, err error) {
	for name, to := range map[string]*int{"page": &q.Page, pageSize: &q.PageSize} {
		*to = map[string]int{"page": 1, pageSize: dividedPage}[name]
		if sent, is := args[name]; is && sent != nil {
			if *to, err = strconv.Atoi(plain(sent)); err != nil || *to < 1 || *to > mostPaged {
				return q, apierr.Invalid(name, "%s must be a number from 1 to %d.", name, mostPaged)
			}
		}
		delete(args, name)
	}
	return q, nil
}

// inputs lists the names of the tool's arguments.
func (c caller) inputs() []string {
	schema, _ := c.Tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// request does the operation with arguments, and returns its answer. The error is an *apierr.Error.
func (c caller) request(ctx context.Context, args map[string]any) ([]byte, error) {
	path, err := c.path(ctx, args)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	for name, parameter := range c.InQuery {
		if value := args[name]; value != nil {
			query.Set(parameter, plain(value))
		}
		delete(args, name)
	}
	var body []byte
	if c.Method != http.MethodGet {
		if body, err = json.Marshal(args); err != nil {
			return nil, fmt.Errorf("mcp: %w", err)
		}
	}
	return c.send(ctx, path+"?"+query.Encode(), body)
}

// path returns the path of the operation with arguments, and removes these from args. The organization is the caller's.
func (c caller) path(ctx context.Context, args map[string]any) (string, error) {
	segments := strings.Split(c.Path, "/")
	for i, segment := range segments {
		parameter, isParameter := strings.CutPrefix(segment, "{")
		if !isParameter {
			continue
		}
		name := Snake(strings.TrimSuffix(parameter, "}"))
		if name == "org_id" {
			args[name] = auth.From(ctx).Org.ID
		}
		value := plain(args[name])
		if value == "" {
			return "", apierr.Invalid(name, "%s is required.", name)
		}
		segments[i] = url.PathEscape(value)
		delete(args, name)
	}
	return strings.Join(segments, "/"), nil
}

// Snake returns the name of an argument for a parameter: event_id for eventId.
func Snake(parameter string) string {
	var name strings.Builder
	for _, c := range parameter {
		if 'A' <= c && c <= 'Z' {
			name.WriteByte('_')
			c += 'a' - 'A'
		}
		name.WriteRune(c)
	}
	return name.String()
}

// plain returns an argument as a parameter of a path or query. Several values have commas between them.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case []any:
		all := make([]string, len(v))
		for i, one := range v {
			all[i] = plain(one)
		}
		return strings.Join(all, ",")
	default: // a number
		return fmt.Sprint(v)
	}
}
