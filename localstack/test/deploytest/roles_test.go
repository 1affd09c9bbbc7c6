package deploytest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
	"lectern/localstack/test/stacktest"
)

// TestAFunctionIsHeldToItsRole takes a permission out of a deployed role: what needs it
// fails, and nothing else, until it is back. So all other tests here run under the roles
// of the template.
func TestAFunctionIsHeldToItsRole(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	create := func(status int) {
		s.Call(t, status, http.MethodPost, s.EventPath("/sessions/create"), map[string]any{"title": "Under a role"})
	}
	create(200)
	role := newRole(t, "lectern-us-sessionwrites")
	require.Contains(t, role.policy, "dynamodb:PutItem")
	role.put(strings.ReplaceAll(role.policy, "dynamodb:PutItem", "dynamodb:DescribeTable"))
	defer role.put(role.policy)
	create(500)
	s.Call(t, 200, http.MethodPost, s.EventPath("/sessions"), map[string]any{})
	role.put(role.policy)
	create(200)
}

// tablePolicy is the policy of a role that is for the table.
const tablePolicy = "table"

// role is a deployed function's role with what it may do with the table.
type role struct {
	t            *testing.T
	client       *iam.Client
	name, policy string
}

func newRole(t *testing.T, name string) role {
	t.Helper()
	regions, err := target.Emulated()
	require.NoError(t, err)
	config, err := regions["us"].Config(t.Context())
	require.NoError(t, err)
	r := role{t: t, client: iam.NewFromConfig(config), name: name}
	got, err := r.client.GetRolePolicy(t.Context(), &iam.GetRolePolicyInput{RoleName: &name, PolicyName: aws.String(tablePolicy)})
	require.NoError(t, err)
	r.policy, err = url.PathUnescape(*got.PolicyDocument)
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(r.policy)))
	return r
}

// put makes a policy that of the role.
func (r role) put(policy string) {
	r.t.Helper()
	_, err := r.client.PutRolePolicy(r.t.Context(), &iam.PutRolePolicyInput{RoleName: &r.name, PolicyName: aws.String(tablePolicy), PolicyDocument: &policy})
	require.NoError(r.t, err)
}
