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
	Proposal writer    `json:"proposal,omitempty"`
	Until    wire.Time `json:"until,omitzero"`
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

// writer is the id of the proposal that writes to a draft; empty for another writer.
type writer string

// mayWrite returns the 409 of a write to a draft of a status and a hidden part: for a committed draft, for a draft under
// the lock of another proposal, and for a proposal without a lock.
func (w writer) mayWrite(status string, hidden json.RawMessage, now time.Time) error {
	if status == StatusCommitted {
		return closed()
	}
	s, err := stateOf(hidden)
	if err != nil {
		return err
	}
	if !now.Before(s.Until.Time) {
		s.Proposal = ""
	}
	if s.Proposal != w {
		return busy("A proposal is being written into the draft. Try again in a few seconds.")
	}
	return nil
}

// busy returns the 409 of a draft that others write to.
func busy(message string) error { return apierr.Conflict("DRAFT_BUSY", message) }

// whole is a change of a draft that depends on all placements: no placement changes between check and the change.
// check gets the version of the number of placements, which each write of a placement raises; 0 before the first.
type whole struct {
	write.Op
	placements placements
	check      func(ctx context.Context, in placements, version int64) error
}

func (w whole) numberKey() table.Key { return w.placements.Owner().CountKey(Sessions.Name) }

// Reads returns the keys of the draft and of the number of placements.
func (w whole) Reads() []table.Key { return append(w.Op.Reads(), w.numberKey()) }

// Plan adds the check and the condition to the change.
func (w whole) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	plan, err := w.Op.Plan(ctx, got)
	if err != nil {
		return nil, err
	}
	number, found := got[w.numberKey()]
	if err := w.check(ctx, w.placements, number.Version); err != nil {
		return nil, err
	}
	unchanged := table.Absent(w.numberKey())
	if found {
		unchanged = table.Version(w.numberKey(), number.Version)
	}
	plan.Writes = append(plan.Writes, unchanged)
	return plan, nil
}

// lock is the lock of a proposal on a draft. placements are written in the name of the proposal.
type lock struct {
	proposal   writer
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
	l := &lock{proposal: writer(s.NewID()), draft: id, drafts: Drafts.Of(s, o)}
	d, err := l.drafts.Get(ctx, id)
	if err == nil {
		err = writer("").mayWrite(d.Status, d.Hidden(), s.Now())
	}
	if err != nil {
		return nil, nil, err
	}
	written := *Sessions
	written.Admit = l.proposal.admit
	o.Parent = id
	l.placements = written.Of(s, o)
	key := whole{placements: l.placements}.numberKey()
	got, err := s.Table.GetMany(ctx, []table.Key{key})
	if err != nil {
		return nil, nil, err
	}
	l.read = got[key].Version
	all, err := l.placements.List(ctx)
	return l, all, err
}

// A lock ends a little after the request, since clocks differ. A request without an end has the longest lock.
const (
	grace   = 5 * time.Second
	longest = time.Minute
)

// take takes the lock until the request has ended. The error is a 409 if the draft is committed or locked, or a
// placement was written since newLock.
func (l *lock) take(ctx context.Context) error {
	left := longest
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end) + grace
	}
	l.until = wire.At(l.drafts.Now().Add(left))
	op := whole{l.drafts.Acting(locked, l.draft, l.lock), l.placements, l.unchanged}
	_, err := write.Run[*Draft](ctx, l.drafts.Table, op)
	return err
}

// lock changes the draft.
func (l *lock) lock(d *Draft) error {
	if err := writer("").mayWrite(d.Status, d.Hidden(), l.drafts.Now()); err != nil {
		return err
	}
	return d.keep(state{Proposal: l.proposal, Until: l.until})
}

// unchanged refuses the lock if a placement was written since newLock.
func (l *lock) unchanged(_ context.Context, _ placements, version int64) error {
	if version != l.read {
		return busy("Others have changed the draft during the search. Try again.")
	}
	return nil
}

// release ends the lock, if the proposal has it. Where that fails, the lock ends by its time.
func (l *lock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), write.LastStep+time.Second)
	defer cancel()
	_, _ = write.Run[*Draft](ctx, l.drafts.Table, l.drafts.Acting(unlocked, l.draft, l.unlock))
}

// unlock returns an error, which ends the operation, without the lock.
func (l *lock) unlock(d *Draft) error {
	if s, err := d.state(); err != nil || s.Proposal != l.proposal {
		return busy("The proposal has no lock.")
	}
	d.Hide(nil)
	return nil
}
