package metadata

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/write"
)

// Store writes the entries of a kind, or the custom statuses, of the caller's event. A deleted
// status keeps its content: a restore brings the status back on its sessions, which are never
// rewritten.
type Store struct {
	item.Store
	Caller *auth.Caller
	Kind   Kind
	// Siblings are the entries of the kind before the write, Statuses all statuses.
	Siblings *Set
	Statuses *Statuses
	Fields   *field.Set
}

// How many entries of a kind of metadata an event has, and how many custom statuses.
const (
	maxEntries  = 1000
	maxStatuses = 200
)

// Create adds an entry. It returns a 400 for a draft that breaks a rule, and a 403 for
// translations without the feature.
func (s Store) Create(ctx context.Context, c Change) (*Entry, error) {
	if e, err := s.records().Replay(ctx); e != nil || err != nil {
		return e, err
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	e := &Entry{ID: s.NewID(), EventID: s.Caller.Event.ID, Order: s.Siblings.next()}
	if s.Kind == StatusKind {
		all := s.Statuses.All()
		e.Order = min(all[len(all)-1].Order+1, maxOrder)
		e.CreatedByID, e.CreatedByName = s.Caller.Member.ID, s.Caller.Member.Name
	}
	if err := s.apply(c, e); err != nil {
		return nil, err
	}
	return s.records().Create(ctx, e)
}

// Update changes an entry. It adds to the errors of Create a 404 for an unknown entry, and a
// 409 for a guard that fails and for a built-in status.
func (s Store) Update(ctx context.Context, id string, c Change, g write.Guard) (*Entry, error) {
	if err := s.check(c); err != nil {
		return nil, err
	}
	if err := s.refuseBuiltIn(id); err != nil {
		return nil, err
	}
	edit := func(e *Entry) error { return s.apply(c, e) }
	return s.records().Change(ctx, id, record.Change[Entry]{Verb: record.Updated, Guard: g, Edit: edit})
}

// Delete hides an entry, which reads as unassigned from then on. Sessions keep the category of
// a status.
func (s Store) Delete(ctx context.Context, id string, g write.Guard) error {
	_, err := s.move(ctx, record.Deleted, id, g)
	return err
}

// Restore brings a deleted custom status back. It returns a 404 for a status that is not
// deleted.
func (s Store) Restore(ctx context.Context, id string, g write.Guard) (*Entry, error) {
	if e, err := s.records().Replay(ctx); e != nil || err != nil {
		return e, err
	}
	return s.move(ctx, record.Restored, id, g)
}

func (s Store) move(ctx context.Context, verb record.Verb, id string, g write.Guard) (*Entry, error) {
	if err := s.refuseBuiltIn(id); err != nil {
		return nil, err
	}
	return s.records().Change(ctx, id, record.Change[Entry]{Verb: verb, Guard: g})
}

func (s Store) refuseBuiltIn(id string) error {
	if status, ok := s.Statuses.Get(id); ok && !status.IsCustom && s.Kind == StatusKind {
		return apierr.Conflict("BUILT_IN", "A built-in status cannot be changed, deleted or restored.")
	}
	return nil
}

func (s Store) records() record.Records[Entry] {
	kind := &item.Kind[Entry, *Entry]{Name: string(s.Kind), Title: s.Kind.Title(), Many: string(s.Kind), Most: maxEntries}
	if s.Kind == StatusKind {
		kind.Most = maxStatuses
	}
	return kind.In(s.Store, item.Place{Org: s.Caller.Org.ID, Event: s.Caller.Event.ID})
}

// check refuses translations that no entry could have, then translations on an event without
// the feature.
func (s Store) check(c Change) error {
	sent := c.common().Translations
	if !sent.Sent {
		return nil
	}
	if _, err := s.Fields.Translate(field.Metadata, nil, sent.Value); err != nil {
		return err
	}
	return s.Caller.Event.AllowsTranslations()
}

// apply writes the properties and translations of a draft into e.
func (s Store) apply(c Change, e *Entry) (err error) {
	if err := c.apply(e); err != nil {
		return err
	}
	if sent := c.common().Translations; sent.Sent {
		e.Translations, err = s.Fields.Translate(field.Metadata, e.Translations, sent.Value)
	}
	return err
}
