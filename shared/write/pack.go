package write

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"lectern/shared/table"
)

// planned is an operation of a bulk that is ready to be written.
type planned struct {
	index  int
	writes []table.Write
	answer any
}

// shard is what orders operations within a bulk: the first version that it bumps.
func (op planned) shard() string {
	for _, w := range op.writes {
		if _, bump := w.Merge(w); bump {
			return w.Key().PK + w.Key().SK
		}
	}
	return ""
}

// pack is operations that are written in one transaction.
type pack struct {
	ops    []planned
	writes []table.Write
}

func (p pack) indexes() []int {
	indexes := make([]int, len(p.ops))
	for n, op := range p.ops {
		indexes[n] = op.index
	}
	return indexes
}

const (
	// maxWrites and maxBytes are the limits of a transaction less what an
	// Idempotency-Key puts beside a pack.
	maxWrites = table.MaxWrites - 1
	maxBytes  = table.MaxBytes - (320 << 10)
)

// packed divides operations into packs. They are ordered by shard, so that the
// packs of one bulk, written in parallel, bump few of the same; and they start at
// a random one, so that two bulks do not collide pack after pack.
func packed(ops []planned) (packs []pack) {
	if len(ops) == 0 {
		return nil
	}
	slices.SortFunc(ops, func(a, b planned) int {
		return cmp.Or(cmp.Compare(a.shard(), b.shard()), cmp.Compare(a.index, b.index))
	})
	start := rand.N(len(ops)) //nolint:gosec // where a bulk starts is no secret
	for _, op := range slices.Concat(ops[start:], ops[:start]) {
		if last := len(packs) - 1; last >= 0 && packs[last].add(op) {
			continue
		}
		packs = append(packs, pack{[]planned{op}, op.writes})
	}
	return packs
}

// add takes op into the pack, unless together they pass a limit or write the same
// item.
func (p *pack) add(op planned) bool {
	writes := merge(slices.Clone(p.writes), op.writes)
	keys := make(map[table.Key]bool, len(writes))
	size := 0
	for _, w := range writes {
		keys[w.Key()] = true
		size += w.Size()
	}
	if len(writes) > maxWrites || len(keys) < len(writes) || size > maxBytes {
		return false
	}
	p.ops, p.writes = append(p.ops, op), writes
	return true
}
