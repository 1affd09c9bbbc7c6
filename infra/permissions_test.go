package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions"
)

// policies gives the statements of each function's role, by the function's name.
func policies(t *testing.T, service template) map[string][]map[string]any {
	t.Helper()
	all := map[string][]map[string]any{}
	for _, g := range grants(t, service) {
		if at, name, ok := strings.Cut(strings.TrimPrefix(g.of, "lectern-"), "-"); ok && (at == "us" || at == "eu") && g.policy != "trust" {
			all[name] = append(all[name], g.statement)
		}
	}
	return all
}

// leadingKeys are the key patterns of a statement.
func leadingKeys(s map[string]any) []any {
	condition, _ := s["Condition"].(map[string]any)
	keys, _ := condition["ForAllValues:StringLike"].(map[string]any)
	return many(keys["dynamodb:LeadingKeys"])
}

// onItems are the actions whose requests name the partition keys they touch; the
// condition on these keys holds for no other.
var onItems = []string{
	"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:GetItem",
	"dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem",
}

func TestThePermissionsAreTheGoldenOnes(t *testing.T) {
	golden, err := os.ReadFile("testdata/permissions.golden.txt")
	require.NoError(t, err)
	for _, at := range []string{"us", "eu"} {
		var lines []string
		for name, statements := range policies(t, ofDefaults(t)["Lectern-"+at+"-Service"]) {
			for _, s := range statements {
				for _, action := range many(s["Action"]) {
					if !strings.Contains(action.(string), "dynamodb:") {
						continue
					}
					require.Contains(t, onItems, action)
					require.Regexp(t, ":table/lectern-"+at+"$", s["Resource"])
					for _, pattern := range leadingKeys(s) {
						lines = append(lines, name+"\t"+action.(string)+"\t"+pattern.(string))
					}
				}
			}
		}
		slices.Sort(lines)
		require.Equal(t, strings.Split(strings.TrimSpace(string(golden)), "\n"), lines)
	}
}

// The functions of the API share a log. Each writes into the streams that Lambda names after it,
// and so not into those of a function whose name begins with the same letters.
func TestEveryFunctionHasARoleAndStreamsOfItsOwn(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	all := policies(t, service)
	require.Len(t, all, len(functions.Names()))
	for id, f := range service.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-us-")
		role := service.Resources[f.Properties["Role"].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)]
		require.Equal(t, f.Properties["FunctionName"], role.Properties["RoleName"], id)
		log := service.Resources[f.Properties["LoggingConfig"].(map[string]any)["LogGroup"].(map[string]any)["Ref"].(string)]
		group, own := map[string]string{"operator": "/lectern/us/operator", "ingester": "/lectern/us/workers"}[name]
		if !own {
			group = "/lectern/us/api"
		}
		require.Equal(t, group, log.Properties["LogGroupName"], id)
		logging := f.Properties["LoggingConfig"].(map[string]any)
		require.Equal(t, []any{"JSON", "WARN", nil}, []any{logging["LogFormat"], logging["SystemLogLevel"], logging["ApplicationLogLevel"]}, id)
		logs := 0
		for _, s := range all[name] {
			if strings.Contains(plain(t, s["Action"]), "logs:") {
				logs++
				require.Equal(t, []any{"logs:CreateLogStream", "logs:PutLogEvents"}, many(s["Action"]))
				require.Contains(t, plain(t, s["Resource"]), ":log-group:"+group+":log-stream:*/lectern-us-"+name+`[*"`)
			}
		}
		require.Equal(t, 1, logs, name)
	}
}
