package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheOperatorHasTheKeysOfTheRegion: erasure-repeat finds a person by the keyed hash of the address alone,
// since the contact is newer than the erasure.
func TestTheOperatorHasTheKeysOfTheRegion(t *testing.T) {
	data := t.TempDir()
	_, variables := upOn(t, data, "--no-demo")
	const mail = "ada@example.org"
	asked := ask(t, variables, "US", http.MethodPost, "/v1/gdpr/requests",
		`{"requestType": "erasure", "identityType": "email", "identityValue": "`+mail+`"}`)
	ask(t, variables, "US", http.MethodPost, "/v1/event/{event}/contacts/create", `{"email": "`+mail+`"}`)
	do := func(command, input string) (answer struct{ Results []map[string]any }) {
		printed, err := run(t, "operator", command, "--data", data, "--json", fmt.Sprintf(`{"org_id": %s, %s}`, variables["LECTERN_US_ORG"], input))
		require.NoError(t, err, printed)
		require.NoError(t, json.Unmarshal([]byte(printed), &answer), printed)
		return answer
	}
	listed := do("erasure-list", `"since": "2026-01-01T00:00:00Z"`)
	require.Len(t, listed.Results, 1)
	require.Equal(t, asked["id"], listed.Results[0]["request"])
	erasures, err := json.Marshal(listed.Results)
	require.NoError(t, err)
	require.Len(t, do("erasure-repeat", `"erasures": `+string(erasures)).Results, 1)
}
