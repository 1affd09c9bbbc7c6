package insight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/catalogue"
	"lectern/shared/field"
	"lectern/shared/party"
	"lectern/shared/query"
	"lectern/shared/query/engine"
	"lectern/shared/query/result"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// wanted is a table to fill.
type wanted struct {
	*family
	table   *engine.Table
	columns []column
	// filters are met by each record that any result has.
	filters []query.Filter
	// depth is what the columns need of a record. leads has the entities that tables of pairs lead to from here.
	depth depth
	leads map[string]bool
	// referred reports whether a table of pairs leads here.
	referred bool
	// rows is the number of rows so far, of all events, and sessions that of the sessions that were read for them.
	rows     int64
	sessions int
	// values has the values of the last row, and last what the last session refers to. Rows share the memory of both.
	values []any
	last   refers
}

// filling fills tables with the records of a reach.
type filling struct {
	*Reach
	database *engine.Database
	masked   bool
	tables   map[string]*wanted
	pairs    map[string]*engine.Table
}

// visit fills the tables with the records of one event.
type visit struct {
	*filling
	at *event
	// definitions are the custom fields of the event by the names of columns, of each table.
	definitions map[string]map[string]*field.Definition
	// numbers are the rows of the event by entity and id, and links the pairs of the event.
	numbers map[string]map[string]int64
	links   []link
	// view has the rows of the event's sessions, people the contacts that the tables need.
	view   *catalogue.View[session.Row]
	people map[string]party.Party
	order  []party.Party
	// speakers has the contacts who speak, and speaks the roles of speakers by number, once they are known.
	speakers idSet
	speaks   []bool
	// associations has the rows of all contacts of the event, if a table needs them.
	associations *catalogue.View[party.AssociationRow]
}

// link says which records of another entity belong to a row.
type link struct {
	from, to string
	number   int64
	ids      []string
}

// visit fills the tables with the records of an event: first the records, then the pairs.
func (f *filling) visit(ctx context.Context, o *event) error {
	v := &visit{filling: f, at: o, numbers: map[string]map[string]int64{}, definitions: map[string]map[string]*field.Definition{}}
	ctx = catalogue.ShareVersions(ctx, v.sources()...)
	for _, of := range f.families {
		w := f.tables[of.Name]
		if w == nil {
			continue
		}
		v.numbers[w.Name] = map[string]int64{}
		v.definitions[w.Name] = map[string]*field.Definition{}
		for _, d := range o.customFields(of) {
			v.definitions[w.Name][d.InternalName] = d
		}
		if err := of.read(v, ctx, w); err != nil {
			return err
		}
	}
	for _, l := range v.links {
		for _, id := range l.ids {
			number, known := v.numbers[l.to][id]
			if !known {
				continue
			}
			if err := f.pairs[l.from+" "+l.to].Insert(l.number, number); err != nil {
				return err
			}
		}
	}
	return nil
}

// sources returns the sources whose versions are read together.
func (v *visit) sources() []catalogue.Source {
	people := v.store.Sessions.Parties
	all := append(people.Contacts.Sources(v.at.caller), people.Accounts.Sources(v.at.caller)...)
	return append(all, v.store.Sessions.Source(v.at.caller))
}

// put adds a row to a table, unless a filter does not allow it.
func (v *visit) put(w *wanted, r row) error {
	for _, f := range w.filters {
		if !f.Allows(v.valueOf(w, w.family.columns[f.Column.Name], &r)) {
			return nil
		}
	}
	if w.rows == int64(v.store.most) {
		return v.tooMany(w)
	}
	w.values = append(w.values[:0], w.rows)
	for _, c := range w.columns {
		one := v.valueOf(w, c, &r)
		if v.masked && c.PII {
			one = mask(one, v.kindOf(w, c))
		}
		w.values = append(w.values, one)
	}
	for to := range w.leads {
		v.links = append(v.links, link{w.Name, to, w.rows, r.refers[to]})
	}
	if w.referred {
		v.numbers[w.Name][r.id] = w.rows
	}
	w.rows++
	return w.table.Insert(w.values...)
}

// tooMany returns the 400 of a query that reads too many records of an entity.
func (f *filling) tooMany(w *wanted) error {
	return apierr.Invalid("query", "The query reads more than %d %s. Name fewer events, or add conditions that every row must meet to WHERE, "+
		"for example on %s.id.", f.store.most, w.Name, w.Singular)
}

// needs reports whether the table, or a filter of it, needs a column.
func (w *wanted) needs(name string) bool {
	return slices.ContainsFunc(w.columns, func(c column) bool { return c.Name == name }) ||
		slices.ContainsFunc(w.filters, func(f query.Filter) bool { return f.Column.Name == name })
}

// onlyIDs returns the ids of records that the filters allow; nil if the filters do not name ids.
func (w *wanted) onlyIDs() idSet {
	var only idSet
	for _, f := range w.filters {
		if f.Column.Name != "id" || f.Not || f.Operator != query.Equal && f.Operator != query.In {
			continue
		}
		only = idSet{}
		for _, id := range f.Values {
			only[id.(string)] = true
		}
	}
	return only
}

// valueOf returns the value of a column for the engine.
func (v *visit) valueOf(w *wanted, c column, r *row) any {
	switch {
	case c.own:
		d := v.definitions[w.Name][c.named]
		if d == nil {
			return nil
		}
		return customValue(d, r.custom[d.ID].V, c.Type)
	case c.index == nil:
		if text, ok := r.standard[c.named]; ok {
			return text
		}
		return nil
	}
	return value(r.shape, c.index)
}

// kindOf returns the type of the field of a column on the event: on others, a custom field of the name may have another type. It is empty
// for a column without a field.
func (v *visit) kindOf(w *wanted, c column) field.Type {
	if c.own {
		if d := v.definitions[w.Name][c.named]; d != nil {
			return d.Type
		}
		return ""
	}
	module := w.module
	if w.kind != nil {
		module = w.kind.Module
	}
	if d, known := standard.Named(module, c.named); known {
		return d.Type
	}
	return ""
}

// customValue returns the value of a custom field as the type of its column; nil without a value.
func customValue(d *field.Definition, v any, as query.Type) any {
	if v == nil {
		return nil
	}
	if list, ok := v.([]any); ok {
		texts := make([]string, len(list))
		for i, one := range list {
			texts[i] = fmt.Sprint(one)
		}
		return strings.Join(texts, ", ")
	}
	if text, ok := v.(string); ok && d.Type == field.Datetime {
		if t, err := wire.ParseTime(text); err == nil {
			return t.UTC().Format(query.TimeLayout)
		}
	}
	return typed(v, as)
}

// typed returns a value as the type of its column, since the engine compares values of one type alone; nil for a text in a column of
// numbers or booleans.
func typed(v any, as query.Type) any {
	_, isNumber := v.(float64)
	_, isBool := v.(bool)
	switch {
	case isNumber && as == query.Float, isBool && as == query.Bool:
		return v
	case as == query.Float, as == query.Bool:
		return nil
	}
	return result.Text(v)
}
