package batteries_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"lectern/localstack/test/it"
)

// paging is what an answer says of its page.
type paging struct{ CurrentPage, PageSize, TotalPages, TotalResults int }

// pageOf is the answer of a search.
type pageOf[R any] struct {
	results []R
	paging
}

// pageRead reads the answer of a search, whose records read reads.
func pageRead[R any](body []byte, read func(object map[string]any) R) (p pageOf[R]) {
	var o struct {
		Results    []map[string]any
		Pagination paging
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return p
	}
	p.paging = o.Pagination
	for _, object := range o.Results {
		p.results = append(p.results, read(object))
	}
	return p
}

// judge holds one answer against what was known before and after it.
type judge struct {
	*model
	before   watermark
	problems []string
	// loose is whether metadata that the search filters by has changed meanwhile.
	loose bool
}

func (j *judge) wrong(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

// judging begins a judgement. The lock is held.
func (m *model) judging(q ask, before watermark) judge {
	j := judge{model: m, before: before}
	for _, ids := range q.ids {
		j.loose = j.loose || slices.ContainsFunc(ids, func(id string) bool { return id != it.UnknownID && !m.entries[id].still(before.clock) })
	}
	return j
}

func (j *judge) live(id string) bool { l := j.entries[id]; return l != nil && l.live }

// candidate is a record that may be among the results: whether that is certain,
// and if so whether it is.
type candidate struct {
	dated
	sure, kept bool
}

// whole checks an answer as a whole: its order, its total, and that what was not
// written meanwhile is where it must be. shown are the ids of the results and as
// the versions they show, nil for what is not known. creating is how many records
// may be there beside the candidates. It gives how many may or may not be among
// the results.
func (j *judge) whole(q ask, p paging, shown []string, as []dated, creating int, all []candidate) (open int) {
	open = creating
	var sure []dated
	for _, c := range all {
		switch {
		case !c.sure:
			open++
		case c.kept:
			sure = append(sure, c.dated)
		case slices.Contains(shown, c.key()):
			j.wrong("%s does not match", c.key())
		}
	}
	j.order(q, shown, as)
	j.total(q, p, len(shown), len(sure), open)
	slices.SortFunc(sure, q.compare)
	from, to := (q.page-1)*q.size, q.page*q.size
	for rank, s := range sure {
		on := slices.Contains(shown, s.key())
		if must := rank >= from && rank+open < to; must && !on {
			j.wrong("%s is missing", s.key())
		}
		if may := rank < to && rank+open >= from; on && !may {
			j.wrong("%s is on the wrong page", s.key())
		}
	}
	return open
}

// order: the results stand in the order of the search, each once.
func (j *judge) order(q ask, shown []string, as []dated) {
	for i := 1; i < len(shown); i++ {
		if as[i-1] != nil && as[i] != nil && q.compare(as[i-1], as[i]) >= 0 {
			j.wrong("%s stands before %s", shown[i-1], shown[i])
		}
		if slices.Contains(shown[:i], shown[i]) {
			j.wrong("%s is shown twice", shown[i])
		}
	}
}

// total checks the count of results, the page's length and what is said of pages.
func (j *judge) total(q ask, p paging, shown, sure, open int) {
	if p.TotalResults < sure || p.TotalResults > sure+open {
		j.wrong("%d results in all, %d match for sure and %d may", p.TotalResults, sure, open)
	}
	if want := max(0, min(p.TotalResults, q.page*q.size)-(q.page-1)*q.size); shown != want {
		j.wrong("%d results on the page, %d should be", shown, want)
	}
	if p.CurrentPage != q.page || p.PageSize != q.size || p.TotalPages != (p.TotalResults+q.size-1)/q.size {
		j.wrong("pagination says page %d of %d, %d a page", p.CurrentPage, p.TotalPages, p.PageSize)
	}
}

// shownIDs are the ids of results.
func shownIDs[R any](results []R, id func(R) string) []string {
	ids := make([]string, len(results))
	for i, r := range results {
		ids[i] = id(r)
	}
	return ids
}
