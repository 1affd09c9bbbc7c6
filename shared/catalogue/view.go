package catalogue

import (
	"cmp"
	"slices"
)

// View is the rows of a source as they stood at one moment. It never changes and
// shares its rows with other views: whoever reads it must not write.
type View[R any] struct {
	traits[R]
	shards []shard[R]
	order  []*R
	// partial is set where shards are missing: there is no order then.
	partial bool
}

// traits are the options that a view needs.
type traits[R any] struct {
	id      func(*R) string
	order   func(a, b *R) int
	arrange func(rows []R)
}

// shard is the rows of one shard.
type shard[R any] struct {
	// rows are in the order of their ids, as they are read.
	rows []*R
	// sum is that of their versions times their weights. They are current if it is
	// the shard's version.
	sum int64
	// bytes is about what they take in memory.
	bytes int64
}

// find is where the row of id stands in the shard, or would stand.
func (s shard[R]) find(id string, idOf func(*R) string) (at int, ok bool) {
	return slices.BinarySearchFunc(s.rows, id, func(row *R, id string) int { return cmp.Compare(idOf(row), id) })
}

// All returns every row, in the default order.
func (v *View[R]) All() []*R { return v.order }

// Get is the row of a record, if there is one.
func (v *View[R]) Get(id string) (*R, bool) {
	s := v.shards[Shard(id, len(v.shards))]
	at, ok := s.find(id, v.id)
	if !ok {
		return nil, false
	}
	return s.rows[at], true
}

// Join calls each for the rows of two views that are of the same record, in no order
// that means anything. Both sources must have the same number of shards.
func Join[A, B any](a *View[A], b *View[B], each func(*A, *B)) {
	for i := range a.shards {
		others := b.shards[i].rows
		for _, row := range a.shards[i].rows {
			id := a.id(row)
			for len(others) > 0 && b.id(others[0]) < id {
				others = others[1:]
			}
			if len(others) > 0 && b.id(others[0]) == id {
				each(row, others[0])
			}
		}
	}
}

// Select gives the rows from offset on, at most limit, of those that keep holds
// for, and how many it holds for in all. A nil keep holds for every row. A nil
// order is the default order, which also decides where order finds two equal.
func (v *View[R]) Select(keep func(*R) bool, order func(a, b *R) int, offset, limit int) (page []*R, total int) {
	if keep == nil {
		keep = func(*R) bool { return true }
	}
	if order == nil {
		return Select(v.order, keep, nil, offset, limit)
	}
	return Select(v.order, keep, func(a, b *R) int { return cmp.Or(order(a, b), v.traits.order(a, b)) }, offset, limit)
}

// Select is View.Select for any rows, whose order is theirs as they stand where
// order is nil, and which order never finds equal.
func Select[R any](rows []*R, keep func(*R) bool, order func(a, b *R) int, offset, limit int) (page []*R, total int) {
	if order == nil {
		return inOrder(rows, keep, offset, limit)
	}
	var kept []*R
	for _, row := range rows {
		if keep(row) {
			kept = append(kept, row)
		}
	}
	first := smallest(kept, offset+limit, order)
	return first[min(offset, len(first)):], len(kept)
}

func inOrder[R any](rows []*R, keep func(*R) bool, offset, limit int) (page []*R, total int) {
	for _, row := range rows {
		if !keep(row) {
			continue
		}
		if total >= offset && len(page) < limit {
			page = append(page, row)
		}
		total++
	}
	return page, total
}

// With is the view with rows in place of those with their ids, as a body shows
// them that is newer than its row.
func (v *View[R]) With(rows []*R) *View[R] {
	shards := slices.Clone(v.shards)
	var out, in []*R
	for _, row := range rows {
		s := &shards[Shard(v.id(row), len(shards))]
		if at, ok := s.find(v.id(row), v.id); ok {
			out, in = append(out, s.rows[at]), append(in, row)
			s.rows = slices.Clone(s.rows)
			s.rows[at] = row
		}
	}
	if v.partial {
		return &View[R]{traits: v.traits, shards: shards, partial: true}
	}
	return &View[R]{traits: v.traits, shards: shards, order: splice(v.order, out, in, v.traits.order)}
}

// changed reports whether shards have other rows than the view. Those that have the
// same are replaced by the view's.
func (v *View[R]) changed(shards []shard[R]) (changed bool) {
	for i, was := range v.shards {
		if shards[i].sum == was.sum {
			shards[i] = was // Equal sums are the same writes of the same rows.
		} else {
			changed = true
		}
	}
	return changed
}

// replaced is the view with other shards. A row that both have is the same
// pointer in both, so only the changed ones are looked up and moved.
func (v *View[R]) replaced(shards []shard[R]) *View[R] {
	var out, in []*R
	for i, now := range shards {
		was := v.shards[i]
		if now.sum == was.sum {
			continue
		}
		in = appendMissing(in, now, was, v.id)
		out = appendMissing(out, was, now, v.id)
	}
	return &View[R]{traits: v.traits, shards: shards, order: splice(v.order, out, in, v.traits.order)}
}

// appendMissing appends the rows of from that are not in other.
func appendMissing[R any](to []*R, from, other shard[R], id func(*R) string) []*R {
	for _, row := range from.rows {
		if at, ok := other.find(id(row), id); !ok || other.rows[at] != row {
			to = append(to, row)
		}
	}
	return to
}

// compact moves the rows of a view that nobody else has seen next to each other,
// in the default order: a scan of many rows then takes a third of the time.
func (v *View[R]) compact() {
	for i := range v.shards {
		v.shards[i].rows = slices.Clone(v.shards[i].rows) // A view of Known may have them.
	}
	together := make([]R, len(v.order))
	for i, row := range v.order {
		together[i] = *row
		s := v.shards[Shard(v.id(row), len(v.shards))]
		at, _ := s.find(v.id(row), v.id)
		s.rows[at], v.order[i] = &together[i], &together[i]
	}
	if v.arrange != nil {
		v.arrange(together)
	}
}

// splice gives the rows of order, which is sorted, without those of out and with
// those of in. It sorts out and in, and leaves order as it is.
func splice[R any](order, out, in []*R, compare func(a, b *R) int) []*R {
	slices.SortFunc(out, compare)
	slices.SortFunc(in, compare)
	spliced := make([]*R, 0, len(order)-len(out)+len(in))
	copyUntil := func(row *R) {
		at, _ := slices.BinarySearchFunc(order, row, compare)
		spliced = append(spliced, order[:at]...)
		order = order[at:]
	}
	for len(out) > 0 || len(in) > 0 {
		if len(in) == 0 || len(out) > 0 && compare(out[0], in[0]) <= 0 {
			copyUntil(out[0])
			order, out = order[1:], out[1:]
		} else {
			copyUntil(in[0])
			spliced, in = append(spliced, in[0]), in[1:]
		}
	}
	return append(spliced, order...)
}
