package it_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/recorder"
	"lectern/localstack/stacktest"
)

// permissionsFile lists what the roles of the functions allow, as it is deployed.
const permissionsFile = "../../infra/testdata/permissions.golden.txt"

// TestNoFunctionHasAPermissionTooMany takes from a function one of its permissions,
// drawn, and runs the tests in an order that is drawn too: the first one of those that
// call the function and need it must fail. Tests that do not call it cannot. The short
// size takes from one function what each request needs, so that a test soon fails.
func TestNoFunctionHasAPermissionTooMany(t *testing.T) {
	stacktest.NeedsBinaries(t)
	seed := seeded(t)
	all, err := recorder.Read(permissionsFile)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	of := map[string][]recorder.Permission{}
	for _, p := range all {
		of[p.Group] = append(of[p.Group], p)
	}
	groups := slices.Sorted(maps.Keys(of))
	r := source(seed, 0)
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	for _, group := range groups[:min(len(groups), sized(1, len(groups)))] {
		without := of[group][0]
		if sized(0, 1) == 1 {
			without = oneOf(r, of[group])
		}
		t.Run(group, func(t *testing.T) { failsWithout(t, without, r.Uint32()) })
	}
}

// failsWithout runs the tests without a permission, until one fails.
func failsWithout(t *testing.T, without recorder.Permission, order uint32) {
	t.Helper()
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.failfast", "-test.timeout=20m", fmt.Sprint("-test.shuffle=", order),
		"-test.skip="+flag.Lookup("test.skip").Value.String())
	run.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, stacktest.EnvRecord+"=") || strings.HasPrefix(variable, envLong+"=")
	})
	run.Env = append(run.Env, stacktest.EnvDeny+"="+without.String())
	said, err := run.CombinedOutput()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, "every test passes without %q", without)
	require.Contains(t, string(said), stacktest.Refused, "a test failed, but not for %q: %s", without, said)
}
