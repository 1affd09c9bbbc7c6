package emulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"lectern/localstack/local/stack"
)

// testAccount and everyOption are the account and the file of the app's tests with every option
// of cdk.json.
const (
	testAccount = "123456789012"
	everyOption = "infra/testdata/everything.json"
)

// context returns the values of cdk.json with those for an emulator.
func (a App) context(endpoint, arch, functions string) (map[string]any, error) {
	var file struct{ Context map[string]any }
	if err := a.read("cdk.json", &file); err != nil {
		return nil, err
	}
	all := file.Context
	if a.EveryOption {
		options, err := a.options()
		if err != nil {
			return nil, err
		}
		maps.Copy(all, options)
	}
	all["endpoint"], all["arch"], all["functions"] = endpoint, arch, functions
	// Without it, each synthesis copies 600 MB of functions to cdk.out.
	all["aws:cdk:disable-asset-staging"] = true
	return all, nil
}

// options returns every option of the app's tests, in the emulator's account and regions. The
// restored table and the zone of the host are left out: both exist before a service.
func (a App) options() (map[string]any, error) {
	var all map[string]any
	if err := a.read(everyOption, &all); err != nil {
		return nil, err
	}
	for name, aws := range stack.Regions {
		region, _ := all[name].(map[string]any)
		before, _ := region["awsRegion"].(string)
		if before == "" {
			return nil, fmt.Errorf("emulator: %s has no awsRegion for %s", everyOption, name)
		}
		delete(region, "restoredTable")
		delete(region, "restoredStreamArn")
		if domain, ok := region["domain"].(map[string]any); ok {
			delete(domain, "hostedZoneId")
			delete(domain, "hostedZoneName")
		}
		text, err := json.Marshal(region)
		if err != nil {
			return nil, err
		}
		var moved map[string]any
		// The two AWS regions change places: the copy of the backup stays in another one.
		if err := json.Unmarshal([]byte(strings.NewReplacer(before, aws, aws, before).Replace(string(text))), &moved); err != nil {
			return nil, err
		}
		all[name] = moved
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	var moved map[string]any
	err = json.Unmarshal([]byte(strings.ReplaceAll(string(text), testAccount, account)), &moved)
	return moved, err
}

// read reads a JSON file of the project.
func (a App) read(name string, into any) error {
	text, err := os.ReadFile(filepath.Join(a.Root, name)) //nolint:gosec // a file of the project
	if err != nil {
		return fmt.Errorf("emulator: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("emulator: %s: %w", name, err)
	}
	return nil
}
