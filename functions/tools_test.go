package functions_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"lectern/functions/mcp"
	"lectern/shared/api"
)

const toolsFile = "mcp/tools.json"

type object = map[string]any

// TestTheSchemasOfToolsAreThoseOfTheOperations holds tools.json to the declared tools and the document.
func TestTheSchemasOfToolsAreThoseOfTheOperations(t *testing.T) {
	d := newDescriber(t)
	var all []mcp.Described
	for _, tool := range mcp.Tools {
		all = append(all, d.describe(tool))
	}
	text, err := json.MarshalIndent(all, "", " ")
	require.NoError(t, err)
	golden(t, toolsFile, append(text, '\n'))
}

// describer describes tools by the document.
type describer struct {
	t          *testing.T
	operations map[string]api.Operation
	// described has the operations of the document by id, schemas the shared schemas by name.
	described map[string]object
	schemas   object
}

func newDescriber(t *testing.T) describer {
	d := describer{t: t, operations: map[string]api.Operation{}, described: map[string]object{}}
	for _, o := range operations() {
		d.operations[o.ID] = o
	}
	var doc object
	require.NoError(t, json.Unmarshal(document(t), &doc))
	d.schemas = doc["components"].(object)["schemas"].(object)
	for _, methods := range doc["paths"].(object) {
		for _, o := range methods.(object) {
			d.described[o.(object)["operationId"].(string)] = o.(object)
		}
	}
	return d
}

// describe returns a tool with its schemas.
func (d describer) describe(tool mcp.Tool) mcp.Described {
	d.t.Helper()
	o, known := d.operations[tool.Operation]
	require.True(d.t, known, "%s does the unknown %s", tool.Name, tool.Operation)
	no := false
	replaces := tool.Overwrites || o.Method == http.MethodPut || o.Method == http.MethodDelete
	title := strings.ReplaceAll(tool.Name, "_", " ")
	described := mcp.Described{Operation: o.ID, Divides: tool.Divides, InQuery: map[string]string{}, Tool: &sdk.Tool{
		Name: tool.Name, Title: strings.ToUpper(title[:1]) + title[1:], Description: tool.About,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: !o.Writes(), DestructiveHint: &replaces, IdempotentHint: !o.Writes() || o.Method == http.MethodPut, OpenWorldHint: &no,
		},
	}}
	described.Tool.InputSchema = d.input(tool, described.InQuery)
	output := d.output(d.described[o.ID])
	if tool.Divides != "" {
		output["properties"].(object)["pagination"] = object{"type": "object"}
		require.Contains(d.t, output["properties"], tool.Divides, tool.Name)
	}
	described.Tool.OutputSchema = output
	return described
}

// input returns the schema of the arguments, and collects those that are parameters of the query.
func (d describer) input(tool mcp.Tool, inQuery map[string]string) object {
	d.t.Helper()
	wanted := strings.Fields(tool.Inputs)
	properties, required := object{}, []string{}
	take := func(name string, schema any, needed bool) {
		if slices.Contains(wanted, name) {
			properties[name] = schema
			if needed {
				required = append(required, name)
			}
		}
	}
	described := d.described[tool.Operation]
	if body, has := described["requestBody"].(object); has {
		schema := d.resolve(body["content"].(object)["application/json"].(object)["schema"].(object))
		needed, _ := schema["required"].([]any)
		for name, property := range schema["properties"].(object) {
			take(name, property, slices.Contains(needed, any(name)))
		}
	}
	for _, p := range described["parameters"].([]any) {
		p := p.(object)
		name := mcp.Snake(p["name"].(string))
		if p["in"] == "header" || p["in"] == "query" && properties[name] != nil {
			continue
		}
		schema := p["schema"].(object)
		schema["description"] = strings.ReplaceAll(p["description"].(string), " Separated by commas, or the parameter repeated, or both.", "")
		if name == "page_size" {
			schema = object{"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "How many results a page has."}
		}
		take(name, schema, p["required"] == true)
		if p["in"] == "query" && slices.Contains(wanted, name) {
			inQuery[name] = p["name"].(string)
		}
	}
	if tool.Divides != "" {
		properties["page"] = object{"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1."}
		properties["page_size"] = object{
			"type": "integer", "minimum": 1, "maximum": 1000, "default": 50, "description": "How many results a page has.",
		}
	}
	for _, name := range wanted {
		require.Contains(d.t, properties, name, "%s has no such input", tool.Name)
	}
	slices.Sort(required)
	return d.closed(object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}, keep)
}

// output returns the schema of the answer: nothing is required, since what has no value is left out, and texts may be cut.
func (d describer) output(described object) object {
	d.t.Helper()
	for _, status := range []string{"200", "201"} {
		response, has := described["responses"].(object)[status].(object)
		if !has {
			continue
		}
		schema := response["content"].(object)["application/json"].(object)["schema"].(object)
		if schema["type"] == "array" {
			schema = object{"type": "object", "properties": object{"results": schema}}
		}
		return d.closed(d.resolve(schema), loose)
	}
	require.Fail(d.t, "no answer", "%s", described["operationId"])
	return nil
}

// resolve returns the schema that a schema refers to.
func (d describer) resolve(schema object) object {
	if ref, is := schema["$ref"].(string); is {
		return d.schemas[strings.TrimPrefix(ref, components)].(object)
	}
	return schema
}

const components = "#/components/schemas/"

// closed returns a schema with all schemas that it refers to.
func (d describer) closed(schema object, change func(object) object) object {
	definitions := object{}
	var walk func(value any) any
	walk = func(value any) any {
		switch v := value.(type) {
		case []any:
			all := make([]any, len(v))
			for i, one := range v {
				all[i] = walk(one)
			}
			return all
		case object:
			some := object{}
			for name, one := range change(v) {
				if ref, is := one.(string); is && name == "$ref" {
					of := strings.TrimPrefix(ref, components)
					if definitions[of] == nil {
						definitions[of] = true // A schema may refer to itself.
						definitions[of] = walk(d.schemas[of])
					}
					one = "#/$defs/" + of
				}
				some[name] = walk(one)
			}
			return some
		}
		return value
	}
	closed := walk(schema).(object)
	if len(definitions) > 0 {
		closed["$defs"] = definitions
	}
	return closed
}

// keep changes nothing.
func keep(schema object) object { return schema }

// loose returns the parts of a schema that a cut answer still has. A property may have the name of a part.
func loose(schema object) object {
	some := object{}
	for name, value := range schema {
		_, isSchema := value.(object)
		if isSchema || slices.Contains([]string{"type", "enum", "anyOf", "$ref", "const"}, name) {
			some[name] = value
		}
	}
	return some
}
