package party

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/settings"
	"lectern/shared/wire"
)

// Edit is a draft in the making: by whom, and under which settings.
type Edit struct {
	Caller *auth.Caller
	Set    *settings.Snapshot
	Draft  *Draft
	// Relations replace those of the association; nil leaves them.
	Relations []Relation
	kind      *Kind
}

// check holds the rules that need nothing stored.
func (e *Edit) check() error {
	if e.Draft.refused != nil {
		return e.Draft.refused
	}
	trial := Party{Body: &Body{Values: map[string]string{}}, Here: &Association{}}
	return e.apply(trial, wire.Time{})
}

// checkFeatures holds the 403s: what the event has not switched on.
func (e *Edit) checkFeatures() error {
	if e.Draft.Translations.Sent {
		return e.Caller.Event.AllowsTranslations()
	}
	return nil
}

// apply writes the draft into p, which is the edit's own.
func (e *Edit) apply(p Party, now wire.Time) error {
	for _, name := range slices.Sorted(maps.Keys(e.Draft.values)) {
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
	if err := e.translate(p); err != nil {
		return err
	}
	e.relate(p.Here, now)
	return nil
}

// standard is the value of one standard field as it is kept; empty is none.
func (e *Edit) standard(name string) (string, error) {
	sent := e.Draft.values[name]
	d, _ := e.Set.Fields.Named(e.kind.Module, name)
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

// custom writes custom fields: those of the organization into the record, those of
// the event into the association.
func (e *Edit) custom(p Party, now wire.Time) error {
	if !e.Draft.CustomFields.Sent {
		return nil
	}
	all, _, err := e.Set.Fields.Apply(e.kind.Module, joint(p.CustomFields, p.Here.CustomFields), e.Draft.CustomFields.Value, Location(e.Caller), now)
	if err != nil {
		return err
	}
	p.CustomFields, p.Here.CustomFields = divided(e.Set.Fields, all, p.Here.CustomFields)
	return nil
}

// translate writes translations, which stand where their fields' values do.
func (e *Edit) translate(p Party) error {
	if !e.Draft.Translations.Sent {
		return nil
	}
	all, err := e.Set.Fields.Translate(e.kind.Module, texts(p), e.Draft.Translations.Value)
	if err != nil {
		return err
	}
	local := p.Here.Translations
	p.Translations, p.Here.Translations = field.Translations{}, field.Translations{}
	for language, texts := range all {
		record, here := divided(e.Set.Fields, texts, local[language])
		if len(record) > 0 {
			p.Translations[language] = record
		}
		if len(here) > 0 {
			p.Here.Translations[language] = here
		}
	}
	return nil
}

// relate replaces the relations. One that was there keeps when it was made, and
// when it was changed unless it is changed now.
func (e *Edit) relate(a *Association, now wire.Time) {
	if e.Relations == nil {
		return
	}
	related := make([]Relation, len(e.Relations))
	for i, r := range e.Relations {
		r.CreatedAt, r.UpdatedAt = now, now
		for _, was := range a.Relations {
			if was.ContactID == r.ContactID {
				r.CreatedAt = was.CreatedAt
				if was.IsPrimary == r.IsPrimary {
					r.UpdatedAt = was.UpdatedAt
				}
			}
		}
		related[i] = r
	}
	a.Relations = related
}

// texts are all translations of a party.
func texts(p Party) field.Translations {
	all := field.Translations{}
	maps.Copy(all, p.Translations)
	if p.Here == nil {
		return all
	}
	for language, texts := range p.Here.Translations {
		all[language] = joint(all[language], texts)
	}
	return all
}

// joint is what a record and its association hold together.
func joint[V any](record, here map[string]V) map[string]V {
	all := make(map[string]V, len(record)+len(here))
	maps.Copy(all, record)
	maps.Copy(all, here)
	return all
}

// divided parts what is kept by field id: what belongs to a field of the event is
// the association's, and of a field that is no more, what was.
func divided[V any](fields *field.Set, all, was map[string]V) (record, here map[string]V) {
	record, here = map[string]V{}, map[string]V{}
	for id, v := range all {
		d, known := fields.Get(id)
		_, local := was[id]
		if known && d.Scope == field.ScopeEvent || !known && local {
			here[id] = v
		} else {
			record[id] = v
		}
	}
	return record, here
}

// Location is the zone of the caller's event; nil where it has none, and on the
// organization's own level.
func Location(c *auth.Caller) *time.Location {
	if c.Event == nil {
		return nil
	}
	return c.Event.Location()
}
