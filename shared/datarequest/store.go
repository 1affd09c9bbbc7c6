package datarequest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/secret"
	"lectern/shared/stores"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Store keeps the requests of organizations.
type Store struct {
	matcher
	keys    *secret.Keys
	records resource.Store
}

// NewStore returns the store of a group or worker.
func NewStore(env api.Env) *Store {
	members := tenancy.Store{Table: env.Table, Now: env.Now}
	return &Store{matcher: matcher{members, stores.Contacts(env)}, keys: env.Keys, records: resource.NewStore(env)}
}

type collection = resource.Collection[Request, *Request, edit]

func (s *Store) of(org int64) collection { return requests.Of(s.records, resource.Owner{Org: org}) }

// purpose is the purpose of the key for hashes of addresses.
const purpose = "identity"

// Identity returns the keyed hash of an address in an organization, as hex.
func (s *Store) Identity(ctx context.Context, org int64, address string) (string, error) {
	sum, err := s.keys.Sum(ctx, purpose, fmt.Appendf(nil, "%d:%s", org, strings.ToLower(strings.TrimSpace(address))))
	if err != nil {
		return "", fmt.Errorf("datarequest: hash an address: %w", err)
	}
	return hex.EncodeToString(sum), nil
}

// tries are the tries to create a request or find the open one, while others end it.
var tries = table.Retry{Tries: 10, First: 5 * time.Millisecond, Max: 100 * time.Millisecond}

// Create opens a request of the caller's organization. If a request of the type for the identity
// is open, Create returns that request.
func (s *Store) Create(ctx context.Context, d Draft) (*Request, error) {
	caller := auth.From(ctx)
	if id := write.Ref(ctx); id != "" {
		return s.Get(ctx, caller.Org.ID, id)
	}
	identity, err := s.Identity(ctx, caller.Org.ID, d.address())
	if err != nil {
		return nil, err
	}
	found, err := s.match(ctx, caller, d.address())
	if err != nil {
		return nil, err
	}
	o := opening{draft: d, identity: identity, found: found}
	if d.Type.Value == Erasure {
		if err := s.adopt(ctx, caller.Org.ID, &o); err != nil {
			return nil, err
		}
	}
	for _, err := range tries.Each(ctx) {
		if err != nil {
			return nil, err
		}
		r, err := s.of(caller.Org.ID).Create(ctx, o)
		if !isTaken(err) {
			return r, err
		}
		r, err = s.open(ctx, caller.Org.ID, d.Type.Value, identity)
		if r != nil || err != nil {
			return r, err
		}
	}
	return nil, apierr.Unavailable()
}

// codeOpen is the code of the conflict with an open request.
const codeOpen = "DUPLICATE_IDENTITYVALUE"

// isTaken reports whether an error is the 409 of a request that is open.
func isTaken(err error) bool {
	refused := (*apierr.Error)(nil)
	return errors.As(err, &refused) && refused.Code == codeOpen
}

// open returns the open request of a type for an identity; nil without one.
func (s *Store) open(ctx context.Context, org int64, kind, identity string) (*Request, error) {
	all, err := s.ofIdentity(ctx, org, identity)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Open() && r.Type == kind {
			return r, nil
		}
	}
	return nil, nil
}

// ofIdentity returns all requests for an identity.
func (s *Store) ofIdentity(ctx context.Context, org int64, identity string) (some []*Request, err error) {
	all, err := s.of(org).List(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		p, err := r.private()
		if err != nil {
			return nil, err
		}
		if p.Identity == identity {
			some = append(some, r)
		}
	}
	return some, nil
}

// Alike returns all requests for the identity of a request, including the request.
func (s *Store) Alike(ctx context.Context, r *Request) ([]*Request, error) {
	p, err := r.private()
	if err != nil {
		return nil, err
	}
	return s.ofIdentity(ctx, r.OrgID, p.Identity)
}

// List returns the requests of an organization, in the order of their creation.
func (s *Store) List(ctx context.Context, org int64) ([]*Request, error) {
	all, err := s.of(org).List(ctx)
	now := s.records.Now()
	for _, r := range all {
		r.expire(wire.At(now))
	}
	return all, err
}

// expire hides an archive that is removed.
func (r *Request) expire(now wire.Time) {
	if r.Archive != nil && !now.Before(r.Archive.ExpiresAt.Time) {
		r.Archive = nil
	}
}

// Get returns a request, otherwise the 404.
func (s *Store) Get(ctx context.Context, org int64, id string) (*Request, error) {
	r, err := s.of(org).Get(ctx, id)
	if err == nil {
		r.expire(wire.At(s.records.Now()))
	}
	return r, err
}

// Begin notes that the work on a request has begun, with a status; nil for a request that has ended.
// If the creation found no contact, the first call notes who has the address now. The contacts of the
// creation stay: until the work begins the person's address may change, and another person may get it.
func (s *Store) Begin(ctx context.Context, r *Request, status string) (*Request, error) {
	found := r.Response
	if r.Status == Pending && len(found.ContactRecord) == 0 {
		caller, err := auth.Service(ctx, s.members.Table, r.OrgID, 0, nil)
		if err != nil || caller == nil {
			return nil, err
		}
		if found, err = s.match(ctx, caller, r.IdentityValue); err != nil {
			return nil, err
		}
	}
	begun, err := s.change(ctx, r, finding{found, status})
	if isTaken(err) { // The request had failed, and another one is open: this one ends without being open again.
		begun, err = s.change(ctx, r, finding{found, r.Status})
	}
	if errors.Is(err, errEnded) {
		return nil, s.clean(ctx, r)
	}
	return begun, err
}

// clean removes the archive of a request that an erasure has ended: a worker may have ended after it had
// stored parts.
func (s *Store) clean(ctx context.Context, r *Request) error {
	now, err := s.of(r.OrgID).Get(ctx, r.ID)
	if err != nil {
		return err
	}
	p, err := now.private()
	if err != nil || !p.Erased {
		return err
	}
	return s.removeArchive(ctx, r, 0)
}

// End ends the work on a request with a status, unless the request has an end already.
func (s *Store) End(ctx context.Context, r *Request, status string) error {
	_, err := s.change(ctx, r, ending{status: status, at: wire.At(s.records.Now())})
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// Forget masks the identity of the other requests of an erased person, and removes their archives:
// requests for the address, and for a former address of one of the contacts.
func (s *Store) Forget(ctx context.Context, erasure *Request) error {
	p, err := erasure.private()
	if err != nil {
		return err
	}
	all, err := s.of(erasure.OrgID).List(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		other, err := r.private()
		if err != nil {
			return err
		}
		// Somebody else may have had the address, or have it now.
		nobody := other.Identity == p.Identity && len(r.Response.ContactRecord) == 0
		// An open erasure masks itself at its end.
		if r.ID == erasure.ID || r.Type == Erasure && r.Open() || !nobody && !covers(erasure, r) {
			continue
		}
		if err := s.forget(ctx, r, other); err != nil {
			return err
		}
	}
	return nil
}

// covers reports whether an erasure ends another request that has contacts: a request for one of the
// contacts, but a failed erasure only if it has no others.
func covers(erasure, r *Request) bool {
	all, found := r.Response.ContactRecord, 0
	for _, id := range all {
		if slices.Contains(erasure.Response.ContactRecord, id) {
			found++
		}
	}
	return found > 0 && (found == len(all) || r.Type == Access || r.Status == Completed)
}

// forget masks a request, and then removes the archive: a worker with a later archive cannot end the
// request any more.
func (s *Store) forget(ctx context.Context, r *Request, p private) error {
	if !p.Erased {
		if _, err := s.change(ctx, r, masking{}); err != nil {
			return err
		}
	}
	return s.removeArchive(ctx, r, 0)
}

// change changes a request as the service itself.
func (s *Store) change(ctx context.Context, r *Request, e edit) (*Request, error) {
	return s.write(ctx, r, record.Updated, e)
}

// write changes or deletes a request as the service itself.
func (s *Store) write(ctx context.Context, r *Request, verb record.Verb, e edit) (*Request, error) {
	return s.of(r.OrgID).Change(change.AsService(ctx), r.ID, resource.Change[edit]{Verb: verb, Draft: &e})
}
