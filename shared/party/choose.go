package party

import (
	"cmp"
	"slices"
	"strings"

	"lectern/shared/catalogue"
	"lectern/shared/search"
)

// fewPart is which part of the places is few enough that looking each up costs
// less than going through all.
const fewPart = 8

// few is whether those who may be found are.
func (v views) few(q Query, only IDs) bool {
	return q.OnlyIDs != nil && only.Len() < len(v.places.All())/fewPart
}

// choose gives the places of the page, and how many pass the search.
func (k *Kind) choose(q Query, v views, only IDs) (page []*Place, total int) {
	keeps := func(p *Place) bool {
		return p.holds(q.Role) && q.CreatedAt.Contains(p.Created) && (q.OnlyIDs == nil || only.Has(p))
	}
	if !q.ofRecords() {
		order := search.Order(q.Sort, func(string) func(*Place) (int64, bool) { return placeTime }, placesByID)
		return catalogue.Select(v.candidates(q, only), keeps, order, q.Page.Offset(), q.Page.PageSize)
	}
	words := strings.ToLower(q.Text)
	pairs := v.pairs(q, only, func(p pair) bool {
		return keeps(p.Place) && q.UpdatedAt.Contains(p.updated()) && k.mentions(p.record, words)
	})
	order := search.Order(q.Sort, pairTime, func(a, b *pair) int { return placesByID(a.Place, b.Place) })
	if order == nil {
		order = func(a, b *pair) int { return placesByCreated(a.Place, b.Place) }
	}
	found, total := catalogue.Select(pairs, func(*pair) bool { return true }, order, q.Page.Offset(), q.Page.PageSize)
	for _, p := range found {
		page = append(page, p.Place)
	}
	return page, total
}

// candidates are the places that may be found, in the default order.
func (v views) candidates(q Query, only IDs) []*Place {
	if !v.few(q, only) {
		return v.places.All()
	}
	var few []*Place
	for id := range only.All() {
		if p, ok := v.places.Get(id); ok {
			few = append(few, p)
		}
	}
	slices.SortFunc(few, placesByCreated)
	return few
}

// pairs are the places that pass keeps, with the rows of their records, in no order.
func (v views) pairs(q Query, only IDs, keeps func(pair) bool) []*pair {
	var kept []pair
	each := func(p *Place, row *Row) {
		if both := (pair{p, row}); keeps(both) {
			kept = append(kept, both)
		}
	}
	if v.few(q, only) {
		for id := range only.All() {
			p, here := v.places.Get(id)
			if row, ok := v.records.Get(id); ok && here {
				each(p, row)
			}
		}
	} else {
		catalogue.Join(v.places, v.records, each)
	}
	pairs := make([]*pair, len(kept))
	for i := range kept {
		pairs[i] = &kept[i]
	}
	return pairs
}

// pair is a place with the row of its record.
type pair struct {
	*Place
	record *Row
}

// updated is when what the pair shows was last changed.
func (p *pair) updated() int64 { return max(p.Updated, p.record.Updated) }

func pairTime(name string) func(*pair) (int64, bool) {
	if name == updatedAt {
		return func(p *pair) (int64, bool) { return p.updated(), true }
	}
	return func(p *pair) (int64, bool) { return p.Created, true }
}

func placeTime(p *Place) (int64, bool) { return p.Created, true }

func placesByID(a, b *Place) int { return cmp.Compare(a.ID, b.ID) }

// mentions is whether the words, in lower case, are in what a search looks at.
func (k *Kind) mentions(r *Row, words string) bool {
	return words == "" || strings.Contains(r.Words, words) ||
		k.Numbered && strings.Contains(strings.ToLower(k.FriendlyID(&Body{Number: r.Number})), words)
}
