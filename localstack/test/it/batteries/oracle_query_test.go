package batteries_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// The three ways to search sessions.
const (
	bySearch = "search"
	byList   = "list"
	byStatus = "status"
)

// ask is what every search has.
type ask struct {
	ids    map[string][]string
	ranges map[string]span
	text   string
	sort   []sortKey
	page   int
	size   int
}

// inquiry is a search of sessions, and what it means: the naive reading of spec.md
// section 4.2 and gaps.md section 1.
type inquiry struct {
	ask
	way      string
	status   string
	abstract *bool
	linked   bool
}

// dated is a record that searches filter by time and sort.
type dated interface {
	key() string
	// time is the moment that a key of a sort or a filter names.
	time(name string) (ms int64, there bool)
}

// span is between two moments, both excluded; 0 is open.
type span struct{ after, before int64 }

type sortKey struct {
	name  string
	desc  bool
	order *int
}

// priority is the place of the key among others; the largest for a key without one.
func (k sortKey) priority() int {
	if k.order == nil {
		return math.MaxInt
	}
	return *k.order
}

// draw makes a random search, of a part that may have results.
func draw(r *rand.Rand, m *model) inquiry {
	q := inquiry{way: it.OneOf(r, []string{bySearch, bySearch, byList, byStatus})}
	if chance(r, 4) {
		q.status = it.OneOf(r, builtIn)
	}
	if chance(r, 4) {
		abstract := chance(r, 3)
		q.abstract = &abstract
	}
	q.linked = chance(r, 3)
	q.ids = categories(r, m)
	q.leaf(r)
	if q.way == byList {
		q.text = fragment(r)
		return q
	}
	names := []string{"createdAt", "updatedAt"}
	if q.way == byStatus {
		names = append(names, "deletedAt")
	}
	var all []dated
	for _, id := range m.sessions.some(func(*state) bool { return true }) {
		all = append(all, m.sessions.state(id))
	}
	q.ranges, q.sort = spans(r, all, names), sorts(r, append(names, "startsAt"))
	if q.way == bySearch && chance(r, 3) {
		q.text = fragment(r)
		q.asQuery(chance(r, 2))
	}
	return q
}

// categories are filters by metadata.
func categories(r *rand.Rand, m *model) map[string][]string {
	ids := map[string][]string{}
	for _, f := range facetKinds {
		if chance(r, 6) {
			all := m.entriesWhere(func(l *label) bool { return l.collection == f.collection })
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if ids[f.name] = all[:min(1+r.IntN(4), len(all))]; chance(r, 8) {
				ids[f.name] = append(ids[f.name], it.UnknownID)
			}
		}
	}
	return ids
}

// leaf chooses a page.
func (q *ask) leaf(r *rand.Rand) {
	q.size = it.OneOf(r, []int{1, 3, 10, 25, 100})
	q.page = 1
	if chance(r, 2) {
		q.page = 1 + r.IntN(2+100/q.size)
	}
}

// fragment is a piece of what titles have, in any case; mostly nothing.
func fragment(r *rand.Rand) string {
	if !chance(r, 3) {
		return ""
	}
	word := []rune(it.OneOf(r, words))
	from := r.IntN(len(word))
	piece := string(word[from : from+1+r.IntN(len(word)-from)])
	return it.OneOf(r, []string{piece, strings.ToUpper(piece), strings.ToLower(piece), "written " + fmt.Sprint(r.IntN(4))})
}

// spans end at moments that records really have, to meet the bounds.
func spans(r *rand.Rand, all []dated, names []string) map[string]span {
	found := map[string]span{}
	for _, name := range names {
		if len(all) == 0 || !chance(r, 6) {
			continue
		}
		bound := span{}
		if chance(r, 2) {
			bound.after, _ = it.OneOf(r, all).time(name)
		} else {
			bound.before, _ = it.OneOf(r, all).time(name)
		}
		if bound != (span{}) {
			found[name] = bound
		}
	}
	return found
}

func sorts(r *rand.Rand, names []string) (keys []sortKey) {
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:r.IntN(len(names)+1)] {
		key := sortKey{name: name, desc: chance(r, 2)}
		if chance(r, 2) {
			order := r.IntN(3)
			key.order = &order
		}
		keys = append(keys, key)
	}
	return keys
}

// request is the search as a client sends it.
func (q inquiry) request(s *stacktest.Stack) it.Request {
	if q.way == byQuery {
		return q.queryRequest(s)
	}
	if q.way == byList {
		return it.Request{Method: "GET", Path: s.EventPath("/sessions?" + q.parameters().Encode()), Body: nil}
	}
	filters := q.filters()
	if q.status != "" {
		filters["status"] = q.status
	}
	if q.abstract != nil {
		filters["isAbstract"] = *q.abstract
	}
	body := map[string]any{"filters": filters, "sort": json.RawMessage(q.sortText())}
	if q.linked {
		body["expand"] = []string{"linked_sources"}
	}
	path := map[string]string{bySearch: "/sessions", byStatus: "/sessions/status"}[q.way]
	return it.Request{Method: "POST", Path: s.EventPath(fmt.Sprintf("%s?page=%d&pageSize=%d", path, q.page, q.size)), Body: body}
}

// filters are those that all searches have.
func (q ask) filters() map[string]any {
	filters := map[string]any{}
	for name, ids := range q.ids {
		filters[name+"Ids"] = ids
	}
	for name, bound := range q.ranges {
		filters[name] = bound.body()
	}
	return filters
}

func (b span) body() map[string]any {
	sent := map[string]any{}
	for name, ms := range map[string]int64{"after": b.after, "before": b.before} {
		if ms != 0 {
			sent[name] = time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return sent
}

// sortText keeps the order of the keys, which decides where priorities do not.
func (q ask) sortText() string {
	parts := make([]string, len(q.sort))
	for i, key := range q.sort {
		priority := ""
		if key.order != nil {
			priority = fmt.Sprintf(`,"order":%d`, *key.order)
		}
		parts[i] = fmt.Sprintf(`%q:{"sort":%q%s}`, key.name, map[bool]string{true: "desc", false: "asc"}[key.desc], priority)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (q inquiry) parameters() url.Values {
	v := url.Values{"page": {fmt.Sprint(q.page)}, "page_size": {fmt.Sprint(q.size)}}
	put := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	put("status", q.status)
	put("search", q.text)
	if q.abstract != nil {
		put("is_abstract", fmt.Sprint(*q.abstract))
	}
	if q.linked {
		put("expand", "linked_sources")
	}
	for name, ids := range q.ids {
		if len(ids) == 1 {
			put(name+"_id", ids[0])
		} else {
			put(name+"_ids", strings.Join(ids, ","))
		}
	}
	return v
}

// keeps is whether a session is among the results. source is whether it, or the
// session it is a part of, is linked into another one; live says which entries
// of metadata are there.
func (q inquiry) keeps(s *state, source bool, live func(id string) bool) bool {
	if q.way != byStatus && (s.deleted != 0 || s.parent != "") || source && !q.linked {
		return false
	}
	if q.status != "" && s.status != q.status || q.abstract != nil && *q.abstract != s.abstract {
		return false
	}
	if !q.categorized(s, live) || !q.timely(s) {
		return false
	}
	text := strings.ToLower(q.text)
	return strings.Contains(strings.ToLower(s.title), text) || strings.Contains(strings.ToLower(s.friendly), text)
}

// categorized is whether a session has all of the metadata that is searched by.
func (q ask) categorized(s *state, live func(id string) bool) bool {
	for name, ids := range q.ids {
		if !slices.ContainsFunc(s.ids[name], func(id string) bool { return live(id) && slices.Contains(ids, id) }) {
			return false
		}
	}
	return true
}

// timely is whether a record is of the times that are searched by.
func (q ask) timely(d dated) bool {
	for name, bound := range q.ranges {
		ms, there := d.time(name)
		if !there || bound.after != 0 && ms <= bound.after || bound.before != 0 && ms >= bound.before {
			return false
		}
	}
	return true
}

func (s *state) time(name string) (ms int64, there bool) {
	ms = map[string]int64{"createdAt": s.created, "updatedAt": s.updated, "startsAt": s.starts, "deletedAt": s.deleted}[name]
	return ms, ms != 0
}

// compare orders two results: by the keys in the order of their priorities, who
// has none last, then by createdAt where nothing is sorted by, then by id.
func (q ask) compare(a, b dated) int {
	keys := slices.Clone(q.sort)
	if len(keys) == 0 {
		keys = []sortKey{{name: "createdAt"}}
	}
	slices.SortStableFunc(keys, func(x, y sortKey) int { return cmp.Compare(x.priority(), y.priority()) })
	for _, key := range keys {
		x, hasX := a.time(key.name)
		y, hasY := b.time(key.name)
		switch {
		case !hasX && !hasY || hasX && hasY && x == y:
			continue
		case !hasX:
			return 1
		case !hasY:
			return -1
		case key.desc:
			return cmp.Compare(y, x)
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(a.key(), b.key())
}

func (q ask) String() string {
	return fmt.Sprintf("ids=%v ranges=%v text=%q sort=%s page=%d size=%d", q.ids, q.ranges, q.text, q.sortText(), q.page, q.size)
}

func (q inquiry) String() string {
	return fmt.Sprintf("%s status=%q abstract=%v linked=%v %s", q.way, q.status, q.abstract, q.linked, q.ask)
}
