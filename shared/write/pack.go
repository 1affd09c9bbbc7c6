package write

import (
	"cmp"
	"maps"
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

// pack is a list of operations for the same transaction.
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
	maxBytes  = table.MaxBytes - (32 << 10)
)

// sequences divides operations into packs. The packs of a sequence are written in order. Two
// sequences write no item in common, so that DynamoDB cancels none of their transactions
// when they are written in parallel. The order is the order of shards from a random shard
// on: then the packs of two bulks seldom meet.
func sequences(ops []planned) (all [][]pack) {
	groups := grouped(ops)
	if len(groups) == 0 {
		return nil
	}
	start := rand.N(len(groups)) //nolint:gosec // where a bulk starts is no secret
	var last *pack
	for _, g := range slices.Concat(groups[start:], groups[:start]) {
		if last != nil && last.add(g.ops...) {
			continue
		}
		packs := g.packs()
		all = append(all, packs)
		last = &packs[len(packs)-1]
	}
	return all
}

// group is a list of operations connected by the items they write: two operations by the
// version of a shard that both bump, and others through a shard of these.
type group struct {
	ops  []planned
	keys map[table.Key]bool
}

// grouped divides operations into groups that write no item in common. Operations and groups
// are in the order of shards, so that few transactions bump a shard.
func grouped(ops []planned) (groups []group) {
	slices.SortFunc(ops, func(a, b planned) int {
		return cmp.Or(cmp.Compare(a.shard(), b.shard()), cmp.Compare(a.index, b.index))
	})
	for _, op := range ops {
		joined := group{keys: map[table.Key]bool{}}
		groups = slices.DeleteFunc(groups, func(g group) bool {
			connected := slices.ContainsFunc(op.writes, func(w table.Write) bool { return g.keys[w.Key()] })
			if connected {
				joined.ops = append(joined.ops, g.ops...)
				maps.Copy(joined.keys, g.keys)
			}
			return connected
		})
		joined.ops = append(joined.ops, op)
		for _, w := range op.writes {
			joined.keys[w.Key()] = true
		}
		groups = append(groups, joined)
	}
	return groups
}

// shard returns the key of the first version that the operation bumps.
func (op planned) shard() string {
	for _, w := range op.writes {
		if w.Bumps() {
			return w.Key().PK + w.Key().SK
		}
	}
	return ""
}

// packs divides the group into transactions. A number that an earlier one changes is changed further.
func (g group) packs() (packs []pack) {
	for _, op := range g.ops {
		if last := len(packs) - 1; last >= 0 && packs[last].add(op.after(packs[:last])) {
			continue
		}
		op = op.after(packs)
		packs = append(packs, pack{[]planned{op}, op.writes})
	}
	return packs
}

// after returns the operation as it is written after packs.
func (op planned) after(packs []pack) planned {
	op.writes = slices.Clone(op.writes)
	for i, w := range op.writes {
		if !w.Recounts() {
			continue
		}
		for _, p := range packs {
			for _, earlier := range p.writes {
				op.writes[i] = op.writes[i].After(earlier)
			}
		}
	}
	return op
}

// add takes the operations into the pack. It returns false, and takes no operation, if the
// pack would then pass a limit or write an item twice.
func (p *pack) add(ops ...planned) bool {
	writes := slices.Clone(p.writes)
	for _, op := range ops {
		writes = merge(writes, op.writes)
	}
	keys := make(map[table.Key]bool, len(writes))
	size := 0
	for _, w := range writes {
		keys[w.Key()] = true
		size += w.Size()
	}
	if len(writes) > maxWrites || len(keys) < len(writes) || size > maxBytes {
		return false
	}
	p.ops, p.writes = append(p.ops, ops...), writes
	return true
}
