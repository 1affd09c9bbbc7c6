package functions_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	documentFile = "root/openapi.json"
	routesFile   = "testdata/routes.golden.txt"
)

// golden compares got with a file, or with -update writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s is not what the routes say; see go test ./functions -update", file)
}

func document(t *testing.T) []byte {
	t.Helper()
	text, err := api.Document(functions.Groups)
	require.NoError(t, err)
	return append(text, '\n')
}

func operations() (all []api.Operation) {
	for _, group := range functions.Groups {
		all = append(all, group.Operations...)
	}
	return all
}

func TestTheDocumentIsTheGoldenOne(t *testing.T) { golden(t, documentFile, document(t)) }

// A group, its package and its Lambda have one name.
func TestEveryGroupHasThePackageAndTheMainOfItsName(t *testing.T) {
	names := map[string]bool{}
	for _, g := range functions.Groups {
		require.DirExists(t, g.Name)
		require.FileExists(t, "bootstrap/"+g.Name+"/main.go")
		require.False(t, names[g.Name], g.Name)
		names[g.Name] = true
	}
}

func TestTheRouteTableIsTheGoldenOne(t *testing.T) {
	var table strings.Builder
	for _, o := range operations() {
		fmt.Fprintf(&table, "%s %s %s %s\n", o.Method, o.Path, o.Scopes, o.Bucket)
	}
	golden(t, routesFile, []byte(table.String()))
}

func TestOperationIDsAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, o := range operations() {
		require.Regexp(t, `^[a-z][A-Za-z0-9]*$`, o.ID)
		require.Empty(t, seen[o.ID], "%s and %s %s have one id", seen[o.ID], o.Method, o.Path)
		seen[o.ID] = o.Method + " " + o.Path
	}
}

func TestScopesAndBucketsAreKnown(t *testing.T) {
	buckets := []ratelimit.Bucket{
		ratelimit.None, ratelimit.EntityReads, ratelimit.SessionWrites, ratelimit.AccountWrites, ratelimit.SchemaWrites,
		ratelimit.TranscriptionWrites, ratelimit.MediaWrites, ratelimit.EventManagementWrites, ratelimit.AwardWrites,
		ratelimit.Insights, ratelimit.LogExport,
	}
	for _, o := range operations() {
		require.Contains(t, buckets, o.Bucket, o.ID)
		require.NotEmpty(t, o.Scopes, o.ID)
		for _, scope := range o.Scopes {
			require.True(t, !o.Scopes.NeedToken() || slices.Contains(auth.AllScopes, scope), "%s: %s", o.ID, scope)
			// spec.md section 5 names the data requests among the operations without a limit.
			if strings.HasPrefix(string(scope), "write:") && o.ID != "createDataRequest" {
				require.NotEqual(t, ratelimit.None, o.Bucket, "%s writes without a rate limit", o.ID)
			}
		}
	}
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

func TestEveryPathParameterIsInTheInput(t *testing.T) {
	var described struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	require.NoError(t, json.Unmarshal(document(t), &described))
	for path, methods := range described.Paths {
		for method, operation := range methods {
			var have, want []string
			for _, p := range operation.Parameters {
				if p.In == "path" {
					have = append(have, p.Name)
				}
			}
			for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
				want = append(want, m[1])
			}
			require.ElementsMatch(t, want, have, "%s %s", method, path)
		}
	}
}

func TestEveryRouteIsInTheDocument(t *testing.T) {
	var described struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(document(t), &described))
	for _, o := range operations() {
		if !o.Scopes.IsPublic() {
			require.Contains(t, described.Paths[o.Path], strings.ToLower(o.Method), o.ID)
		}
	}
}
