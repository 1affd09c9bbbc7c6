package party

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/settings"
	"lectern/shared/wire"
)

// Draft is the part of a party that a client may write, on create, update and bulk. Decode
// reads the standard fields, which the struct does not name. An absent property leaves the
// stored value; null clears the value.
type Draft struct {
	UpdatedAt    wire.Opt[wire.Time]              `json:"updated_at,omitzero" nullable:"false" doc:"On an update, the record's updated_at as last fetched; a stale one is a 409."`
	CustomFields wire.Opt[map[string]any]         `json:"custom_fields,omitzero" nullable:"false" doc:"Values by the field's internal name; null clears one."`
	Translations wire.Opt[field.TranslationDraft] `json:"translations,omitzero" nullable:"false" doc:"Texts by language and field; needs the translated_fields feature."`

	// Existing is the id of the record that a create gives the role to, if the draft names
	// the record.
	Existing string `json:"-"`

	values map[string]sent
	// refused is the error of standard fields that contradict each other; nil if they agree.
	refused error
	_       struct{} `json:"-" additionalProperties:"true"`
}

// sent is a standard field as the client sent it, with the name that the client used.
type sent struct {
	wire.Opt[string]
	name string
}

// Text returns the sent value of a standard field.
func (d *Draft) Text(name string) wire.Opt[string] { return d.values[name].Opt }

// SetText replaces the sent value of a standard field.
func (d *Draft) SetText(name, text string) {
	d.values[name] = sent{wire.Some(text), d.values[name].name}
}

// Decode reads the standard fields out of a body that has passed its schema. Two names of a
// field with different values are refused later, by the check of the draft: an error here
// would not name the field.
func (d *Draft) Decode(k *Kind, body []byte) error {
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(body, &properties); err != nil {
		return err
	}
	d.values = map[string]sent{}
	for _, name := range k.Fields {
		if err := d.decode(name, name, properties); err != nil {
			return err
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(k.Aliases)) {
		if err := d.decode(alias, k.Aliases[alias], properties); err != nil {
			return err
		}
	}
	return nil
}

func (d *Draft) decode(name, of string, properties map[string]json.RawMessage) error {
	text, ok := properties[name]
	if !ok {
		return nil
	}
	value := sent{name: name}
	if number, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		value.Opt = wire.Some(strconv.FormatInt(number, 10)) // A country by its number.
	} else if err := json.Unmarshal(text, &value.Opt); err != nil {
		return fmt.Errorf("party: decode %s: %w", name, err)
	}
	if before, both := d.values[of]; both && before.Opt != value.Opt {
		d.refused = apierr.Invalid(name, "%s and %s must be the same when both are sent.", name, of)
	}
	d.values[of] = value
	return nil
}

// edit is a draft with the settings that say how to apply it.
type edit struct {
	caller *auth.Caller
	set    *settings.Snapshot
	draft  *Draft
	kind   *Kind
}

// check refuses a draft that no stored value makes right.
func (e edit) check() error {
	if e.draft.refused != nil {
		return e.draft.refused
	}
	trial := Party{Body: &Body{Values: map[string]string{}}, Association: &Association{}}
	return e.apply(trial, wire.Time{})
}

// checkFeatures returns the 403 of a draft that needs a feature the event lacks.
func (e edit) checkFeatures() error {
	if e.draft.Translations.Sent {
		return e.caller.Event.AllowsTranslations()
	}
	return nil
}

// apply writes the draft into p, a copy that belongs to the edit.
func (e edit) apply(p Party, now wire.Time) error {
	for _, name := range slices.Sorted(maps.Keys(e.draft.values)) {
		value, err := e.standard(name)
		if err != nil {
			return err
		}
		if p.Values[name] = value; value == "" {
			delete(p.Values, name)
		}
	}
	if err := e.custom(p, now); err != nil {
		return err
	}
	return e.translate(p)
}

// standard returns the value of a standard field as stored; empty clears the field.
func (e edit) standard(name string) (string, error) {
	sent := e.draft.values[name]
	d, _ := e.set.Fields.Named(e.kind.Module, name)
	if sent.Value == "" {
		return "", nil
	}
	if d.Type == field.Countries {
		code, ok := field.CountryCode(sent.Value)
		if !ok {
			return "", apierr.Invalid(sent.name, "%s must be a code of ISO 3166-1 or the English name of a country.", sent.name)
		}
		return code, nil
	}
	_, err := d.Accept(sent.Value, nil)
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) {
		return "", apierr.Invalid(sent.name, "%s", strings.ReplaceAll(refused.Message, name, sent.name))
	}
	if d.Type == field.File && !strings.HasPrefix(strings.ToLower(sent.Value), "https://") {
		return "", apierr.Invalid(sent.name, "%s must be an https address.", sent.name)
	}
	return sent.Value, err
}

// custom writes custom fields: fields of the organization into the record, fields of the
// event into the association.
func (e edit) custom(p Party, now wire.Time) error {
	if !e.draft.CustomFields.Sent {
		return nil
	}
	all, _, err := e.set.Fields.Apply(e.kind.Module, joint(p.CustomFields, p.Association.CustomFields),
		e.draft.CustomFields.Value, Location(e.caller), now)
	if err != nil {
		return err
	}
	p.CustomFields, p.Association.CustomFields = divided(e.set.Fields, all, p.Association.CustomFields)
	return nil
}

// translate writes translations into the record or the association, beside the values of
// their fields.
func (e edit) translate(p Party) error {
	if !e.draft.Translations.Sent {
		return nil
	}
	all, err := e.set.Fields.Translate(e.kind.Module, texts(p), e.draft.Translations.Value)
	if err != nil {
		return err
	}
	local := p.Association.Translations
	p.Translations, p.Association.Translations = field.Translations{}, field.Translations{}
	for language, texts := range all {
		record, ofEvent := divided(e.set.Fields, texts, local[language])
		if len(record) > 0 {
			p.Translations[language] = record
		}
		if len(ofEvent) > 0 {
			p.Association.Translations[language] = ofEvent
		}
	}
	return nil
}

// relate replaces the relations. A relation of a contact that the account had keeps the
// times, except the time of an update if the relation changes.
func (a *Association) relate(related []Relation, now wire.Time) {
	for i := range related {
		r := &related[i]
		r.CreatedAt, r.UpdatedAt = now, now
		for _, was := range a.Relations {
			if was.ContactID == r.ContactID {
				r.CreatedAt = was.CreatedAt
				if was.IsPrimary == r.IsPrimary {
					r.UpdatedAt = was.UpdatedAt
				}
			}
		}
	}
	a.Relations = related
}

// texts returns all translations of a party.
func texts(p Party) field.Translations {
	all := field.Translations{}
	maps.Copy(all, p.Translations)
	if p.Association == nil {
		return all
	}
	for language, texts := range p.Association.Translations {
		all[language] = joint(all[language], texts)
	}
	return all
}

// joint returns the entries of a record and its association together.
func joint[V any](record, ofEvent map[string]V) map[string]V {
	all := make(map[string]V, len(record)+len(ofEvent))
	maps.Copy(all, record)
	maps.Copy(all, ofEvent)
	return all
}

// divided splits entries by field id between record and association: entries of the event's
// fields belong to the association. An entry of an unknown field stays in its item.
func divided[V any](fields *field.Set, all, was map[string]V) (record, ofEvent map[string]V) {
	record, ofEvent = map[string]V{}, map[string]V{}
	for id, v := range all {
		d, known := fields.Get(id)
		_, local := was[id]
		if known && d.Scope == field.ScopeEvent || !known && local {
			ofEvent[id] = v
		} else {
			record[id] = v
		}
	}
	return record, ofEvent
}

// Location returns the time zone of the caller's event; nil if the event has none, and on
// the organization's level.
func Location(c *auth.Caller) *time.Location {
	if c.Event == nil {
		return nil
	}
	return c.Event.Location()
}
