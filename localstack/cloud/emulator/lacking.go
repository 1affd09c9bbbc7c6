package emulator

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Lacking lists the types of resources that the app declares and ministack refuses. Deploy
// leaves them out of the templates, so that they do not decide what the app declares.
var Lacking = []string{"AWS::Backup::BackupSelection", "AWS::Budgets::Budget", "AWS::WAFv2::WebACLAssociation"}

// subscriptions is the type of the subscriptions of logs. Ministack looks for the words of a
// pattern in a line, and knows no pattern of fields, so Deploy takes the pattern away. The
// function then gets every line of the log.
const subscriptions = "AWS::Logs::SubscriptionFilter"

// template is the part of a CloudFormation template that resources may be taken from. Its
// other parts stay as they are.
type template map[string]json.RawMessage

// strip takes the resources of the types out of the templates in a folder, and the patterns out of
// subscriptions.
func strip(folder string, types []string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.template.json"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := stripFile(name, types); err != nil {
			return fmt.Errorf("emulator: %s: %w", name, err)
		}
	}
	return nil
}

// stripFile does for a template what strip does for all.
func stripFile(name string, types []string) error {
	text, err := os.ReadFile(name) //nolint:gosec // a file of the app, written just now
	if err != nil {
		return err
	}
	var whole template
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}
	var resources map[string]map[string]any
	if err := json.Unmarshal(whole["Resources"], &resources); err != nil {
		return err
	}
	changed := false
	for id, resource := range resources {
		kind, _ := resource["Type"].(string)
		if slices.Contains(types, kind) {
			changed = true
			delete(resources, id)
		}
		if properties, ok := resource["Properties"].(map[string]any); ok && kind == subscriptions {
			changed, properties["FilterPattern"] = true, ""
		}
	}
	if !changed {
		return nil
	}
	whole["Resources"], err = json.Marshal(resources)
	if err != nil {
		return err
	}
	if text, err = json.Marshal(whole); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}
