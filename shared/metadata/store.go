package metadata

import (
	"context"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Store writes entries and custom statuses as settings of their event, under
// their kind (package item). A deleted status keeps its content, so that it can be
// restored and is then back on its sessions, which were never rewritten.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	NewID func() string
}

// Scene is what a write happens in: the caller with the event, and of the
// event's settings what the write's rules need.
type Scene struct {
	Caller *auth.Caller
	// Siblings are the entries of the kind that is written; for a status,
	// Statuses are in their place.
	Siblings *Set
	Statuses *Statuses
	Fields   *field.Set
	// Used is what there is of settings.
	Used item.Used
	// Translated is whether the answer shows translations.
	Translated bool
}

// texts is what shows translations, or nil where none are to be shown.
func (sc Scene) texts() *field.Set {
	if sc.Translated {
		return sc.Fields
	}
	return nil
}

func (sc Scene) place() item.Place {
	return item.Place{Org: sc.Caller.Org.ID, Event: sc.Caller.Event.ID}
}

// Create adds an entry. Errors: 400 for translations of what has none, 403 for
// translations without the feature.
func (s Store) Create(ctx context.Context, sc Scene, kind Kind, c Change) (*View, error) {
	return create(ctx, s, sc, kind, &Entry{Order: sc.Siblings.next()}, c, sc.view(kind))
}

// Update changes an entry: 404 when there is none, 409 when the guard fails,
// otherwise as Create.
func (s Store) Update(ctx context.Context, sc Scene, kind Kind, id string, c Change, g write.Guard) (*View, error) {
	return update(ctx, s, sc, kind, id, c, g, sc.view(kind))
}

// Delete hides an entry, which reads as unassigned from then on.
func (s Store) Delete(ctx context.Context, sc Scene, kind Kind, id string, g write.Guard) error {
	_, err := item.Do(ctx, s.items(sc, kind), sc.place(), id,
		item.Change[*Entry]{Verb: item.Deleted, Guard: g}, sc.view(kind))
	return err
}

func (sc Scene) view(kind Kind) func(*Entry) *View {
	return func(e *Entry) *View { return e.written(kind, sc.texts()) }
}

// CreateStatus adds a custom status, made by the caller's member.
func (s Store) CreateStatus(ctx context.Context, sc Scene, draft StatusDraft) (*Status, error) {
	all := sc.Statuses.All()
	e := &Entry{
		Order: all[len(all)-1].Order + 1, Status: Pending,
		CreatedByID: sc.Caller.Member.ID, CreatedByName: sc.Caller.Member.Name,
	}
	if draft.Status.Has() {
		e.Status = draft.Status.Value
	}
	return create(ctx, s, sc, StatusKind, e, draft, sc.status)
}

// UpdateStatus changes a custom status: 409 BUILT_IN for another one, 400 for
// another category, otherwise as Update.
func (s Store) UpdateStatus(ctx context.Context, sc Scene, id string, draft StatusDraft, g write.Guard) (*Status, error) {
	if err := sc.Statuses.refuseBuiltIn(id); err != nil {
		return nil, err
	}
	return update(ctx, s, sc, StatusKind, id, draft, g, sc.status)
}

// DeleteStatus hides a custom status. Sessions keep their category.
func (s Store) DeleteStatus(ctx context.Context, sc Scene, id string, g write.Guard) error {
	_, err := s.moveStatus(ctx, sc, id, item.Deleted, g)
	return err
}

// RestoreStatus brings a deleted custom status back, also on its sessions: 404
// when it is not deleted.
func (s Store) RestoreStatus(ctx context.Context, sc Scene, id string, g write.Guard) (*Status, error) {
	if answer, replayed, err := item.Replay(ctx, s.items(sc, StatusKind), sc.place(), sc.status); replayed {
		return answer, err
	}
	return s.moveStatus(ctx, sc, id, item.Restored, g)
}

func (s Store) moveStatus(ctx context.Context, sc Scene, id string, verb item.Verb, g write.Guard) (*Status, error) {
	if err := sc.Statuses.refuseBuiltIn(id); err != nil {
		return nil, err
	}
	return item.Do(ctx, s.items(sc, StatusKind), sc.place(), id, item.Change[*Entry]{Verb: verb, Guard: g}, sc.status)
}

// status is the answer of a status's write, with the time that the next one may
// refer to.
func (sc Scene) status(e *Entry) *Status {
	shown := *newStatus(e).Show(sc.texts())
	shown.UpdatedAt = wire.Some(e.UpdatedAt)
	return &shown
}

func (s *Statuses) refuseBuiltIn(id string) error {
	if status, ok := s.Get(id); ok && !status.IsCustom {
		return apierr.Conflict("BUILT_IN", "A built-in status cannot be changed, deleted or restored.")
	}
	return nil
}

// How many entries of a kind of metadata an event has, and how many custom statuses.
const (
	maxEntries  = 1000
	maxStatuses = 200
)

func (s Store) items(sc Scene, kind Kind) item.Store {
	limit := item.Limit{Name: string(kind), Most: maxEntries}
	if kind == StatusKind {
		limit.Most = maxStatuses
	}
	return item.Store{Table: s.Table, Now: s.Now, Kind: string(kind), Title: kind.Title(), Limit: limit, Used: sc.Used}
}

// create stores e, which has what the draft does not say, with what it says.
func create[A any](ctx context.Context, s Store, sc Scene, kind Kind, e *Entry, c Change, show func(*Entry) A) (answer A, err error) {
	if answer, replayed, err := item.Replay(ctx, s.items(sc, kind), sc.place(), show); replayed {
		return answer, err
	}
	e.ID, e.EventID = s.NewID(), sc.Caller.Event.ID
	draft := c.common()
	if err := draft.check(sc.Fields, sc.Caller.Event); err != nil {
		return answer, err
	}
	if err := c.apply(e); err != nil {
		return answer, err
	}
	if err := draft.translate(sc.Fields, e); err != nil {
		return answer, err
	}
	return item.Create(ctx, s.items(sc, kind), sc.place(), e, show)
}

// update writes the draft into the stored entry.
func update[A any](
	ctx context.Context, s Store, sc Scene, kind Kind, id string, c Change, g write.Guard, show func(*Entry) A,
) (answer A, err error) {
	draft := c.common()
	if err := draft.check(sc.Fields, sc.Caller.Event); err != nil {
		return answer, err
	}
	edit := func(e *Entry) error {
		if err := c.apply(e); err != nil {
			return err
		}
		return draft.translate(sc.Fields, e)
	}
	return item.Do(ctx, s.items(sc, kind), sc.place(), id,
		item.Change[*Entry]{Verb: item.Updated, Guard: g, Edit: edit}, show)
}
