package querytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/query"
)

// joined is a combination of records by entity; nil for a record that a LEFT JOIN has not found.
type joined map[string]Record

// evaluator evaluates a query that Compile has accepted.
type evaluator struct {
	Data
	q          *query.Query
	entities   []*query.Entity
	aggregated bool
}

// Evaluate returns all rows of an accepted query in their order, before LIMIT. It knows neither SQL nor the engine.
func Evaluate(d Data, q *query.Query) (rows [][]any) {
	e := &evaluator{Data: d, q: q}
	all := e.combinations()
	var found []joined
	for _, j := range all {
		if q.Where == nil || e.holds(q.Where, []joined{j}) == yes {
			found = append(found, j)
		}
	}
	var groups [][]joined
	for _, g := range e.groups(found) {
		if q.Having == nil || e.holds(q.Having, g) == yes {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, e.compare)
	shown := map[string]bool{}
	for _, g := range groups {
		row := e.row(g)
		if text := fmt.Sprintf("%#v", row); !q.Distinct || !shown[text] {
			shown[text] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// combinations returns all combinations of related records.
func (e *evaluator) combinations() (all []joined) {
	from := Schema.Find(e.q.From.Text)
	e.entities = []*query.Entity{from}
	for _, r := range e.Records[from.Name] {
		all = append(all, joined{from.Name: r})
	}
	for _, j := range e.q.Joins {
		to := Schema.Find(j.Entity.Text)
		near := ""
		for _, other := range e.entities {
			if related[other.Name] == to.Name || related[to.Name] == other.Name || other.Name == "talks" {
				near = other.Name
			}
		}
		var next []joined
		for _, c := range all {
			found := false
			for _, r := range e.Records[to.Name] {
				if e.belong(near, c[near], to.Name, r) {
					found = true
					next = append(next, with(c, to, r))
				}
			}
			if !found && j.Left {
				next = append(next, with(c, to, nil))
			}
		}
		all, e.entities = next, append(e.entities, to)
	}
	return all
}

func with(c joined, e *query.Entity, r Record) joined {
	made := joined{e.Name: r}
	for name, record := range c {
		made[name] = record
	}
	return made
}

// related has the entity that an entity other than talks is related to.
var related = map[string]string{"stages": "talks", "people": "talks"}

// belong reports whether two records of related entities belong together.
func (e *evaluator) belong(entity string, r Record, other string, s Record) bool {
	if r == nil {
		return false
	}
	if entity != "talks" {
		r, other, s = s, entity, r
	}
	if other == "stages" {
		return r["stage_id"] != nil && r["stage_id"] == s["id"]
	}
	for _, p := range e.Pairs["talk_people"] {
		if e.Records["talks"][p[0]]["id"] == r["id"] && e.Records["people"][p[1]]["id"] == s["id"] {
			return true
		}
	}
	return false
}

// groups returns the combinations by group: each alone where the query has neither groups nor aggregates.
func (e *evaluator) groups(all []joined) (groups [][]joined) {
	e.aggregated = len(e.q.GroupBy) > 0
	for _, i := range e.q.Items {
		e.aggregated = e.aggregated || i.Aggregate != ""
	}
	if e.aggregated && len(e.q.GroupBy) == 0 {
		return [][]joined{all}
	}
	by := map[string]int{}
	for n, j := range all {
		key := strconv.Itoa(n)
		if e.aggregated {
			key = ""
		}
		for _, g := range e.q.GroupBy {
			key += fmt.Sprintf("%#v|", e.value(g, []joined{j}))
		}
		if _, known := by[key]; !known {
			by[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[by[key]] = append(groups[by[key]], j)
	}
	return groups
}

// row returns what a group shows.
func (e *evaluator) row(g []joined) (row []any) {
	for _, i := range e.q.Items {
		row = append(row, e.value(i.Operand, g))
	}
	if len(e.q.Items) == 0 {
		for _, of := range e.entities {
			for _, c := range of.Columns {
				row = append(row, g[0][of.Name][c.Name])
			}
		}
	}
	return row
}

// value returns an operand of a group.
func (e *evaluator) value(o query.Operand, g []joined) any {
	for _, i := range e.q.Items {
		if o.Aggregate == "" && i.As != "" && i.As == o.Field {
			return e.value(i.Operand, g)
		}
	}
	if o.Aggregate == "" {
		return e.of(g[0], o.Field)
	}
	if o.Field == "*" {
		return float64(len(g))
	}
	var values []any
	for _, j := range g {
		if v := e.of(j, o.Field); v != nil && (!o.Distinct || !slices.Contains(values, v)) {
			values = append(values, v)
		}
	}
	return aggregate(o.Aggregate, values)
}

// of returns the value of a field in a combination.
func (e *evaluator) of(j joined, field string) any {
	qualifier, name, _ := strings.Cut(field, ".")
	return j[Schema.Find(qualifier).Name][name]
}

func aggregate(name string, values []any) any {
	switch {
	case name == "COUNT":
		return float64(len(values))
	case len(values) == 0:
		return nil
	case name == "MIN":
		return slices.MinFunc(values, compare)
	case name == "MAX":
		return slices.MaxFunc(values, compare)
	}
	sum := 0.0
	for _, v := range values {
		sum += v.(float64)
	}
	if name == "AVG" {
		return sum / float64(len(values))
	}
	return sum
}

// compare compares values of one type. No value comes first.
func compare(a, b any) int {
	switch a := a.(type) {
	case nil:
		if b == nil {
			return 0
		}
		return -1
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b)
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
	case bool:
		if b, ok := b.(bool); ok {
			return cmp.Compare(strconv.FormatBool(a), strconv.FormatBool(b))
		}
	}
	return 1
}

// compare compares groups in the order of the query.
func (e *evaluator) compare(a, b []joined) int {
	for _, k := range e.q.OrderBy {
		x, y := e.value(k.Operand, a), e.value(k.Operand, b)
		by := compare(folded(x), folded(y))
		if k.Desc {
			by = -by
		}
		if by != 0 {
			return by
		}
	}
	ties := e.q.GroupBy
	if e.q.Distinct {
		ties = nil
		for _, i := range e.q.Items {
			ties = append(ties, i.Operand)
		}
	} else if !e.aggregated {
		for _, of := range e.entities {
			ties = append(ties, query.Operand{Field: of.Singular + ".id"})
		}
	}
	for _, o := range ties {
		if by := compare(e.value(o, a), e.value(o, b)); by != 0 {
			return by
		}
	}
	return 0
}

// folded returns a value with small letters in place of A to Z.
func folded(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	letters := []byte(text)
	for i, b := range letters {
		if 'A' <= b && b <= 'Z' {
			letters[i] += 'a' - 'A'
		}
	}
	return string(letters)
}
