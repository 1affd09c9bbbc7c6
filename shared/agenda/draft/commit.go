package draft

import (
	"context"
	"encoding/json"
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
	c := claim{drafts: all, id: id, placements: Sessions.Of(s, o), origin: change.OriginOf(ctx)}
	c.inner = all.Acting(committed, id, c.commit)
	d, err := write.Run[*Draft](ctx, s.Table, c)
	if err != nil {
		return nil, err
	}
	return finish(ctx, all, d)
}

// claim is the operation that begins a commit.
type claim struct {
	drafts     drafts
	id         string
	placements placements
	origin     change.Origin
	// inner is the change of the draft.
	inner write.Op
}

// claimed is the hidden part of a committed draft.
type claimed struct {
	// At is the time of the claim, Origin the origin of the request.
	At     wire.Time     `json:"at"`
	Origin change.Origin `json:"origin"`
}

// claimed returns the hidden part of a committed draft.
func (d *Draft) claimed() (c claimed, err error) {
	if err = json.Unmarshal(d.Hidden(), &c); err != nil {
		err = fmt.Errorf("draft: decode the claim of %s: %w", d.ID, err)
	}
	return c, err
}

// commit changes the draft.
func (c claim) commit(d *Draft) error {
	if d.Status == StatusCommitted {
		return closed()
	}
	hidden, err := wire.Encode(claimed{wire.At(c.drafts.Now()), c.origin})
	if err != nil {
		return fmt.Errorf("draft: encode a claim: %w", err)
	}
	d.Status = StatusCommitted
	d.Hide(hidden)
	return nil
}

// numberKey returns the key of the number of placements. Each write of a placement changes the item.
func (c claim) numberKey() table.Key { return c.placements.Owner().CountKey(Sessions.Name) }

// Reads returns the keys of the draft and of the number of placements.
func (c claim) Reads() []table.Key { return append(c.inner.Reads(), c.numberKey()) }

// More returns nil: Plan reads thousands of placements in parts.
func (c claim) More(write.Items) []table.Key { return nil }

// Touches returns nil, since no bulk has commits.
func (c claim) Touches(write.Items) []string { return nil }

// Plan refuses a draft with placements that cannot be applied, and writes nothing for an open commit.
func (c claim) Plan(ctx context.Context, got write.Items) (plan *write.Plan, err error) {
	if stored, found := got[c.drafts.Owner().Key(Drafts.Name, c.id)]; found {
		d, err := Drafts.Decode(stored)
		if err != nil || d.begun() {
			return &write.Plan{Answer: d}, err
		}
	}
	if plan, err = c.inner.Plan(ctx, got); err != nil {
		return nil, err
	}
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	unchanged := table.Absent(c.numberKey())
	if number, found := got[c.numberKey()]; found {
		unchanged = table.Version(c.numberKey(), number.Version)
	}
	plan.Writes = append(plan.Writes, unchanged)
	return plan, nil
}

// atOnce is how many placements are read with their sessions at a time: 30 MB of the largest sessions.
const atOnce = 200

// check returns a 409 that names the placements that cannot be applied.
func (c claim) check(ctx context.Context) error {
	all, err := c.placements.List(ctx)
	if err != nil {
		return err
	}
	var blocked []*Change
	for some := range slices.Chunk(all, atOnce) {
		found, err := c.read(ctx, some)
		if err != nil {
			return err
		}
		for _, p := range some {
			t, err := p.target(c.placements.Owner(), found)
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
func (c claim) read(ctx context.Context, some []*Session) (map[table.Key]table.Item, error) {
	var keys []table.Key
	for _, p := range some {
		keys = append(keys, p.named(c.placements.Owner())...)
	}
	return c.placements.Table.GetMany(ctx, keys)
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
