package draft

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// state is the hidden part of a draft.
type state struct {
	// Proposal is the id of the proposal that locks the draft until Until; empty without a lock.
	Proposal proposalID `json:"proposal,omitempty"`
	Until    wire.Time  `json:"until,omitzero"`
	// At is the time of the claim of a commit, Origin the origin of the request.
	At     wire.Time     `json:"at,omitzero"`
	Origin change.Origin `json:"origin,omitzero"`
}

// stateOf decodes the hidden part of a draft; a new draft has none.
func stateOf(hidden json.RawMessage) (s state, err error) {
	if hidden == nil {
		return s, nil
	}
	if err = json.Unmarshal(hidden, &s); err != nil {
		err = fmt.Errorf("draft: decode the state of a draft: %w", err)
	}
	return s, err
}

// state returns the hidden part of the draft.
func (d *Draft) state() (state, error) { return stateOf(d.Hidden()) }

// keep replaces the hidden part of the draft.
func (d *Draft) keep(s state) error {
	text, err := wire.Encode(s)
	d.Hide(text)
	return err
}

// proposalID is the id of the proposal that writes to a draft.
type proposalID string

// noProposal is the proposalID of a write that belongs to no proposal.
const noProposal proposalID = ""

// mayWrite refuses a write to a committed draft, a write to a draft that another proposal locks, and a write of a
// proposal that has lost its lock: each is a 409.
func (id proposalID) mayWrite(status string, hidden json.RawMessage, now time.Time) error {
	if status == StatusCommitted {
		return closed()
	}
	s, err := stateOf(hidden)
	if err != nil {
		return err
	}
	left := s.Until.Sub(now)
	if left <= 0 {
		left, s.Proposal = 0, noProposal
	}
	switch {
	case s.Proposal == id:
		return nil
	case id != noProposal:
		return busy(left, "The proposal took too long and has lost its lock on the draft. Try again.")
	}
	return busy(left, "A proposal is being written into the draft. Try again: the draft is free within %d seconds.",
		1+int(left.Seconds()))
}

// busy returns the 409 of a draft that others write to, for another try after a time.
func busy(wait time.Duration, format string, args ...any) error {
	return apierr.Conflict("DRAFT_BUSY", fmt.Sprintf(format, args...)).RetryAfter(wait)
}

// exclusive is a change of a draft that depends on all placements: no placement changes between check and the change.
// check gets the number of placements. Each write of a placement raises the version of the number, which is 0 before
// the first.
type exclusive struct {
	write.Op
	number table.Key
	check  func(ctx context.Context, number table.Item) error
}

// numberKey returns the key of the number of placements.
func numberKey(in placements) table.Key { return in.Owner().CountKey(Sessions.Name) }

// Reads returns the keys of the draft and of the number of placements.
func (e exclusive) Reads() []table.Key { return append(e.Op.Reads(), e.number) }

// Plan adds the check and the condition to the change.
func (e exclusive) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	plan, err := e.Op.Plan(ctx, got)
	if err != nil {
		return nil, err
	}
	number, found := got[e.number]
	if err := e.check(ctx, number); err != nil {
		return nil, err
	}
	unchanged := table.Absent(e.number)
	if found {
		unchanged = table.Version(e.number, number.Version)
	}
	plan.Writes = append(plan.Writes, unchanged)
	return plan, nil
}

// lock is the lock of a proposal on a draft. placements are written in the name of the proposal.
type lock struct {
	proposal   proposalID
	draft      string
	drafts     drafts
	placements placements
	// read is the version of the number of placements before the placements were read.
	read int64
	// until is the end of the lock.
	until wire.Time
}

// newLock returns the lock for a new proposal, not taken yet, and the placements of the draft. The error is a 404
// without the draft, and a 409 for a committed or locked draft.
func newLock(ctx context.Context, s resource.Store, o resource.Owner, id string) (*lock, []*Session, error) {
	l := &lock{proposal: proposalID(s.NewID()), draft: id, drafts: Drafts.Of(s, o)}
	d, err := l.drafts.Get(ctx, id)
	if err == nil {
		err = noProposal.mayWrite(d.Status, d.Hidden(), s.Now())
	}
	if err != nil {
		return nil, nil, err
	}
	written := *Sessions
	written.Admit = l.proposal.admit
	o.Parent = id
	l.placements = written.Of(s, o)
	key := numberKey(l.placements)
	got, err := s.Table.GetMany(ctx, []table.Key{key})
	if err != nil {
		return nil, nil, err
	}
	l.read = got[key].Version
	all, err := l.placements.List(ctx)
	return l, all, err
}

// A lock ends a little after the request, since clocks differ. A request without an end has the longest lock.
// releaseTime is the longest time of a release, also after the end of the request.
const (
	grace       = 5 * time.Second
	longest     = time.Minute
	releaseTime = 2 * time.Second
)

// take takes the lock until the request has ended. The error is a 409 if the draft is committed or locked, or a
// placement was written since newLock.
func (l *lock) take(ctx context.Context) error {
	left := longest
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end) + grace
	}
	l.until = wire.At(l.drafts.Now().Add(left))
	op := exclusive{l.drafts.Acting(locked, l.draft, l.setLock), numberKey(l.placements), l.unchanged}
	_, err := write.Run[*Draft](ctx, l.drafts.Table, op)
	return err
}

// setLock locks the draft.
func (l *lock) setLock(d *Draft) error {
	if err := noProposal.mayWrite(d.Status, d.Hidden(), l.drafts.Now()); err != nil {
		return err
	}
	return d.keep(state{Proposal: l.proposal, Until: l.until})
}

// unchanged refuses the lock if a placement was written since newLock.
func (l *lock) unchanged(_ context.Context, number table.Item) error {
	if number.Version != l.read {
		return busy(0, "Others have changed the draft during the search. Try again.")
	}
	return nil
}

// release ends the lock, if the proposal has it. A release does not delay the answer beyond the end of the request.
// Where release fails, the lock ends by its time.
func (l *lock) release(ctx context.Context) {
	left := releaseTime
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil {
		left = min(left, time.Until(end))
	}
	// With a deadline that is near, write.Run would not try again after a change of the draft's name.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer time.AfterFunc(left, cancel).Stop()
	_, _ = write.Run[*Draft](ctx, l.drafts.Table, l.drafts.Acting(unlocked, l.draft, l.unlock))
}

// unlock removes the lock. It returns an error if the proposal does not have the lock.
func (l *lock) unlock(d *Draft) error {
	if s, err := d.state(); err != nil || s.Proposal != l.proposal {
		return busy(0, "The proposal has no lock.")
	}
	d.Hide(nil)
	return nil
}
