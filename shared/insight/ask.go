package insight

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/query"
	"lectern/shared/query/engine"
	"lectern/shared/query/result"
)

// asked is a question with its statement, on the way to its reply.
type asked struct {
	Question
	statement *query.Statement
	reply     *Reply
}

// Ask answers questions from one filling of the tables. If that is too much memory for one of them, each of those that are left gets a
// filling of its own. Personal data is masked unless all questions ask for it as it is. The error is that of a read, for example a 503.
func (s *Reach) Ask(ctx context.Context, questions ...Question) ([]Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeOfAll, errTimeOfAll)
	defer cancel()
	replies, unmasked := make([]Reply, len(questions)), true
	for _, q := range questions {
		unmasked = unmasked && q.Unmasked
	}
	var all []*asked
	for i, q := range questions {
		q.Unmasked = unmasked
		statement, err := s.compile(q)
		if err != nil {
			replies[i].Err = invalid("query", err)
			continue
		}
		replies[i].Columns = statement.Results
		all = append(all, &asked{q, statement, &replies[i]})
	}
	if len(all) == 0 {
		return replies, nil
	}
	bytes := int64(mostResult)
	left, err := s.answer(ctx, all, &bytes)
	for _, a := range left {
		if err != nil {
			break
		}
		_, err = s.answer(ctx, []*asked{a}, &bytes)
	}
	return replies, err
}

// AskOne answers one question. The error is that of the reply, too.
func (s *Reach) AskOne(ctx context.Context, q Question) (*Reply, error) {
	replies, err := s.Ask(ctx, q)
	if err == nil {
		err = replies[0].Err
	}
	if err != nil {
		return nil, err
	}
	return &replies[0], nil
}

// Page returns a page of results of a query about the event of the path, or about events of the organization: all without events.
func (st *Store) Page(ctx context.Context, events []int64, q Question) (*page.Of[result.Row], error) {
	reach, err := st.Reach(ctx, auth.From(ctx), events)
	if err != nil {
		return nil, err
	}
	reply, err := reach.AskOne(ctx, q)
	if err != nil {
		return nil, err
	}
	return page.New(q.Page, reply.Total, reply.Objects()), nil
}

// answer fills tables and answers questions, with results of so many bytes, which it takes off. It returns the questions that are left
// when the memory or the time of the filling ends: each is to be tried alone.
func (s *Reach) answer(ctx context.Context, all []*asked, bytes *int64) (left []*asked, err error) {
	db, err := engine.Open(ctx, engine.Limits{Bytes: mostBytes, Steps: mostSteps, Result: bytes})
	if err == nil {
		defer func() { err = cmp.Or(err, db.Close()) }()
		err = s.fill(ctx, db, all)
	}
	if err = timely(ctx, err); err != nil {
		if len(all) > 1 && apierr.IsInvalid(invalid("query", err)) {
			return all, nil
		}
		return nil, all[0].refuse(err)
	}
	for i, a := range all {
		err := a.run(ctx, db)
		if errors.Is(err, engine.ErrMemory) && len(all) > 1 {
			return all[i:], nil
		}
		if err := a.refuse(err); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// run answers the question from filled tables.
func (a *asked) run(ctx context.Context, db *engine.Database) error {
	within, cancel := context.WithTimeoutCause(ctx, mostTime, errTime)
	defer cancel()
	page, err := db.Select(within, a.statement, a.Page.Offset(), a.Page.PageSize)
	a.reply.Rows, a.reply.Total = page.Rows, page.Total
	return timely(within, err)
}

// timely returns errTime or errTimeOfAll in place of an error after the time of a context has ended by it. Another limit stays.
func timely(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || apierr.IsInvalid(invalid("query", err)) || !errors.Is(cause, errTime) && !errors.Is(cause, errTimeOfAll) {
		return err
	}
	return cause
}

// refuse notes an error that is for the client in the reply, and returns any other.
func (a *asked) refuse(err error) error {
	refused := invalid("query", err)
	if !apierr.IsInvalid(refused) {
		return err
	}
	a.reply.Table, a.reply.Err = result.Table{}, refused
	return nil
}

// fill makes and fills the tables that questions need.
func (s *Reach) fill(ctx context.Context, db *engine.Database, all []*asked) error {
	f := &filling{Reach: s, database: db, masked: s.Masks(all[0].Question), tables: map[string]*wanted{}, pairs: map[string]*engine.Table{}}
	if err := f.prepare(all); err != nil {
		return err
	}
	for _, o := range s.events {
		if err := f.visit(ctx, o); err != nil {
			return err
		}
	}
	return db.Seal()
}

// mostShared is how many columns a table has that several questions share. SQLite takes 2,000.
const mostShared = 1900

// prepare makes the tables. The error for too many shared columns is a refusal: the questions are tried alone then.
func (f *filling) prepare(all []*asked) (err error) {
	for _, a := range all {
		for _, n := range a.statement.Needs {
			f.want(n, len(all) == 1)
		}
	}
	for _, w := range f.tables {
		names := make([]string, len(w.columns))
		for i, c := range w.columns {
			names[i] = c.Name
		}
		if len(names) > mostShared && len(all) > 1 {
			return apierr.Invalid("query", "The queries need more than %d fields of %s together.", mostShared, w.Name)
		}
		if w.table, err = f.database.Create(w.Name, names); err != nil {
			return err
		}
	}
	for _, a := range all {
		for _, n := range a.statement.Needs {
			for _, name := range n.Pairs {
				if err := f.wantPairs(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// wantPairs makes a table of pairs, once.
func (f *filling) wantPairs(name string) (err error) {
	if f.pairs[name] == nil {
		from, to, _ := strings.Cut(name, " ")
		f.tables[from].leads[to], f.tables[to].referred = true, true
		f.pairs[name], err = f.database.CreatePairs(name)
	}
	return err
}

// want notes that a statement needs columns of an entity. Filters count if it is the only statement.
func (f *filling) want(n *query.Need, alone bool) {
	w := f.tables[n.Entity.Name]
	if w == nil {
		of := f.families[slices.IndexFunc(f.families, func(of *family) bool { return of.Entity == n.Entity })]
		w = &wanted{family: of, leads: map[string]bool{}, last: refers{}}
		f.tables[n.Entity.Name] = w
	}
	if alone {
		w.filters = n.Filters
	}
	for _, needed := range n.Columns {
		if c := w.family.columns[needed.Name]; !slices.ContainsFunc(w.columns, func(known column) bool { return known.Name == c.Name }) {
			w.columns = append(w.columns, c)
			w.depth = max(w.depth, c.depth)
		}
	}
	for _, filter := range w.filters {
		w.depth = max(w.depth, w.family.columns[filter.Column.Name].depth)
	}
}
