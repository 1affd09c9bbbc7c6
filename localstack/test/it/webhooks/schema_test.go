package webhooks_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lectern/events/schemas"
)

// requireBody checks a body by the JSON Schema of its kind.
func requireBody(t *testing.T, kind string, body []byte) {
	t.Helper()
	for _, described := range schemas.All {
		if described.Kind != kind {
			continue
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(described.Schema))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		require.NoError(t, c.AddResource("schema.json", schema))
		compiled, err := c.Compile("schema.json")
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(value), kind)
		return
	}
	require.Fail(t, "there is no such kind", kind)
}
