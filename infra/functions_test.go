package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
)

func environment(f resource) map[string]any {
	return f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
}

// TestNoFunctionAllowsLocalReceivers: the variable lets webhooks and sign-ins reach the machine of a function.
func TestNoFunctionAllowsLocalReceivers(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		for _, at := range []string{"us", "eu"} {
			functions := all["Lectern-"+at+"-Service"].of("AWS::Lambda::Function")
			require.NotEmpty(t, functions)
			for id, f := range functions {
				require.NotContains(t, environment(f), "LECTERN_LOCAL_RECEIVERS", id)
			}
		}
	}
}

func TestEveryGroupIsAFunctionAndSoAreTheOperatorAndTheWorkers(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		found := map[string]map[string]any{}
		for _, f := range ofDefaults(t)["Lectern-"+at+"-Service"].of("AWS::Lambda::Function") {
			found[strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-"+at+"-")] = f.Properties
			require.Equal(t, "provided.al2023", f.Properties["Runtime"])
			require.Equal(t, []any{"arm64"}, f.Properties["Architectures"])
			require.NotContains(t, f.Properties, "TracingConfig")
			require.NotContains(t, f.Properties, "ReservedConcurrentExecutions")
			require.Equal(t, at, environment(f)["LECTERN_REGION"])
			require.Equal(t, "lectern-"+at, environment(f)["LECTERN_TABLE"])
			require.NotContains(t, environment(f), "AWS_ENDPOINT_URL")
		}
		require.ElementsMatch(t, functions.Always(), slices.Collect(maps.Keys(found)))
	}
}

// What a function is given: memory in MB, how much of it Go may use, and seconds. The
// gateway waits for 29 seconds.
func TestEveryFunctionHasItsMemoryAndItsTime(t *testing.T) {
	small, large := []any{256.0, "224MiB", 28.0}, []any{512.0, "448MiB", 28.0}
	want := map[string][]any{
		"operator": {512.0, "448MiB", 50.0}, "ingester": {256.0, "224MiB", 60.0}, "publisher": {256.0, "224MiB", 60.0},
		"matcher": {512.0, "448MiB", 30.0}, "deliverer": {256.0, "224MiB", 60.0}, "sweeper": {256.0, "224MiB", 50.0},
		"dataworker": {1769.0, "1547MiB", 900.0},
	}
	for _, g := range functions.Groups {
		want[g.Name] = small
	}
	for _, name := range []string{
		"contacts", "contactwrites", "exhibitors", "exhibitorwrites", "participants",
		"sessions", "sessionwrites", "speakers", "sponsors", "sponsorwrites", "transcriptions",
	} {
		want[name] = large
	}
	want["awards"] = []any{1024.0, "896MiB", 28.0}
	for _, name := range []string{"agendaplanning", "insights", "reports", "dashboards", "mcp"} {
		want[name] = []any{1769.0, "1547MiB", 28.0}
	}
	for _, at := range []string{"us", "eu"} {
		given := map[string][]any{}
		for _, f := range ofDefaults(t)["Lectern-"+at+"-Service"].of("AWS::Lambda::Function") {
			name := strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-"+at+"-")
			given[name] = []any{f.Properties["MemorySize"], environment(f)["GOMEMLIMIT"], f.Properties["Timeout"]}
		}
		require.Equal(t, want, given)
	}
}

func TestOptionsReachTheFunctions(t *testing.T) {
	for id, f := range ofEverything(t)["Lectern-us-Service"].of("AWS::Lambda::Function") {
		require.Equal(t, "https://admin.example.org", environment(f)["LECTERN_ADMIN_URL"], id)
		require.Equal(t, "10000", environment(f)["LECTERN_DAILY_WRITES"], id)
		require.Equal(t, "30000", environment(f)["LECTERN_SEARCH_UNITS"], id)
		require.Equal(t, 20.0, f.Properties["ReservedConcurrentExecutions"], id)
	}
}

// TestWorkersLinkToTheAddressOfTheAPI: the bodies of webhooks have links, and no other function is
// told the address. With a domain, the links have its host, without the stage.
func TestWorkersLinkToTheAddressOfTheAPI(t *testing.T) {
	const variable = "LECTERN_API_URL"
	below := func(at string) string {
		api := ofDefaults(t)["Lectern-"+at+"-Service"].id(t, "AWS::ApiGateway::RestApi")
		return "https://${" + api + "}.execute-api." + inAWS[at] + ".${AWS::URLSuffix}/live"
	}
	for _, w := range []struct {
		of      template
		address string
	}{
		{ofDefaults(t)["Lectern-us-Service"], below("us")}, {ofDefaults(t)["Lectern-eu-Service"], below("eu")},
		{ofEverything(t)["Lectern-us-Service"], "https://api.example.org"}, {ofEverything(t)["Lectern-eu-Service"], "https://eu.example.org"},
	} {
		told := map[string]any{}
		for _, f := range w.of.of("AWS::Lambda::Function") {
			if address, ok := environment(f)[variable]; ok {
				_, name, _ := strings.Cut(strings.TrimPrefix(f.Properties["FunctionName"].(string), "lectern-"), "-")
				told[name] = written(address)
			}
		}
		require.Equal(t, map[string]any{events.Matcher: w.address, events.Dataworker: w.address}, told)
	}
}

// triesOf gives what Lambda does with an event that a function has failed to handle.
func triesOf(t *testing.T, service template, name string) map[string]any {
	t.Helper()
	for _, config := range service.of("AWS::Lambda::EventInvokeConfig") {
		if strings.Contains(plain(t, config.Properties["FunctionName"]), "Function"+name) {
			return config.Properties
		}
	}
	require.Fail(t, "no EventInvokeConfig", name)
	return nil
}

func TestTheOperatorIsNotTriedAgain(t *testing.T) {
	require.Equal(t, 0.0, triesOf(t, ofDefaults(t)["Lectern-us-Service"], "operator")["MaximumRetryAttempts"])
}

// An emulator gets the same templates but for the address that functions are told
// and what they are built for.
func TestAnEmulatorGetsWhatAWSGets(t *testing.T) {
	const endpoint = "http://127.0.0.1:4566"
	emulated := synthesized(t, map[string]any{"regions": "us", "endpoint": endpoint, "arch": "x86_64"})
	for name, stack := range emulated {
		onAWS := ofDefaults(t)[name]
		require.Len(t, stack.Resources, len(onAWS.Resources), name)
		for id, r := range stack.Resources {
			if r.Type == "AWS::Lambda::Function" {
				require.Equal(t, endpoint, environment(r)["AWS_ENDPOINT_URL"], id)
				require.Equal(t, []any{"x86_64"}, r.Properties["Architectures"], id)
				require.NotEqual(t, onAWS.Resources[id].Properties["Code"], r.Properties["Code"], id)
				delete(environment(r), "AWS_ENDPOINT_URL")
				for _, same := range []string{"Architectures", "Code"} {
					r.Properties[same] = onAWS.Resources[id].Properties[same]
				}
				r.Metadata = onAWS.Resources[id].Metadata
			}
			require.Equal(t, onAWS.Resources[id], r, id)
		}
	}
}
