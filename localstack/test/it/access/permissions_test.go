package access_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/localstack/local/recorder"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// permissionsFile lists what the roles of the functions allow, as it is deployed. streamedFile lists what of
// it no binary needs in a test, see .ci/permissions.
const (
	permissionsFile = "../../../../infra/testdata/permissions.golden.txt"
	streamedFile    = "../../../../infra/testdata/permissions.streamed.txt"
)

// TestNoFunctionHasAPermissionTooMany takes from a function one of its permissions, drawn, and runs the tests
// that are marked Everywhere in an order that is drawn too: the first one of those that call the function and
// need it must fail. Tests that do not call it cannot. The short size takes from one function of the API what
// each request needs, so that a test soon fails.
func TestNoFunctionHasAPermissionTooMany(t *testing.T) {
	stacktest.NeedsBinaries(t)
	seed := it.Seed(t)
	all, err := recorder.Read(permissionsFile)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	streamed, err := recorder.Read(streamedFile)
	require.NoError(t, err)
	of := map[string][]recorder.Permission{}
	for _, p := range all {
		if !slices.Contains(streamed, p) {
			of[p.Group] = append(of[p.Group], p)
		}
	}
	groups := slices.Sorted(maps.Keys(of))
	if it.Size(0, 1) == 0 { // Tests of workers wait long for what does not come.
		workers, _ := events.With(events.Every)
		for _, w := range workers {
			groups = slices.DeleteFunc(groups, func(group string) bool { return group == w.Name })
		}
	}
	r := it.Source(seed, 0)
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	for _, group := range groups[:min(len(groups), it.Size(1, len(groups)))] {
		without := of[group][0]
		if it.Size(0, 1) == 1 {
			without = it.OneOf(r, of[group])
		}
		t.Run(group, func(t *testing.T) { failsWithout(t, without, r) })
	}
}

// areas lists the packages of the tests. This one comes first, because its matrices call
// every function; the others follow in an order that is drawn.
func areas(t *testing.T, r *rand.Rand) []string {
	t.Helper()
	folders, err := os.ReadDir("..")
	require.NoError(t, err)
	var others []string
	for _, folder := range folders {
		if folder.IsDir() && folder.Name() != "access" {
			others = append(others, "../"+folder.Name())
		}
	}
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return append([]string{"../access"}, others...)
}

// failsWithout runs the tests area by area without a permission, until one fails.
func failsWithout(t *testing.T, without recorder.Permission, r *rand.Rand) {
	t.Helper()
	for _, area := range areas(t, r) {
		run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-failfast", "-parallel=1", "-timeout=20m", fmt.Sprint("-shuffle=", r.Uint32()),
			"-skip="+flag.Lookup("test.skip").Value.String(), area)
		run.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
			return strings.HasPrefix(variable, stacktest.EnvRecord+"=") || strings.HasPrefix(variable, it.EnvLong+"=")
		})
		run.Env = append(run.Env, stacktest.EnvDeny+"="+without.String())
		said, err := run.CombinedOutput()
		if err == nil {
			continue
		}
		require.Contains(t, string(said), stacktest.Refused, "a test failed, but not for %q: %s", without, said)
		return
	}
	require.Fail(t, "every test passes without the permission", "%q", without)
}
