package schemas_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lectern/events/schemas"
	"lectern/functions"
	"lectern/shared/api"
	"lectern/shared/webhook"
)

var update = flag.Bool("update", false, "write the files of the kinds anew")

type object = map[string]any

// records are the schemas of the document that a GET of each record answers.
var records = map[string]string{"contact": "Contact", "session": "Session", "exhibitor": "Account", "sponsor": "Account"}

// golden compares JSON with a file, or with -update writes the file.
func golden(t *testing.T, file string, value any) {
	t.Helper()
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(value))
	if *update {
		require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "%s is not what the document says; see make golden", file)
}

func TestSchemasAndExamplesAreThoseOfTheDocument(t *testing.T) {
	components := documented(t)
	for _, described := range schemas.All {
		schema := bodySchema(components, described)
		golden(t, schemas.SchemaFile(described.Kind), schema)
		golden(t, schemas.ExampleFile(described.Kind), sample{schema}.body(described.Kind))
	}
}

func TestEachExampleMatchesItsSchema(t *testing.T) {
	names := []string{}
	for _, described := range schemas.All {
		names = append(names, described.Kind)
		require.NotEmpty(t, described.Description, described.Kind)
		compiled := compile(t, described)
		example := decode(t, described.Example)
		require.NoError(t, compiled.Validate(example), described.Kind)

		example.(object)["more"] = "a later property"
		example.(object)["data"].(object)["more"] = "a later property"
		require.NoError(t, compiled.Validate(example), "unknown properties must be tolerated")
		delete(example.(object)["metadata"].(object), "sequence")
		require.Error(t, compiled.Validate(example), described.Kind)
	}
	require.Equal(t, append(append([]string{}, webhook.Kinds...), webhook.Ping), names)
}

// TestAThinBodyMatchesTheSchema: thin data has ids alone.
func TestAThinBodyMatchesTheSchema(t *testing.T) {
	for _, described := range schemas.All {
		if described.Kind == webhook.Ping {
			continue
		}
		compiled := compile(t, described)
		body := decode(t, described.Example).(object)
		body["data"] = object{"id": body["data"].(object)["id"], "event_id": nil, "org_id": json.Number("3")}
		body["metadata"].(object)["truncated"] = true
		require.NoError(t, compiled.Validate(body), described.Kind)
		body["data"] = object{"id": json.Number("7"), "event_id": nil, "org_id": json.Number("3")}
		require.Error(t, compiled.Validate(body), described.Kind)
	}
}

func compile(t *testing.T, described schemas.Type) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("schema.json", decode(t, described.Schema)))
	compiled, err := c.Compile("schema.json")
	require.NoError(t, err)
	return compiled
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return value
}

// documented returns the schemas of the document, with those of the bodies.
func documented(t *testing.T) object {
	t.Helper()
	var bodies = api.NewGroup("Bodies", func(api.Env) *struct{} { return nil }, []api.Route[struct{}]{
		api.Get[struct{}, struct{}, schemas.Ping]("ping", "/ping", nil, nil),
	})
	text, err := api.Document(append([]api.Group{bodies}, functions.Groups...))
	require.NoError(t, err)
	var document struct {
		Components struct{ Schemas object }
	}
	require.NoError(t, json.Unmarshal(text, &document))
	for name := range document.Components.Schemas {
		require.NotContains(t, name, "#")
	}
	return document.Components.Schemas
}

// bodySchema returns the JSON Schema of the bodies of a kind.
func bodySchema(components object, described schemas.Type) object {
	s := schemaOf{components: components, defs: object{}}
	record, _, _ := strings.Cut(described.Kind, ".")
	data := s.copied(object{"$ref": ref + "SchemasPingData"})
	if name, ok := records[record]; ok {
		full := s.copied(components[name]).(object)
		full["properties"].(object)["sourceOfChange"] = source
		full["required"] = append(full["required"].([]any), "sourceOfChange")
		s.defs["Full"], s.defs["Thin"] = full, thin
		data = object{"anyOf": []any{object{"$ref": "#/$defs/Full"}, object{"$ref": "#/$defs/Thin"}}}
	}
	metadata := s.copied(components["SchemasMetadata"]).(object)
	metadata["properties"].(object)["action"] = object{"const": described.Kind, "type": "string"}
	metadata["properties"].(object)["version"] = object{"const": schemas.Version, "type": "integer"}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": described.Kind, "description": described.Description,
		"type": "object", "required": []any{"data", "metadata"}, "properties": object{"data": data, "metadata": metadata},
		"$defs": s.defs,
	}
}

const ref = "#/components/schemas/"

var (
	source = object{"type": "string", "description": "Where the change was made, such as public_api."}
	thin   = object{
		"type": "object", "description": "The ids alone; metadata names the changed fields and the address of the record.",
		"required": []any{"id", "event_id", "org_id"},
		"properties": object{
			"id": object{"type": "string", "format": "uuid"}, "event_id": object{"type": []any{"integer", "null"}},
			"org_id": object{"type": "integer"}, "sourceOfChange": source,
		},
	}
)

// schemaOf copies schemas of the document into a schema that stands alone.
type schemaOf struct{ components, defs object }

// copied returns a copy of a schema. References lead to defs, and unknown properties are tolerated.
func (s schemaOf) copied(from any) any {
	switch from := from.(type) {
	case []any:
		all := make([]any, len(from))
		for i, part := range from {
			all[i] = s.copied(part)
		}
		return all
	case object:
		to := object{}
		for key, value := range from {
			switch target, _ := value.(string); {
			case key == "$ref":
				to[key] = s.referred(strings.TrimPrefix(target, ref))
			case key == "additionalProperties" && value == false:
			default:
				to[key] = s.copied(value)
			}
		}
		return to
	}
	return from
}

func (s schemaOf) referred(name string) string {
	if _, done := s.defs[name]; !done {
		s.defs[name] = nil // A schema may refer to itself.
		s.defs[name] = s.copied(s.components[name])
	}
	return "#/$defs/" + name
}

// sample makes an example that matches a schema: the required properties, null where a schema
// allows null, and lists without entries.
type sample struct{ schema object }

// texts are values of properties by name.
var texts = object{
	"title": "Building agendas", "friendly_id": "SESS-12", "friendly_id_raw": 12, "full_name": "Ada Quay", "first_name": "Ada",
	"last_name": "Quay", "email": "ada.quay@speakers.example", "name": "Quay Woodworks", "role": "standalone", "source": "public_api",
	"sourceOfChange": "public_api", "event_id": 12, "order": 1, "message": "This is a test.", "id": "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30",
}

// idOf begins the friendly ids of a record.
var idOf = map[string]string{"contact": "CONT-12", "session": "SESS-12", "exhibitor": "ACCT-12", "sponsor": "ACCT-12"}

// body returns the example of a kind.
func (s sample) body(kind string) object {
	record, _, _ := strings.Cut(kind, ".")
	body := s.value("", s.schema).(object)
	if id, ok := idOf[record]; ok {
		body["data"].(object)["friendly_id"] = id
	}
	body["metadata"] = object{
		"id": "018f9f6e-7c1a-7b51-9c39-000000000001", "action": kind, "actor_id": 7, "event_id": 12, "org_id": 3,
		"resource_url": "/v1/event/12/" + record + "s/" + texts["id"].(string), "version": schemas.Version,
		"datetime": "2027-05-11T14:00:00.000Z", "sequence": 4, "changed": []any{"title"},
	}
	if kind == webhook.Ping {
		metadata := body["metadata"].(object)
		metadata["event_id"], metadata["sequence"], metadata["changed"] = nil, 0, []any{}
		metadata["resource_url"] = "/v1/webhooks/" + texts["id"].(string)
	}
	return body
}

func (s sample) value(name string, schema object) any {
	if target, ok := schema["$ref"].(string); ok {
		return s.value(name, s.schema["$defs"].(object)[strings.TrimPrefix(target, "#/$defs/")].(object))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		options, ok := schema[key].([]any)
		if ok && slices.ContainsFunc(options, func(o any) bool { return kindsOf(o.(object))["null"] }) {
			return nil
		}
		if ok {
			return s.value(name, options[0].(object))
		}
	}
	if fixed, ok := schema["const"]; ok {
		return fixed
	}
	kinds := kindsOf(schema)
	if value, ok := texts[name]; ok && (kinds["string"] || kinds["integer"]) {
		return value
	}
	switch enum, _ := schema["enum"].([]any); {
	case kinds["null"]:
		return nil
	case len(enum) > 0:
		return enum[0]
	case kinds["array"]:
		return []any{}
	case kinds["object"]:
		return s.object(schema)
	case kinds["boolean"]:
		return false
	case kinds["integer"] || kinds["number"]:
		return 0
	case schema["format"] == "date-time":
		return "2027-05-11T14:00:00.000Z"
	case schema["format"] == "uuid":
		return "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31"
	}
	return ""
}

func (s sample) object(schema object) object {
	all := object{}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		property, _ := schema["properties"].(object)[name.(string)].(object)
		all[name.(string)] = s.value(name.(string), property)
	}
	return all
}

// kindsOf returns the types that a schema allows.
func kindsOf(schema object) map[string]bool {
	kinds := map[string]bool{}
	switch allowed := schema["type"].(type) {
	case string:
		kinds[allowed] = true
	case []any:
		for _, kind := range allowed {
			kinds[kind.(string)] = true
		}
	}
	return kinds
}
