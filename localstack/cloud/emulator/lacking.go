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
var Lacking = []string{
	"AWS::Backup::BackupSelection", "AWS::Budgets::Budget", "AWS::GuardDuty::MalwareProtectionPlan", "AWS::WAFv2::WebACLAssociation",
}

// Types of resources that Deploy changes in the templates, or leaves out by their properties.
const (
	// subscriptions of logs: ministack looks for the words of a pattern in a line, and knows no
	// pattern of fields, so Deploy takes the pattern away. The function then gets every line of the
	// log.
	subscriptions = "AWS::Logs::SubscriptionFilter"
	// alarms on an expression of metrics: ministack refuses them, so Deploy leaves them out.
	alarms = "AWS::CloudWatch::Alarm"
	// queuePolicies refuse calls without TLS. Ministack has no TLS and follows the policies, so Deploy
	// takes this statement away.
	queuePolicies = "AWS::SQS::QueuePolicy"
	// mappings of the stream: ministack takes a report of failed records for a success, and the
	// records would be lost. So Deploy tells the function to fail as a whole.
	mappings = "AWS::Lambda::EventSourceMapping"
	// roles allow the actions of SQS: for ministack a call with several messages is an action of its
	// own, and for AWS it is not. So Deploy allows both.
	roles = "AWS::IAM::Role"
)

// batches has the actions that ministack asks for in a call with several messages, by the action that
// AWS asks for.
var batches = map[string]string{"sqs:SendMessage": "sqs:SendMessageBatch", "sqs:DeleteMessage": "sqs:DeleteMessageBatch"}

// functionType has the functions. Those with keys send webhooks or call identity providers, and the tests have receivers and providers on
// this machine.
const (
	functionType   = "AWS::Lambda::Function"
	keysVariable   = "LECTERN_KEYS"
	localReceivers = "LECTERN_LOCAL_RECEIVERS"
)

// scannerVariable tells a function that GuardDuty tags the objects of the bucket. Ministack has no GuardDuty, and no
// upload would get a verdict. So Deploy takes the variable away.
const scannerVariable = "LECTERN_SCANNER"

// wholeBatches is the variable that tells a reader of a stream to fail as a whole.
const wholeBatches = "LECTERN_WHOLE_BATCHES"

// template is the part of a CloudFormation template that resources may be taken from. Its
// other parts stay as they are.
type template map[string]json.RawMessage

// object is a value in a template.
type object = map[string]any

// resources are the resources of a template by their ids.
type resources map[string]object

// strip takes the resources of the types out of the templates in a folder, and changes what
// ministack cannot take or follows differently than AWS.
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
	var all resources
	if err := json.Unmarshal(whole["Resources"], &all); err != nil {
		return err
	}
	changed := false
	for id, r := range all {
		kind, _ := r["Type"].(string)
		if slices.Contains(types, kind) {
			changed = true
			delete(all, id)
			continue
		}
		changed = all.change(id, kind) || changed
	}
	if !changed {
		return nil
	}
	whole["Resources"], err = json.Marshal(all)
	if err != nil {
		return err
	}
	if text, err = json.Marshal(whole); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

// change changes a resource of a type for ministack, or another resource because of it. It reports
// whether there was anything to change.
func (all resources) change(id, kind string) bool {
	properties, _ := all[id]["Properties"].(object)
	switch {
	case kind == subscriptions && properties != nil:
		properties["FilterPattern"] = ""
		return true
	case kind == alarms && properties["Metrics"] != nil:
		delete(all, id)
		return true
	case kind == queuePolicies:
		return all.openQueue(id, properties)
	case kind == mappings && properties["StartingPosition"] != nil:
		return all.failWhole(properties)
	case kind == roles:
		return allowBatches(properties)
	case kind == functionType:
		return changeFunction(variablesOf(properties))
	}
	return false
}

// allowBatches allows a role to send and delete several messages in a call if it may do so with one.
func allowBatches(role object) (changed bool) {
	policies, _ := role["Policies"].([]any)
	for _, p := range policies {
		policy, _ := p.(object)
		document, _ := policy["PolicyDocument"].(object)
		statements, _ := document["Statement"].([]any)
		for _, s := range statements {
			statement, _ := s.(object)
			allowed, several := statement["Action"].([]any)
			if !several {
				allowed = []any{statement["Action"]}
			}
			all := allowed
			for _, action := range allowed {
				name, _ := action.(string)
				if batch, ok := batches[name]; ok {
					all = append(all, batch)
				}
			}
			if len(all) > len(allowed) {
				statement["Action"], changed = all, true
			}
		}
	}
	return changed
}

// openQueue takes the statements that refuse calls without TLS out of the policy of a queue, and the
// policy itself if no statement is left.
func (all resources) openQueue(id string, properties object) bool {
	document, _ := properties["PolicyDocument"].(object)
	before, _ := document["Statement"].([]any)
	var kept []any
	for _, s := range before {
		statement, _ := s.(object)
		condition, _ := statement["Condition"].(object)
		secure, _ := condition["Bool"].(object)
		if statement["Effect"] != "Deny" || secure["aws:SecureTransport"] == nil {
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		delete(all, id)
	} else if document != nil {
		document["Statement"] = kept
	}
	return len(kept) < len(before)
}

// failWhole tells the function of a mapping to fail as a whole.
func (all resources) failWhole(mapping object) bool {
	named, _ := mapping["FunctionName"].(object)
	id, _ := named["Ref"].(string)
	properties, _ := all[id]["Properties"].(object)
	return set(variablesOf(properties), "", wholeBatches)
}

// variablesOf returns the environment of a function; nil without one.
func variablesOf(function object) object {
	environment, _ := function["Environment"].(object)
	variables, _ := environment["Variables"].(object)
	return variables
}

// changeFunction changes the environment of a function for ministack.
func changeFunction(variables object) bool {
	_, scans := variables[scannerVariable]
	delete(variables, scannerVariable)
	return set(variables, keysVariable, localReceivers) || scans
}

// set sets a variable to 1 in an environment that has another one, or in any for an empty name.
func set(variables object, with, name string) bool {
	if variables == nil || with != "" && variables[with] == nil {
		return false
	}
	variables[name] = "1"
	return true
}
