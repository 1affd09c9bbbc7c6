// Package agenda owns the means to plan an event's agenda: scheduling rules and personas
// (gaps.md section 4). Both are small records of the event (package resource).
package agenda

import (
	"encoding/json"

	"lectern/shared/apierr"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Rule is a rule that the schedule of an event should keep.
type Rule struct {
	resource.Header
	EventID int64  `json:"event_id" doc:"The event's id."`
	Name    string `json:"name" doc:"The rule's name."`
	Type    string `json:"type" doc:"What the rule asks for; it cannot change."`
	Config  Config `json:"config" doc:"The rule's parameters."`
	Enabled bool   `json:"enabled" doc:"Whether the rule counts."`
}

// RuleDraft has the properties of a rule that a client may write.
type RuleDraft struct {
	Name    wire.Opt[string] `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The rule's name."`
	Type    wire.Opt[string] `json:"type,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"What the rule asks."`
	Config  wire.Opt[Config] `json:"config,omitzero" nullable:"false" doc:"The rule's parameters, replaced as a whole."`
	Enabled wire.Opt[bool]   `json:"enabled,omitzero" nullable:"false" doc:"Whether the rule counts; true by default."`
}

// Rules is the kind of the rules.
var Rules = &resource.Kind[Rule, *Rule, RuleDraft]{Name: "rule", Title: "Rule", Many: "rules", Max: 200}

// Check refuses parameters that are too long, whatever the rule's type.
func (d RuleDraft) Check() error { return d.Config.Value.checkLength() }

// Apply writes the draft into the rule.
func (d RuleDraft) Apply(e resource.Edit[*Rule]) error {
	r := e.Record
	if e.New {
		r.EventID, r.Type, r.Config, r.Enabled = e.Event, d.Type.Value, Config(`{}`), true
	}
	if d.Type.Sent && d.Type.Value != r.Type {
		return apierr.Invalid("type", "type of a rule cannot change; it is %q.", r.Type)
	}
	d.Name.Into(&r.Name)
	d.Config.Into(&r.Config)
	d.Enabled.Into(&r.Enabled)
	if !e.New && !d.Config.Sent {
		return nil // An older release may have taken the parameters.
	}
	return r.Config.check(r.Type)
}

// Config is the JSON object of a rule's parameters, as sent.
type Config json.RawMessage
