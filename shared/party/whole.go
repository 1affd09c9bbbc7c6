package party

import (
	"context"
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
	// included. A record that has forgotten younger writes does not prove that an
	// association comes from the same write.
	readTime = 2 * time.Minute
	// maxTogether is how many parties are read at one moment in one call: DynamoDB
	// allows 4 MB, which is 26 items of maxRecordBytes.
	maxTogether = 12
)

// torn reports whether the record and its association come from different writes. A
// batch does not read two items at one moment: it may return one item of a transaction
// and not the other.
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

// MayBeTorn reports whether the association may come from another write than the
// record, although the two do not disagree. The record remembers its last four
// association writes; when all four are younger than two minutes, an older one may be
// missing.
func (st *Store) MayBeTorn(p Party) bool {
	if p.Body == nil || p.Here == nil || len(p.Recent) < maxRecent {
		return false
	}
	oldest := p.Recent[len(p.Recent)-1]
	return p.Here.With < oldest.With && st.Now().UnixMilli()-oldest.At < readTime.Milliseconds()
}

// together reads the parties of ids into found, each as it stands at one moment.
func (st *Store) together(ctx context.Context, c *auth.Caller, ids []string, found map[string]Party) error {
	for chunk := range slices.Chunk(ids, maxTogether) {
		got, err := st.Table.Together(ctx, st.allKeys(c, chunk))
		if err != nil {
			return err
		}
		for _, id := range chunk {
			p, err := st.found(c, got, id)
			if err != nil {
				return err
			}
			if p.Body != nil {
				found[id] = p
			}
		}
	}
	return nil
}
