package catalogue

import (
	"cmp"
	"slices"

	"lectern/shared/table"
)

// View has the rows of a source at one moment. It never changes and shares its rows with
// other views: readers must not write to the rows.
type View[R any] struct {
	*traits[R]
	shards []shard[R]
	sorted []*R
	// partial reports whether shards are missing. A partial view has no order.
	partial bool
}

// traits are the options about rows.
type traits[R any] struct {
	row     func(table.Item) (R, error)
	id      func(*R) string
	version func(*R) int64
	order   func(a, b *R) int
	arrange func(rows []R)
}

// shard has the rows of a shard, in the order of their ids.
type shard[R any] struct {
	rows []*R
	// sum is the sum of the rows' versions times their weights.
	sum int64
	// bytes is about the memory of the rows.
	bytes int64
}

// find returns the index of the row with the id, or the index for inserting the row.
func (s shard[R]) find(id string, idOf func(*R) string) (at int, ok bool) {
	return slices.BinarySearchFunc(s.rows, id, func(row *R, id string) int { return cmp.Compare(idOf(row), id) })
}

// All returns every row, in the default order.
func (v *View[R]) All() []*R { return v.sorted }

// Get returns the row of a record, and false if the view has no such row.
func (v *View[R]) Get(id string) (*R, bool) {
	s := v.shards[Shard(id, len(v.shards))]
	at, ok := s.find(id, v.id)
	if !ok {
		return nil, false
	}
	return s.rows[at], true
}

// Join calls each for every two rows of the same record, in any order. Both sources must have
// the same number of shards.
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

// Query chooses a page of rows.
type Query[R any] struct {
	// Keep reports whether a row of the view matches; nil means that every row does. It may
	// look at other rows of the view.
	Keep func(*View[R], *R) bool
	// Order compares rows; nil means the default order, which also orders rows that Order
	// finds equal.
	Order         func(a, b *R) int
	Offset, Limit int
}

// Select returns the rows that q chooses, and the number of all rows that match.
func (v *View[R]) Select(q Query[R]) (page []*R, total int) {
	keep := func(r *R) bool { return q.Keep == nil || q.Keep(v, r) }
	if q.Order == nil {
		return inOrder(v.sorted, keep, q.Offset, q.Limit)
	}
	order := func(a, b *R) int { return cmp.Or(q.Order(a, b), v.order(a, b)) }
	return Select(v.sorted, keep, order, q.Offset, q.Limit)
}

// Select returns the rows for which keep holds, from offset on and at most limit, and the
// number of all rows for which keep holds. A nil order leaves the rows in their order;
// another order must never find two rows equal. Sorted are only as many rows as the page
// needs, up to twice as many at a time.
func Select[R any](rows []*R, keep func(*R) bool, order func(a, b *R) int, offset, limit int) (page []*R, total int) {
	if order == nil {
		return inOrder(rows, keep, offset, limit)
	}
	most, sorted := offset+limit, false
	var first []*R
	for _, row := range rows {
		if !keep(row) {
			continue
		}
		total++
		if sorted && order(row, first[most-1]) > 0 {
			continue
		}
		if first = append(first, row); most > 0 && len(first) == 2*most+sortAtOnce {
			slices.SortFunc(first, order)
			first, sorted = first[:most], true
		}
	}
	slices.SortFunc(first, order)
	first = first[:min(most, len(first))]
	return first[min(offset, len(first)):], total
}

// sortAtOnce is the smallest number of rows that Select sorts before it has seen all.
const sortAtOnce = 256

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

// With returns the view with rows that replace the rows of the same records. A body that is
// newer than its row gives such a row.
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
	return &View[R]{traits: v.traits, shards: shards, sorted: splice(v.sorted, out, in, v.order)}
}

// changed reports whether shards have other rows than the view. It replaces equal shards by
// the view's own.
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

// replaced returns the view with other shards. A row of both views is the same pointer, so
// only changed rows are looked up and moved.
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
	return &View[R]{traits: v.traits, shards: shards, sorted: splice(v.sorted, out, in, v.order)}
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

// compact copies the rows of a new view next to each other, in the default order: a scan of
// many rows then takes a third of the time.
func (v *View[R]) compact() {
	for i := range v.shards {
		v.shards[i].rows = slices.Clone(v.shards[i].rows) // A view of PartialView may have them.
	}
	together := make([]R, len(v.sorted))
	for i, row := range v.sorted {
		together[i] = *row
		s := v.shards[Shard(v.id(row), len(v.shards))]
		at, _ := s.find(v.id(row), v.id)
		s.rows[at], v.sorted[i] = &together[i], &together[i]
	}
	if v.arrange != nil {
		v.arrange(together)
	}
}

// splice returns the sorted rows of order without the rows of out and with the rows of in. It
// sorts out and in, and does not change order.
func splice[R any](order, out, in []*R, compare func(a, b *R) int) []*R {
	slices.SortFunc(out, compare)
	slices.SortFunc(in, compare)
	spliced := make([]*R, 0, len(order)-len(out)+len(in))
	for len(out) > 0 || len(in) > 0 {
		removes := len(in) == 0 || len(out) > 0 && compare(out[0], in[0]) <= 0
		rows := in
		if removes {
			rows = out
		}
		at, _ := slices.BinarySearchFunc(order, rows[0], compare)
		spliced, order = append(spliced, order[:at]...), order[at:]
		if removes {
			order, out = order[1:], out[1:]
		} else {
			spliced, in = append(spliced, in[0]), in[1:]
		}
	}
	return append(spliced, order...)
}
