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

// template is the part of a CloudFormation template that resources may be taken from. Its
// other parts stay as they are.
type template map[string]json.RawMessage

// strip takes the resources of the types out of the templates in a folder.
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

// stripFile takes the resources of the types out of a template.
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
	var gone []string
	for id, resource := range resources {
		if kind, _ := resource["Type"].(string); slices.Contains(types, kind) {
			gone = append(gone, id)
			delete(resources, id)
		}
	}
	if len(gone) == 0 {
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
