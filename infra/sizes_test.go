package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sizes has the numbers of the documents about the size of a region, us, by name.
func sizes(t *testing.T) map[string]int {
	t.Helper()
	now, all := ofDefaults(t)["Lectern-us-Service"], ofEverything(t)["Lectern-us-Service"]
	then, whole := finished(t, nil), finished(t, everything(t))
	operations := 0
	for _, g := range finishedGroups(t) {
		operations += len(g.Operations)
	}
	return map[string]int{
		"now": len(now.Resources), "now, every option": len(all.Resources), "now, API": apiResources(bodyOf(t, now)),
		"functions": len(then.of("AWS::Lambda::Function")), "operations": operations, "finished": len(then.Resources),
		"finished, every option": len(whole.Resources), "finished, API": apiResources(bodyOf(t, then)),
	}
}

// sized lists the texts of the documents with such numbers: in each, a name in braces stands for the
// number.
var sized = []struct{ document, text string }{
	{"performance.md", "A template of the service has {now} resources; with every option {now, every option}. With all {functions} functions and " +
		"{operations} operations of the finished service it has {finished} resources (at most 200), with every option " +
		"{finished, every option} (at most 280), and the API {finished, API} resources (at most 250, `infra/finished_test.go`)."},
	{"operations.md", "| API Gateway, resources of an API | 300; the API has {now, API} |"},
	{"operations.md", "| CloudFormation, resources of a stack | 500, fixed; a service stack has {now}, with every option {now, every option} |"},
	{"decisions/0027-rest-api-and-not-http-api.md", "300 resources of any number of methods; {finished, API} for the finished service"},
}

// placeholder matches a name in braces.
var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// TestDocumentsHaveTheSizesOfTheTemplates: go test ./infra -update writes the numbers again.
func TestDocumentsHaveTheSizesOfTheTemplates(t *testing.T) {
	of := sizes(t)
	for _, s := range sized {
		file := "../docs/" + s.document
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want := placeholder.ReplaceAllStringFunc(s.text, func(name string) string {
			n, known := of[strings.Trim(name, "{}")]
			require.True(t, known, name)
			return strconv.Itoa(n)
		})
		pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(placeholder.ReplaceAllString(s.text, "\x00")), "\x00", "[0-9]+"))
		found := pattern.FindAllString(string(text), -1)
		require.Len(t, found, 1, "%s has no single place for %q", file, s.text)
		if *update {
			require.NoError(t, os.WriteFile(file, pattern.ReplaceAllLiteral(text, []byte(want)), 0o644))
			continue
		}
		require.Equal(t, want, found[0], "%s is not what the templates say; see go test ./infra -update", file)
	}
}
