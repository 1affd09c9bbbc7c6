package deploytest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/preflight"
	"lectern/localstack/cloud/smoke"
	"lectern/localstack/cloud/target"
)

// TestTheOperatorsChecksPass does the checks of `lectern smoke`, but for those that no emulator
// can show.
func TestTheOperatorsChecksPass(t *testing.T) {
	regions, err := target.Emulated()
	require.NoError(t, err)
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		made, err := preflight.Read("../../../cdk.json", name)
		require.NoError(t, err)
		var out strings.Builder
		results, err := smoke.Run(t.Context(), &out, smoke.Options{Region: regions[name], Made: made})
		require.NoError(t, err)
		t.Log(out.String())
		require.Zero(t, smoke.Count(results, smoke.Failed), out.String())
		var leftOut []string
		for _, r := range results {
			if r.State == smoke.LeftOut {
				leftOut = append(leftOut, r.Name)
			}
		}
		require.Equal(t, []string{"body of 5 MB", "body of 8 MB", "body of 10.5 MB", "recovery", "keys of roles",
			"key of the table", "certificate", "alarms"}, leftOut)
	}
}
