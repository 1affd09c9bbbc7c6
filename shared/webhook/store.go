package webhook

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/programme"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Store keeps the endpoints of organizations, for the callers of the API.
type Store struct {
	Sealer
	records resource.Store
	local   bool
}

// NewStore returns the store of a group.
func NewStore(env api.Env) *Store {
	return &Store{Sealer: Sealer{env.Keys}, records: resource.NewStore(env), local: env.LocalReceivers}
}

type collection = resource.Collection[Endpoint, *Endpoint, edit]

func (s *Store) of(org int64) collection { return endpoints.Of(s.records, resource.Owner{Org: org}) }

// Create stores a new endpoint of the caller. The secret is empty for a repeated request.
func (s *Store) Create(ctx context.Context, d Draft) (e *Endpoint, secret string, err error) {
	w := s.writing(ctx, d)
	w.secret = newSecret()
	if write.Ref(ctx) == "" {
		if err := s.checkDraft(ctx, w); err != nil {
			return nil, "", err
		}
	}
	e, err = s.of(w.caller.Org.ID).Create(ctx, w)
	if err != nil {
		return nil, "", err
	}
	p, err := e.private()
	if err != nil {
		return nil, "", err
	}
	if !bytes.Equal(p.Secret, w.sealed) || w.sealed == nil {
		w.secret = ""
	}
	return e, w.secret, s.loadOwner(ctx, e)
}

func (s *Store) writing(ctx context.Context, d Draft) *writing {
	return &writing{Sealer: s.Sealer, ctx: ctx, draft: d, local: s.local, caller: auth.From(ctx)}
}

// checkDraft returns the 400 of a draft, and of an event that the caller does not see.
func (s *Store) checkDraft(ctx context.Context, w *writing) error {
	if err := w.Check(); err != nil {
		return err
	}
	ids := w.draft.EventIDs.Value
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = table.Key{PK: table.Event(w.caller.Org.ID, id), SK: "-"}
	}
	got, err := s.records.Table.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	for i, id := range ids {
		event, err := programme.Events.In(got, keys[i].PK)
		if err != nil {
			return err
		}
		if event == nil || !w.caller.SeesEvent(id) {
			return apierr.Invalid(fmt.Sprintf("event_ids[%d]", i), "There is no event %d.", id)
		}
	}
	return nil
}

// List returns the endpoints that the caller sees, in the order of their creation.
func (s *Store) List(ctx context.Context) ([]*Endpoint, error) {
	caller := auth.From(ctx)
	all, err := s.of(caller.Org.ID).List(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e *Endpoint) bool { return !visible(caller, e) })
	return all, loadOwners(ctx, s.records.Table, s.records.Now(), caller.Org.ID, all...)
}

// visible reports whether a caller sees an endpoint. A caller that is limited to events sees the
// endpoints that the same token wrote, and those of the caller's events alone.
func visible(caller *auth.Caller, e *Endpoint) bool {
	if _, limited := caller.Events(); !limited {
		return true
	}
	p, err := e.private()
	if err != nil {
		return false
	}
	hides := func(id int64) bool { return !caller.SeesEvent(id) }
	return p.Token == caller.Token.ID || len(e.EventIDs) > 0 && !slices.ContainsFunc(e.EventIDs, hides)
}

// Get returns an endpoint that the caller sees, otherwise the 404.
func (s *Store) Get(ctx context.Context, id string) (*Endpoint, error) {
	e, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return e, s.loadOwner(ctx, e)
}

// Check returns the 404 of an endpoint that the caller does not see.
func (s *Store) Check(ctx context.Context, id string) error {
	_, err := s.find(ctx, id)
	return err
}

// find returns an endpoint that the caller sees, without the owner.
func (s *Store) find(ctx context.Context, id string) (*Endpoint, error) {
	caller := auth.From(ctx)
	e, err := s.of(caller.Org.ID).Get(ctx, id)
	if err == nil && !visible(caller, e) {
		err = apierr.NotFound(endpoints.Title)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// require returns the 404 of an endpoint that a caller with a limit to events does not see. Other
// callers need no read.
func (s *Store) require(ctx context.Context, id string) error {
	if _, limited := auth.From(ctx).Events(); !limited {
		return nil
	}
	return s.Check(ctx, id)
}

func (s *Store) loadOwner(ctx context.Context, e *Endpoint) error {
	return loadOwners(ctx, s.records.Table, s.records.Now(), auth.From(ctx).Org.ID, e)
}

// Update changes an endpoint. The caller becomes the owner.
func (s *Store) Update(ctx context.Context, id string, d Draft, g write.Guard) (*Endpoint, error) {
	w := s.writing(ctx, d)
	if err := s.checkDraft(ctx, w); err != nil {
		return nil, err
	}
	return s.change(ctx, id, resource.Change[edit]{Verb: record.Updated, Draft: drafted(w), Guard: g})
}

// change does a change of an endpoint that the caller sees.
func (s *Store) change(ctx context.Context, id string, c resource.Change[edit]) (*Endpoint, error) {
	if err := s.require(ctx, id); err != nil {
		return nil, err
	}
	e, err := s.of(auth.From(ctx).Org.ID).Change(ctx, id, c)
	if err != nil || c.Verb == record.Deleted {
		return e, err
	}
	return e, s.loadOwner(ctx, e)
}

// drafted returns a pointer to an edit.
func drafted(e edit) *edit { return &e }

// Delete deletes an endpoint, with its secrets.
func (s *Store) Delete(ctx context.Context, id string, g write.Guard) (*Endpoint, error) {
	return s.change(ctx, id, resource.Change[edit]{Verb: record.Deleted, Draft: drafted(removing{}), Guard: g})
}

// Rotate gives an endpoint a new secret and returns the secret. A repeated request gets the
// endpoint without the secret.
func (s *Store) Rotate(ctx context.Context, id string, g write.Guard) (e *Endpoint, secret string, err error) {
	if done := write.Ref(ctx); done != "" {
		e, err = s.Get(ctx, done)
		return e, "", err
	}
	r := &rotating{Sealer: s.Sealer, ctx: ctx, at: wire.At(s.records.Now()), secret: newSecret()}
	e, err = s.change(ctx, id, resource.Change[edit]{Verb: record.Updated, Draft: drafted(r), Guard: g})
	return e, r.secret, err
}
