package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
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

// listed gives the pattern of the keys that a statement allows to list; empty for another statement.
func listed(s map[string]any) string {
	condition, _ := s["Condition"].(map[string]any)
	keys, _ := condition["StringLike"].(map[string]any)
	prefix, _ := keys["s3:prefix"].(string)
	return prefix
}

// onItems are the actions whose requests name the partition keys they touch; the
// condition on these keys holds for no other.
var onItems = []string{
	"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:GetItem",
	"dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem",
}

// TestThePermissionsAreTheGoldenOnes: the file has what functions call themselves, on the table and on
// other parts of the region. In the file, the names of these parts are those in us.
func TestThePermissionsAreTheGoldenOnes(t *testing.T) {
	golden, err := os.ReadFile("testdata/permissions.golden.txt")
	require.NoError(t, err)
	want := strings.Split(strings.TrimSpace(string(golden)), "\n")
	for at, want := range map[string][]string{"us": want, "eu": inEurope(want)} {
		service := ofOptions(t)["Lectern-"+at+"-Service"]
		var lines []string
		for _, g := range grants(t, service) {
			name := strings.TrimPrefix(g.of, "lectern-"+at+"-")
			for _, action := range many(g.statement["Action"]) {
				switch g.policy {
				case "table":
					require.Contains(t, onItems, action)
					require.Regexp(t, ":table/lectern-"+at+"$", g.statement["Resource"])
					for _, pattern := range leadingKeys(g.statement) {
						lines = append(lines, name+"\t"+action.(string)+"\t"+pattern.(string))
					}
				case "calls":
					if prefix := listed(g.statement); prefix != "" {
						lines = append(lines, name+"\t"+action.(string)+"\t"+prefix)
						continue
					}
					for _, part := range many(g.statement["Resource"]) {
						lines = append(lines, name+"\t"+action.(string)+"\t"+partOf(t, service, part.(string)))
					}
				}
			}
		}
		slices.Sort(lines)
		require.Equal(t, want, lines)
	}
}

// partOf gives the name of a queue, a bus or a secret by what a policy says of it, and the pattern of
// the keys of objects.
func partOf(t *testing.T, service template, resource string) string {
	t.Helper()
	if of, pattern, ok := strings.Cut(resource, "/"); ok && (strings.Contains(of, ":s3:::") || strings.Contains(of, ":transcribe:")) {
		return pattern
	}
	if resource == "*" {
		return resource
	}
	id := strings.TrimSuffix(strings.Trim(resource, "${}"), ".Arn")
	for _, property := range []string{"QueueName", "Name"} {
		if name, ok := service.Resources[id].Properties[property].(string); ok {
			return name
		}
	}
	name, ok := service.Parameters[id]["Default"].(string)
	require.True(t, ok, resource)
	return strings.TrimPrefix(name, "/")
}

// The functions of the API share a log. Each writes into the streams that Lambda names after it,
// and so not into those of a function whose name begins with the same letters.
func TestEveryFunctionHasARoleAndStreamsOfItsOwn(t *testing.T) {
	service := ofDefaults(t)["Lectern-us-Service"]
	all := policies(t, service)
	delete(all, "sweeper-schedule") // The role of the schedule.
	require.Len(t, all, len(functions.Always()))
	for id, f := range service.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-us-")
		role := service.Resources[f.Properties["Role"].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)]
		require.Equal(t, f.Properties["FunctionName"], role.Properties["RoleName"], id)
		log := service.Resources[f.Properties["LoggingConfig"].(map[string]any)["LogGroup"].(map[string]any)["Ref"].(string)]
		group := "/lectern/us/api"
		if name == functions.Operator {
			group = "/lectern/us/operator"
		}
		if slices.ContainsFunc(events.Workers, func(w events.Worker) bool { return w.Name == name }) {
			group = "/lectern/us/workers"
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
