package webhook

import (
	"context"
	"errors"
	"slices"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Receivers reads who gets the messages of an organization, for the workers.
type Receivers struct{ records resource.Store }

// NewReceivers returns the receivers of a region.
func NewReceivers(env api.Env) *Receivers { return &Receivers{resource.NewStore(env)} }

func (r *Receivers) of(org int64) collection {
	return endpoints.Of(r.records, resource.Owner{Org: org})
}

// Of returns the endpoints that take at least one of the messages of an organization. It makes a query
// and, if an endpoint wants a message, a batch.
func (r *Receivers) Of(ctx context.Context, org int64, messages ...bus.Message) ([]*Endpoint, error) {
	all, err := r.of(org).List(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e *Endpoint) bool { return !slices.ContainsFunc(messages, e.Wants) })
	if err := r.load(ctx, org, all...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(e *Endpoint) bool { return !slices.ContainsFunc(messages, e.Takes) }), nil
}

// Takes reports whether an endpoint of Of takes a message.
func (*Receivers) Takes(e *Endpoint, m bus.Message) bool { return e.Takes(m) }

// IDs returns the ids of the endpoints of an organization, disabled and paused ones too.
func (r *Receivers) IDs(ctx context.Context, org int64) ([]string, error) {
	all, err := r.of(org).List(ctx)
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	return ids, err
}

// AllIDs returns the ids of the endpoints of an organization, deleted ones too.
func (r *Receivers) AllIDs(ctx context.Context, org int64) ([]string, error) {
	ids, err := r.IDs(ctx, org)
	if err != nil {
		return nil, err
	}
	from, to := resource.Owner{Org: org}.DeletedKey(Kind, ""), resource.Owner{Org: org}.DeletedKey(Kind, "~")
	for item, err := range r.records.Table.Between(ctx, from.PK, from.SK, to.SK) {
		if err != nil {
			return nil, err
		}
		_, id, _ := resource.KindOf(item.Key)
		ids = append(ids, id)
	}
	return ids, nil
}

func (r *Receivers) load(ctx context.Context, org int64, all ...*Endpoint) error {
	return loadOwners(ctx, r.records.Table, r.records.Now(), org, all...)
}

// Find returns an endpoint that is enabled, paused or not; nil without one.
func (r *Receivers) Find(ctx context.Context, org int64, id string) (*Endpoint, error) {
	e, err := r.of(org).Get(ctx, id)
	if apierr.IsNotFound(err) || err == nil && !e.Enabled {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return e, r.load(ctx, org, e)
}

// Get returns an endpoint that is enabled and not paused; nil without one.
func (r *Receivers) Get(ctx context.Context, org int64, id string) (*Endpoint, error) {
	e, err := r.Find(ctx, org, id)
	if err != nil || e == nil || e.Paused() {
		return nil, err
	}
	return e, nil
}

// Disable disables an endpoint for a reason, as the service itself, and notes the security event.
// An endpoint that is disabled already stays as it is, and so does a deleted endpoint.
func (r *Receivers) Disable(ctx context.Context, e *Endpoint, org int64, reason string) error {
	d := disabling{at: wire.At(r.records.Now()), url: e.URL, reason: reason}
	_, err := r.of(org).Change(change.AsService(ctx), e.ID, resource.Change[edit]{Verb: record.Updated, Draft: drafted(d)})
	if errors.Is(err, errStays) || apierr.IsNotFound(err) {
		return nil
	}
	return err
}

// May reports whether the owner of an endpoint may read a kind of an event, 0 for a record of the
// organization.
func (*Receivers) May(e *Endpoint, kind string, event int64) bool { return e.May(kind, event) }
