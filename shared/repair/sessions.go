package repair

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/session"
	"lectern/shared/table"
)

// maxOthers is the number of sessions on which one transaction can be conditional, beside
// its writes.
const maxOthers = table.MaxWrites - 10

// sessions repairs an event's sessions: rows, the running number, lists of subsessions,
// compositions, and the items of people. It reports people and companies that are not on
// the event.
func (r *run) sessions(ctx context.Context, event int64) error {
	f := family{org: r.in.OrgID, event: event}
	found, err := r.rows(ctx, f)
	if err != nil || r.in.Shard != "" {
		return err
	}
	bodies, highest := decodeSessions(found)
	if err := r.count(ctx, event, session.Of(r.in.OrgID, event).Numbers(), highest); err != nil {
		return err
	}
	r.lostParents(f, bodies)
	for _, id := range sorted(bodies) {
		if set, _ := wrong(id, bodies); len(set) == 0 {
			continue
		}
		d := &relations{run: r, family: f, id: id, others: others(id, bodies)}
		if slices.ContainsFunc(d.others, func(other string) bool { return found[other].Version != 0 && bodies[other] == nil }) {
			continue // The other session's side of the relation is unknown.
		}
		if len(d.others) > maxOthers {
			r.unmended(Note{Where: f.source().Rows, ID: id,
				What: "the session refers to more sessions than one transaction holds", Do: "delete some of them"})
			continue
		}
		if err := r.settle(ctx, f.body(id).PK, d); err != nil {
			return err
		}
	}
	if err := r.visits(ctx, f, bodies); err != nil {
		return err
	}
	return r.guests(ctx, f, bodies)
}

// decodeSessions returns the bodies that can be read, and the highest number of a session
// without a parent. compare has noted the unreadable bodies.
func decodeSessions(found map[string]table.Item) (bodies map[string]*session.Body, highest int64) {
	bodies = map[string]*session.Body{}
	for id, item := range found {
		b, err := session.Decode(item)
		if err != nil {
			continue
		}
		bodies[id] = b
		if b.Parent == "" {
			highest = max(highest, b.Number)
		}
	}
	return bodies, highest
}

// lostParents reports sessions that share a number, and subsessions without a parent.
func (r *run) lostParents(f family, bodies map[string]*session.Body) {
	named := map[string]string{}
	for _, id := range sorted(bodies) {
		b := bodies[id]
		if other := named[b.FriendlyID()]; other != "" {
			r.unmended(Note{Where: f.source().Rows, ID: id, What: "the session has the same number as " + other,
				Do: "delete one of them and create it again"})
		}
		named[b.FriendlyID()] = id
		if b.Parent != "" && bodies[b.Parent] == nil {
			r.unmended(Note{Where: f.source().Rows, ID: id, What: "the session's parent is lost", Do: fromBackup + ", or delete the session"})
		}
	}
}

// relations is the damage of a session's references to other sessions.
type relations struct {
	*run
	family
	id     string
	others []string

	body   table.Item
	set    edit
	what   string
	checks []table.Write
}

func (d *relations) look(ctx context.Context) (sign string, err error) {
	keys := []table.Key{d.family.body(d.id)}
	for _, other := range d.others {
		keys = append(keys, d.family.body(other))
	}
	got, err := d.Table.TransactGet(ctx, keys)
	if err != nil {
		return "", err
	}
	bodies := map[string]*session.Body{}
	d.checks = nil
	for key, item := range got {
		if b, err := session.Decode(item); err == nil {
			bodies[b.ID] = b
		}
		if key != keys[0] {
			d.checks = append(d.checks, table.Version(key, item.Version))
		}
	}
	d.body = got[keys[0]]
	if d.set, d.what = wrong(d.id, bodies); len(d.set) == 0 {
		return "", nil
	}
	return fmt.Sprint(d.what, d.body.Version), nil
}

func (d *relations) mend(ctx context.Context) error {
	return d.rewrite(ctx, rewriting{d.family, d.id, d.body, d.set, d.what, d.checks})
}

// others returns the sessions that a session refers to or should refer to.
func others(id string, bodies map[string]*session.Body) (ids []string) {
	b := bodies[id]
	ids = slices.Clone(b.Subsessions)
	for _, link := range b.Sources {
		ids = append(ids, link.SessionID)
	}
	if b.Target != nil {
		ids = append(ids, b.Target.SessionID)
	}
	_, last := parts(id, bodies)
	for other, o := range bodies {
		if o.Parent == id && (o.DeletedAt == nil || o.Number == last) {
			ids = append(ids, other)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// wrong returns the properties that a session should have instead, according to the other
// sessions, and a description of the damage.
func wrong(id string, all map[string]*session.Body) (set edit, what string) {
	b := all[id]
	if b == nil {
		return nil, ""
	}
	set = edit{}
	live, last := parts(id, all)
	if !slices.Equal(slices.Sorted(slices.Values(live)), slices.Sorted(slices.Values(b.Subsessions))) {
		set["subsessions"], what = live, fmt.Sprintf("the session listed %d subsessions and has %d", len(b.Subsessions), len(live))
	}
	if last > b.LastNumber {
		set["last_number"], what = last, "the last number given to a subsession was too low"
	}
	if b.Target != nil {
		target := all[b.Target.SessionID]
		if target == nil || !slices.ContainsFunc(target.Sources, func(l session.Link) bool { return l.SessionID == id }) {
			set["target"], what = nil, "the session's composition was one-sided and is undone"
		}
	}
	sources := slices.DeleteFunc(slices.Clone(b.Sources), func(l session.Link) bool {
		source := all[l.SessionID]
		return source == nil || source.Target == nil || source.Target.CompositionID != l.CompositionID
	})
	if len(sources) < len(b.Sources) {
		set["sources"], what = sources, "the session's composition was one-sided and is undone"
	}
	return set, what
}

// parts returns the live subsessions of a session by number, and the highest number of any
// subsession.
func parts(id string, all map[string]*session.Body) (live []string, last int64) {
	var of []*session.Body
	for _, b := range all {
		if b.Parent == id {
			of, last = append(of, b), max(last, b.Number)
		}
	}
	slices.SortFunc(of, func(a, b *session.Body) int { return cmp.Compare(a.Number, b.Number) })
	live = []string{}
	for _, b := range of {
		if b.DeletedAt == nil {
			live = append(live, b.ID)
		}
	}
	return live, last
}

// guests reports the people and companies on sessions that are not on the event.
func (r *run) guests(ctx context.Context, f family, bodies map[string]*session.Body) error {
	type guest struct{ who, session string }
	named := map[table.Key]guest{}
	for id, b := range bodies {
		for _, person := range b.Participants {
			named[contact.Kind.OnEvent(f.org, f.event, person.ContactID)] = guest{"contact " + person.ContactID, id}
		}
		for _, company := range slices.Concat(b.SponsorIDs, b.ExhibitorIDs) {
			named[account.Kind.OnEvent(f.org, f.event, company)] = guest{"account " + company, id}
		}
	}
	got, err := r.Table.GetMany(ctx, slices.Collect(maps.Keys(named)))
	if err != nil {
		return err
	}
	for key, g := range named {
		if _, found := got[key]; !found {
			r.unmended(Note{Where: f.source().Rows, ID: g.session,
				What: "the session names the " + g.who + ", which was purged, or its association with the event is lost",
				Do:   "nothing where it was purged; else create it on the event again, or take it off the session"})
		}
	}
	return nil
}
