package function

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/shared/layout"
)

func TestAFunctionWithoutALineInPermissionsIsNamed(t *testing.T) {
	unknown := functions.Groups[0]
	unknown.Name = "unknown"
	_, err := Specs(append(slices.Clone(functions.Groups), unknown))
	require.EqualError(t, err, "infra: unknown has no line in permissions")
}

// A statement allows each of its actions on each of its patterns, so only actions
// with the same patterns may share one.
func TestActionsShareAStatementOnlyWithTheSamePatterns(t *testing.T) {
	require.Equal(t, []statement{
		{actions: []string{"dynamodb:GetItem", "dynamodb:PutItem"}, patterns: []string{tenants}},
		{actions: []string{"dynamodb:UpdateItem"}, patterns: []string{limits, tenants}},
	}, statements([]permission{{"UpdateItem", tenants}, {"PutItem", tenants}, {"UpdateItem", limits}, {"GetItem", tenants}, {"PutItem", tenants}}))
}

// TestEveryItemIsPermittedToAFunction checks that a function may write under the first letter
// of each declared kind of item.
func TestEveryItemIsPermittedToAFunction(t *testing.T) {
	granted := map[string]bool{}
	for _, all := range declared {
		for _, p := range all.permissions {
			granted[p.pattern] = granted[p.pattern] || p.writes()
		}
	}
	for _, p := range layout.Keys {
		require.True(t, granted[p.Leading()], "no function may write a %s under %s", p.Name, p.Leading())
	}
}

// TestAFunctionFindsTheBucketByAVariable: the objects of a kind are a use each, and all uses of the
// bucket have the same variable.
func TestAFunctionFindsTheBucketByAVariable(t *testing.T) {
	s := Spec{uses: []use{keep("media", putObject), keep("recordings", getObject), publish}}
	require.Equal(t, "LECTERN_BUCKET", s.uses[0].variable())
	require.Equal(t, "LECTERN_BUCKET", s.uses[1].variable())
	require.True(t, s.usesBucket())
	require.True(t, s.usesBucket(putObject))
	require.False(t, Spec{uses: s.uses[1:]}.usesBucket(putObject))
	require.False(t, Spec{uses: []use{publish}}.usesBucket())
}
