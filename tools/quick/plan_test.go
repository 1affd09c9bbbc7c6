package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/localstack/test/stacktest"
)

// project is a part of the project's packages.
var project = []pkg{
	{"lectern/events/ingester", "events/ingester", nil},
	{"lectern/functions", "functions", []string{"lectern/functions/sessions"}},
	{"lectern/functions/sessions", "functions/sessions", []string{"lectern/shared/session"}},
	{"lectern/infra", "infra", []string{"lectern/functions"}},
	{"lectern/infra/observe", "infra/observe", nil},
	{"lectern/localstack/local/stack", "localstack/local/stack", []string{"lectern/functions", "lectern/shared/session"}},
	{"lectern/localstack/test/it", "localstack/test/it", nil},
	{"lectern/localstack/test/it/people", "localstack/test/it/people", []string{"lectern/localstack/test/it"}},
	{"lectern/shared/session", "shared/session", nil},
}

// commands are the steps of a change of files.
func commands(files ...string) (all []string) {
	for _, s := range plan(files, project) {
		all = append(all, s.String())
	}
	return all
}

const marked = stacktest.EnvMarked + "=1 go test -vet=off -parallel 4 ./localstack/test/it/..."

func TestAPlanRunsWhatAChangeTouches(t *testing.T) {
	require.Empty(t, commands("README.md", "docs/performance.md"))
	require.Equal(t, []string{"README.md"}, unchecked([]string{"README.md", "go.mod", "cdk.json", "infra/app.go"}, project))
	require.Equal(t, []string{"go vet ./...", marked}, commands("go.sum"))
	require.Equal(t, []string{"go vet lectern/infra", "go test -vet=off lectern/infra"}, commands("cdk.json"))
	require.Equal(t, []string{
		"go vet lectern/functions/sessions", "go test -vet=off lectern/functions lectern/functions/sessions",
		"go test -vet=off -parallel 4 lectern/localstack/test/it/sessions",
	}, commands("functions/sessions/get.go"))
	require.Equal(t, []string{
		"go vet lectern/localstack/local/stack lectern/shared/session", "go test -vet=off lectern/functions/sessions lectern/shared/session", marked,
	}, commands("shared/session/testdata/one.json"))
	require.Equal(t, []string{
		"go vet lectern/functions lectern/infra lectern/localstack/local/stack", "go test -vet=off lectern/functions lectern/infra",
	}, commands("functions/testdata/routes.golden.txt"))
	require.Equal(t, []string{"go vet lectern/localstack/test/it/people", "go test -vet=off -parallel 4 lectern/localstack/test/it/people"},
		commands("localstack/test/it/people/items_test.go"))
	require.Equal(t, []string{
		"go vet lectern/events/ingester",
		"go test -vet=off lectern/events/ingester lectern/infra lectern/localstack/test/it/changes lectern/localstack/test/it/webhooks",
		"go test -vet=off -parallel 4 lectern/localstack/test/it/access lectern/localstack/test/it/logs",
	}, commands("events/ingester/batch.go"))
	require.Equal(t, []string{"go vet lectern/infra/observe", "go test -vet=off lectern/infra lectern/infra/observe"},
		commands("infra/observe/alarms.go"))
	require.Equal(t, []string{"go vet lectern/localstack/test/it lectern/localstack/test/it/people", marked},
		commands("localstack/test/it/client.go"))
}

// TestTheTestsOfManyImportersAreLeftOut: the importers must still compile.
func TestTheTestsOfManyImportersAreLeftOut(t *testing.T) {
	all := []pkg{{"lectern/shared/table", "shared/table", nil}}
	for i := range mostImporters + 1 {
		name := fmt.Sprintf("shared/p%02d", i)
		all = append(all, pkg{"lectern/" + name, name, []string{"lectern/shared/table"}})
	}
	few := plan([]string{"shared/table/get.go"}, all[:mostImporters+1])
	require.Len(t, few[1].args, 2+1+mostImporters)
	many := plan([]string{"shared/table/get.go"}, all)
	require.Len(t, many[0].args, 1+1+mostImporters+1)
	require.Equal(t, "go test -vet=off lectern/shared/table", many[1].String())
	require.Equal(t, marked, many[2].String())
}

func TestEveryFunctionHasAnArea(t *testing.T) {
	for _, name := range functions.Names() {
		require.NotEmpty(t, areas[name], name)
		for _, area := range areas[name] {
			require.DirExists(t, "../../"+tests+"/"+area, name)
		}
	}
	require.Len(t, areas, len(functions.Names()))
}
