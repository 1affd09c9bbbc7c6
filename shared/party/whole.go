package party

import (
	"slices"
	"time"

	"lectern/shared/auth"
)

// Recent is one write of an association: which version it got on which event, and the
// version of the record and the Unix milliseconds of that write.
type Recent struct {
	Event   int64 `json:"event"`
	Version int64 `json:"version"`
	With    int64 `json:"with"`
	At      int64 `json:"at"`
}

const (
	// maxRecent is how many of its last writes of associations a record remembers: more
	// than are made while a record and its association are read.
	maxRecent = 4
	// readTime is longer than the reads of a request can lie apart, clocks that differ
	// included. Where the record has forgotten writes younger than that, it cannot be
	// told from it alone whether an association is of its moment.
	readTime = 2 * time.Minute
)

// torn is whether record and association are of two moments: two items are not read
// at once, and a write of both may have become visible in one of them alone.
func (p Party) torn(c *auth.Caller) bool {
	if p.Body == nil || c.Event == nil {
		return false
	}
	version := int64(0)
	if p.Here != nil {
		version = p.Here.Version
		if p.Here.With > p.Version {
			return true
		}
	}
	return slices.ContainsFunc(p.Recent, func(r Recent) bool { return r.Event == c.Event.ID && r.Version > version })
}

// Doubts is whether the record has forgotten writes younger than readTime, of which one
// may be of the association on the event: then the two may be of two moments, although
// they do not disagree.
func (st *Store) Doubts(p Party) bool {
	if p.Body == nil || p.Here == nil || len(p.Recent) < maxRecent {
		return false
	}
	oldest := p.Recent[len(p.Recent)-1]
	return p.Here.With < oldest.With && st.Now().UnixMilli()-oldest.At < readTime.Milliseconds()
}

// doubts are the parties in doubt that were read before, by id, each with how often its
// association was the same.
type doubts map[string]struct {
	last  Party
	times int
}

// resolve gives the party of one moment by one more read of one in doubt: an association
// that is the same in two reads was the same between them, and so were both where the
// record is, too; in three, the record of the second belongs to it.
func (d doubts) resolve(p Party) (sure Party, ok bool) {
	before := d[p.ID]
	now := before
	now.last, now.times = p, 1
	if before.times > 0 && before.last.Here.Version == p.Here.Version {
		now.times = before.times + 1
	}
	d[p.ID] = now
	switch {
	case now.times > 1 && before.last.Version == p.Version:
		return p, true
	case now.times > 2:
		return before.last, true
	}
	return Party{}, false
}

// whole gives a party that was read if its record and association are of one moment, or
// one that earlier reads have left in doubt.
func (st *Store) whole(c *auth.Caller, p Party, doubted doubts) (sure Party, ok bool) {
	switch {
	case p.torn(c):
		return Party{}, false
	case st.Doubts(p):
		return doubted.resolve(p)
	}
	return p, true
}
