package session

import (
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// edit is one write in the making: by whom, under which settings, what is sent
// and, once it is applied, at what time.
type edit struct {
	caller *auth.Caller
	set    *settings.Snapshot
	draft  *Draft
	// members are the keys of those whom custom fields name.
	members map[string]table.Key
	// people are the participants sent. Who those named by address are, and the
	// roster of whom the edit meets, is known once it is found.
	people []invited
	roster *roster
	newID  func() string
	now    wire.Time
}

// at is the edit at a time of writing; the same edit may be tried several times.
func (e edit) at(now wire.Time) *edit {
	e.now = now
	return &e
}

// check holds the rules that need no record: what the draft names must exist.
func (e *edit) check() error {
	if err := e.draft.checkTexts(); err != nil {
		return err
	}
	for _, ref := range e.draft.references() {
		if _, ok := e.set.Metadata[ref.kind].Get(ref.sent.Value); ref.sent.Has() && !ok {
			return apierr.Invalid(ref.name, "There is no such %s on this event.", ref.thing)
		}
	}
	if err := e.checkTags(); err != nil {
		return err
	}
	if err := e.checkStatus(); err != nil {
		return err
	}
	if err := e.times(&Body{}); err != nil {
		return err
	}
	// Values are checked against an empty record first, so that a bad one is
	// refused before it is known whether the session exists.
	_, err := e.at(wire.Time{}).values(&Body{})
	return err
}

// reference is a property that names one entry of metadata.
type reference struct {
	name, thing string
	kind        metadata.Kind
	sent        wire.Opt[string]
	stored      func(*Body) **string
}

func (d *Draft) references() []reference {
	return []reference{
		{"room_id", "room", metadata.Rooms, d.RoomID, func(b *Body) **string { return &b.RoomID }},
		{"track_id", "track", metadata.Tracks, d.TrackID, func(b *Body) **string { return &b.TrackID }},
		{"level_id", "level", metadata.Levels, d.LevelID, func(b *Body) **string { return &b.LevelID }},
		{"format_id", "format", metadata.Formats, d.FormatID, func(b *Body) **string { return &b.FormatID }},
		{"language_id", "language", metadata.Languages, d.LanguageID, func(b *Body) **string { return &b.LanguageID }},
	}
}

func (e *edit) checkTags() error {
	tags := e.draft.TagIDs.Value
	for i, id := range tags {
		name := fmt.Sprintf("tag_ids[%d]", i)
		if _, ok := e.set.Metadata[metadata.Tags].Get(id); !ok {
			return apierr.Invalid(name, "There is no such tag on this event.")
		}
		if slices.Contains(tags[:i], id) {
			return apierr.Invalid(name, "A tag can be given once only.")
		}
	}
	return nil
}

// checkStatus: a custom status brings its category along; a status sent beside
// it must agree (gaps.md section 2.4).
func (e *edit) checkStatus() error {
	custom, status := e.draft.CustomStatusID, e.draft.Status
	if !custom.Has() {
		return nil
	}
	entry, ok := e.set.Statuses.Get(custom.Value)
	if !ok || !entry.IsCustom {
		return apierr.Invalid("custom_status_id", "There is no such custom status on this event.")
	}
	if status.Sent && (status.Null || status.Value != entry.Status) {
		return apierr.Invalid("status", "status must be %q, the category of the custom status, or be left out.", entry.Status)
	}
	return nil
}

// checkFeatures holds the 403s: what the event has not switched on. abstract is
// whether the write makes an abstract.
func (e *edit) checkFeatures(abstract bool) error {
	if err := abstractAllowed(e.caller, abstract); err != nil {
		return err
	}
	if e.draft.Translations.Sent {
		if err := e.caller.Event.AllowsTranslations(); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(e.people, func(p invited) bool { return p.custom }) {
		return e.caller.Event.AllowsCustomRoles()
	}
	return nil
}

// abstractAllowed refuses an abstract on an event without Sessions 2.0.
func abstractAllowed(c *auth.Caller, abstract bool) error {
	if abstract && !c.Event.Features.Sessions2 {
		return apierr.FeatureNeeded("Abstracts need the Sessions 2.0 feature, which this event does not have.")
	}
	return nil
}

// apply writes the draft into b. It gives the internal names of the custom
// fields it changed.
func (e *edit) apply(b *Body) (customFields []string, err error) {
	d := e.draft
	if err := e.fixed(b); err != nil {
		return nil, err
	}
	if err := e.times(b); err != nil {
		return nil, err
	}
	if err := e.status(b); err != nil {
		return nil, err
	}
	if d.Title.Has() {
		b.Title = d.Title.Value
	}
	for _, ref := range d.references() {
		ref.sent.IntoPointer(ref.stored(b))
	}
	e.location(b)
	d.Description.IntoPointer(&b.Description)
	d.ExternalURL.IntoPointer(&b.ExternalURL)
	d.ClientSessionID.IntoPointer(&b.ClientID)
	d.CEUCredits.IntoPointer(&b.CEUCredits)
	d.Capacity.IntoPointer(&b.Capacity)
	if d.IsPublic.Has() {
		b.IsPublic = d.IsPublic.Value
	}
	if d.TagIDs.Sent {
		b.TagIDs = slices.Clone(d.TagIDs.Value)
	}
	e.lists(b)
	return e.values(b)
}

// fixed refuses changes of what is set on create only, unless they change
// nothing (gaps.md section 1).
func (e *edit) fixed(b *Body) error {
	d := e.draft
	if d.IsAbstract.Sent && d.IsAbstract.Value != b.IsAbstract {
		return apierr.Invalid("is_abstract", "is_abstract cannot change after the session is created.")
	}
	if d.ParentSessionID.Sent && d.ParentSessionID.Value != b.Parent {
		return apierr.Invalid("parent_session_id", "parent_session_id cannot change after the session is created.")
	}
	if d.Source.Sent && d.Source.Value != b.Source {
		return apierr.Invalid("source", "source is read only.")
	}
	return nil
}

func (e *edit) times(b *Body) error {
	e.draft.StartsAt.IntoPointer(&b.StartsAt)
	e.draft.EndsAt.IntoPointer(&b.EndsAt)
	if b.StartsAt == nil || b.EndsAt == nil || !b.EndsAt.Before(b.StartsAt.Time) {
		return nil
	}
	name := "ends_at"
	if !e.draft.EndsAt.Sent {
		name = "starts_at"
	}
	return apierr.Invalid(name, "ends_at must not be before starts_at.")
}

// status: any to any. A custom status sets its category; a status sent alone
// clears the custom one; only a subsession may have none.
func (e *edit) status(b *Body) error {
	custom, status := e.draft.CustomStatusID, e.draft.Status
	if status.Null && b.Parent == "" {
		return apierr.Invalid("status", "status can be null on a subsession only.")
	}
	if status.Sent {
		b.CustomStatusID = nil
	}
	status.IntoPointer(&b.Status)
	custom.IntoPointer(&b.CustomStatusID)
	if custom.Has() {
		entry, _ := e.set.Statuses.Get(custom.Value)
		b.Status = &entry.Status
	}
	return nil
}

// location follows the room where it is not said itself.
func (e *edit) location(b *Body) {
	e.draft.Location.IntoPointer(&b.Location)
	if e.draft.Location.Sent || !e.draft.RoomID.Sent {
		return
	}
	switch room := locationRoom; {
	case b.RoomID != nil:
		b.Location = &room
	case value(b.Location) == locationRoom:
		b.Location = nil
	}
}

// values writes custom fields and translations.
func (e *edit) values(b *Body) (changed []string, err error) {
	if e.draft.CustomFields.Sent {
		b.CustomFields, changed, err = e.set.Fields.Apply(
			field.Session, b.CustomFields, e.draft.CustomFields.Value, e.caller.Event.Location(), e.now)
		if err != nil {
			return nil, err
		}
	}
	if e.draft.Translations.Sent {
		b.Translations, err = e.set.Fields.Translate(field.Session, b.Translations, e.draft.Translations.Value)
	}
	return changed, err
}
