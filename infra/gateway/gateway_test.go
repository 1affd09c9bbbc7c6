package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/shared/api"
)

// A status that is replaced is one that the error has, but for the timeout, which
// has no error of its own.
func TestTheStatusOfAnOwnAnswerIsTheErrors(t *testing.T) {
	for _, a := range ownAnswers() {
		if a.status != 0 && a.status != http.StatusGatewayTimeout {
			require.Equal(t, a.err.Status, a.status, a.kind)
		}
	}
}

func group(name string, paths ...string) api.Group {
	g := api.Group{Name: name}
	for _, p := range paths {
		g.Operations = append(g.Operations, api.Operation{Method: "GET", Path: p})
	}
	return g
}

func TestPathsThatTheGatewayCannotHoldAreNamed(t *testing.T) {
	require.NoError(t, CheckPaths(functions.Groups))
	err := CheckPaths([]api.Group{
		group(root, "/"), group("a", "/a/{id}", "/a/{id}/b", "/a/new/{name}"), group("b", "/a/{other}/c", "/a/{id}"),
	})
	require.EqualError(t, err, "infra: /a/{other}/c has {other} where another path has {id}\ninfra: GET /a/{id} is declared by a and by b")
	require.EqualError(t, CheckPaths(nil), "infra: there is no group root")
}
