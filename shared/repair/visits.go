package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
)

// sessionsAtOnce is the number of sessions that have the items of people repaired in
// parallel.
const sessionsAtOnce = 32

// visits repairs the items next to the people of an event's sessions, and the items of the
// contacts that the input names. A named contact may be on no session.
func (r *run) visits(ctx context.Context, f family, bodies map[string]*session.Body) error {
	people := map[string][]string{}
	for id, b := range bodies {
		for _, p := range b.Participants {
			people[id] = append(people[id], p.ContactID)
		}
	}
	for _, contact := range r.in.IDs {
		items, err := person.OnEvent(ctx, r.Table, f.org, f.event, contact)
		if err != nil {
			return err
		}
		for _, item := range items {
			people[item.Session] = append(people[item.Session], contact)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sessionsAtOnce)
	for _, id := range sorted(people) {
		g.Go(table.Safely(func() error {
			for some := range slices.Chunk(distinct(people[id]), maxRows) {
				if err := r.settle(ctx, f.body(id).PK, &visits{run: r, family: f, id: id, people: some}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return g.Wait()
}

func distinct(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// visits is the damage of the items of one session next to some people.
type visits struct {
	*run
	family
	id     string
	people []string
	writes []table.Write
	wrong  []string
}

func (d *visits) look(ctx context.Context) (sign string, err error) {
	of := person.Session{Org: d.org, Event: d.event, ID: d.id}
	key := d.body(d.id)
	keys := []table.Key{key}
	for _, contact := range d.people {
		keys = append(keys, of.Key(contact))
	}
	got, err := d.Table.GetMany(ctx, keys)
	if err != nil {
		return "", err
	}
	body, found := got[key]
	d.wrong, d.writes = nil, []table.Write{table.Absent(key)}
	roles := person.Roles{}
	if found {
		b, err := session.Decode(body)
		if err != nil {
			return "", nil //nolint:nilerr // compare has noted the session
		}
		of.Version, of.Created, d.writes = body.Version, b.CreatedAt.UnixMilli(), []table.Write{table.Version(key, body.Version)}
		for _, p := range b.Participants {
			roles.Add(p.ContactID, p.RoleID)
		}
	}
	for _, contact := range d.people {
		if err := d.judge(of, contact, roles[contact], got); err != nil {
			return "", err
		}
	}
	if len(d.wrong) == 0 {
		return "", nil
	}
	return fmt.Sprint(body.Version, strings.Join(d.wrong, " ")), nil
}

// judge compares the item next to a contact with the contact's roles in the session.
func (d *visits) judge(of person.Session, contact string, roles []string, got map[table.Key]table.Item) error {
	stored, found := got[of.Key(contact)]
	if !found && len(roles) == 0 || found && stands(stored, of, roles) {
		return nil
	}
	d.wrong = append(d.wrong, contact)
	if len(roles) == 0 {
		d.writes = append(d.writes, table.Remove(stored.Key, stored.Version))
		return nil
	}
	put, err := of.Put(contact, roles)
	d.writes = append(d.writes, put)
	return err
}

// stands reports whether an item agrees with the session. An item without roles announces a
// write (decision 18); a reader then asks the session itself.
func stands(stored table.Item, of person.Session, roles []string) bool {
	var says person.Item
	if json.Unmarshal(stored.Data, &says) != nil || len(says.Roles) > 0 && !slices.Equal(says.Roles, roles) {
		return false
	}
	return len(roles) == 0 || says.Created == of.Created && stored.Version <= of.Version
}

func (d *visits) mend(ctx context.Context) error {
	what := fmt.Sprintf("the items of the session beside %d contacts were wrong or missing", len(d.wrong))
	return d.correct(ctx, d.event, Note{Where: d.body(d.id).PK, ID: d.id, What: what}, d.writes...)
}
