package gateway

import (
	"encoding/json"
	"strings"
)

// accessLine returns the format of a line of the access log: refusals by the gateway, times,
// and the request id. Path and query as sent are left out, because a client may write
// anything there. The client's address is left out as personal data; the function's line
// names the token.
func accessLine() string {
	fields := []struct{ name, value string }{
		{"request_id", "$context.requestId"},
		{"time", "$context.requestTimeEpoch"},
		{"method", "$context.httpMethod"},
		{"route", "$context.resourcePath"},
		{"status", "$context.status"},
		{"ms", "$context.responseLatency"},
		{"function_ms", "$context.integrationLatency"},
		{"function_status", "$context.integrationStatus"},
		{"bytes", "$context.responseLength"},
		{"refusal", "$context.error.responseType"},
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = quoted(f.name) + ":" + quoted(f.value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// quoted returns text as JSON.
func quoted(text string) string {
	form, _ := json.Marshal(text) //nolint:errchkjson // text is always JSON
	return string(form)
}
