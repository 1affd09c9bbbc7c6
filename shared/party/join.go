package party

import (
	"maps"
	"slices"
	"sync"

	"lectern/shared/catalogue"
)

// pair is a record with its association: what a search on an event goes by.
type pair struct {
	*Row
	place *Place
}

// updated is when what the pair shows was last changed.
func (p *pair) updated() int64 { return max(p.Updated, p.place.Updated) }

// views are the rows that a search on an event joins, as they stood at one moment.
type views struct {
	records *catalogue.View[Row]
	places  *catalogue.View[Place]
}

// joined are the pairs of the views in the default order: every record that is or
// was associated with the event.
func (v views) joined() []*pair {
	pairs := make([]pair, 0, len(v.places.All()))
	if few := len(v.places.All()) < len(v.records.All())/fewPart; few {
		for _, place := range v.places.All() {
			if row, ok := v.records.Get(place.ID); ok {
				pairs = append(pairs, pair{row, place})
			}
		}
		slices.SortFunc(pairs, func(a, b pair) int { return byCreated(a.Row, b.Row) })
	} else {
		for _, row := range v.records.All() {
			if place, ok := v.places.Get(row.ID); ok {
				pairs = append(pairs, pair{row, place})
			}
		}
	}
	all := make([]*pair, len(pairs))
	for i := range pairs {
		all[i] = &pairs[i]
	}
	return all
}

// fewPart is which part of the records is few enough that looking each up costs
// less than going through all.
const fewPart = 8

// joins remembers, by event, the pairs of the newest views.
type joins struct {
	mu   sync.Mutex
	kept map[catalogue.Source]join
	// held is how many pairs are kept.
	held int
}

type join struct {
	views
	pairs []*pair
}

// maxPairs is how many pairs are remembered together, of at least one event. Each
// takes about 50 bytes, and keeps the rows it is of in memory.
const maxPairs = 250_000

// of gives the pairs of the views, which are those of an event's associations at
// src.
func (j *joins) of(src catalogue.Source, v views) []*pair {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known := j.kept[src]; known.views == v {
		return known.pairs
	}
	made := join{v, v.joined()}
	j.drop(src)
	for other := range j.kept {
		if j.held+len(made.pairs) <= maxPairs {
			break
		}
		j.drop(other)
	}
	if j.kept == nil {
		j.kept = map[catalogue.Source]join{}
	}
	j.kept[src] = made
	j.held += len(made.pairs)
	return made.pairs
}

func (j *joins) drop(src catalogue.Source) {
	j.held -= len(j.kept[src].pairs)
	delete(j.kept, src)
}

// ids are the keys of a set, in order.
func ids[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
