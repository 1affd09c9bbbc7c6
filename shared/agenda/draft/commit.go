package draft

import (
	"context"
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Commit puts the draft of an id live and returns the draft. The write of the claim decides: until then the commit may
// be refused, and then the draft is committed, and every reader of the draft finishes the commit. Commit returns a 404
// without the draft, a 409 for a committed draft, and a 409 with the names of the placements that cannot be applied. An
// open commit of an earlier request is finished, without an error.
func Commit(ctx context.Context, s resource.Store, o resource.Owner, id string) (*Draft, error) {
	all := Drafts.Of(s, o)
	if d, err := all.Replay(ctx); d != nil || err != nil {
		return d, err
	}
	o.Parent = id
	in := Sessions.Of(s, o)
	c := claim{drafts: all, id: id, origin: change.OriginOf(ctx)}
	c.exclusive = exclusive{
		Op: all.Acting(committed, id, c.commit), number: numberKey(in),
		check: func(ctx context.Context, _ table.Item) error { return check(ctx, in) },
	}
	d, err := write.Run[*Draft](ctx, s.Table, c)
	if err != nil {
		return nil, err
	}
	return finish(ctx, all, d)
}

// claim is the operation that begins a commit.
type claim struct {
	exclusive
	drafts drafts
	id     string
	origin change.Origin
}

// commit changes the draft.
func (c claim) commit(d *Draft) error {
	if err := noProposal.mayWrite(d.Status, d.Hidden(), c.drafts.Now()); err != nil {
		return err
	}
	d.Status = StatusCommitted
	return d.keep(state{At: wire.At(c.drafts.Now()), Origin: c.origin})
}

// Plan refuses a draft with placements that cannot be applied, and writes nothing for an open commit.
func (c claim) Plan(ctx context.Context, got write.Items) (plan *write.Plan, err error) {
	if stored, found := got[c.drafts.Owner().Key(Drafts.Name, c.id)]; found {
		d, err := Drafts.Decode(stored)
		if err != nil || d.begun() {
			return &write.Plan{Answer: d}, err
		}
	}
	return c.exclusive.Plan(ctx, got)
}

// atOnce is how many placements are read with their sessions at a time: 30 MB of the largest sessions.
const atOnce = 200

// check returns a 409 that names the placements that cannot be applied.
func check(ctx context.Context, in placements) error {
	all, err := in.List(ctx)
	if err != nil {
		return err
	}
	var blocked []*Change
	for some := range slices.Chunk(all, atOnce) {
		found, err := read(ctx, in, some)
		if err != nil {
			return err
		}
		for _, p := range some {
			t, err := p.target(in.Owner(), found)
			if err != nil {
				return err
			}
			made, err := p.change(t)
			if err != nil {
				return err
			}
			if made != nil && made.Blocked != nil {
				blocked = append(blocked, made)
			}
		}
	}
	return refuse(blocked)
}

// read reads the sessions and rooms of placements.
func read(ctx context.Context, in placements, some []*Session) (map[table.Key]table.Item, error) {
	var keys []table.Key
	for _, p := range some {
		keys = append(keys, p.named(in.Owner())...)
	}
	return in.Table.GetMany(ctx, keys)
}

// mostNamed is how many placements a refusal names.
const mostNamed = 100

// refuse returns the 409 of a commit with placements that cannot be applied; nil without any.
func refuse(blocked []*Change) error {
	if len(blocked) == 0 {
		return nil
	}
	named := make([]map[string]any, 0, mostNamed)
	for _, b := range blocked[:min(len(blocked), mostNamed)] {
		named = append(named, map[string]any{
			"draft_session_id": b.DraftSessionID, "session_id": b.SessionID, "friendly_id": b.FriendlyID, "blocked": b.Blocked,
		})
	}
	first := blocked[0]
	message := fmt.Sprintf(reasons[*first.Blocked], first.name())
	return apierr.Conflict("DRAFT_OUTDATED", message).With("count", len(blocked)).With("sessions", named)
}
