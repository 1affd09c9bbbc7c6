package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheOperatorHasTheKeysOfTheRegion: erasure-repeat finds a person by the keyed hash of the address alone,
// since the contact is newer than the erasure. The erasure itself, while it is open, may erase the contact
// before the repetition looks: then the person comes again.
func TestTheOperatorHasTheKeysOfTheRegion(t *testing.T) {
	const patience, pause = 30 * time.Second, 500 * time.Millisecond
	const mail = "ada@example.org"
	data := t.TempDir()
	_, variables := upOn(t, data, "--no-demo")
	asked := ask(t, variables, "US", http.MethodPost, "/v1/gdpr/requests",
		`{"requestType": "erasure", "identityType": "email", "identityValue": "`+mail+`"}`)
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
	for until := time.Now().Add(patience); ; time.Sleep(pause) {
		status, answer := try(t, variables, "US", http.MethodPost, "/v1/event/{event}/contacts/create", `{"email": "`+mail+`"}`)
		require.Contains(t, []int{http.StatusOK, http.StatusConflict}, status, "%v", answer)
		if len(do("erasure-repeat", `"erasures": `+string(erasures)).Results) == 1 {
			return
		}
		require.True(t, time.Now().Before(until), "no repetition finds the person")
	}
}
