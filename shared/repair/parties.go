package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/table"
)

// emailField is the standard field with a unique value: no two contacts share an address.
const emailField = "email"

func (r *run) contacts(ctx context.Context, event int64) error {
	return r.parties(ctx, contact.Kind, event)
}

func (r *run) accounts(ctx context.Context, event int64) error {
	return r.parties(ctx, account.Kind, event)
}

// parties repairs the associations of a kind with an event, or the organization's records
// if event is 0.
func (r *run) parties(ctx context.Context, kind *party.Kind, event int64) error {
	f := family{kind, r.in.OrgID, event}
	found, err := r.rows(ctx, f)
	if err != nil {
		return err
	}
	if event != 0 {
		return r.lostRecords(ctx, f, found)
	}
	highest, claims := int64(0), map[table.Key][]claim{}
	for _, id := range sorted(found) {
		b, err := party.Decode(found[id])
		if err != nil {
			continue // compare has noted the record.
		}
		highest = max(highest, b.Number)
		if email := b.Value(emailField); kind == contact.Kind && email != "" {
			key := contact.ByEmail(r.in.OrgID, email)
			claims[key] = append(claims[key], claim{id, found[id]})
		}
	}
	if err := r.claimed(ctx, 0, claims); err != nil || r.in.Shard != "" {
		return err
	}
	for _, id := range r.in.IDs {
		if err := r.settle(ctx, f.body(id).PK, &roles{run: r, family: f, id: id}); err != nil {
			return err
		}
	}
	return r.count(ctx, 0, kind.NumberKey(r.in.OrgID), highest)
}

// lostRecords reports the associations without a record.
func (r *run) lostRecords(ctx context.Context, f family, found map[string]table.Item) error {
	keys := map[table.Key]string{}
	for id := range found {
		keys[f.kind.Body(f.org, id)] = id
	}
	records, err := r.Table.GetMany(ctx, slices.Collect(maps.Keys(keys)))
	if err != nil {
		return err
	}
	for key, id := range keys {
		if _, found := records[key]; !found {
			r.unmended(Note{Where: f.source().Rows, ID: id, What: "the " + f.name() + " is on the event and its record is lost", Do: fromBackup})
		}
	}
	return nil
}

// roles is the damage of a record's counts of its roles. The record changes with each of
// its associations.
type roles struct {
	*run
	family
	id     string
	body   table.Item
	counts map[string]int
	held   map[string]int
}

func (d *roles) look(ctx context.Context) (sign string, err error) {
	key := d.family.body(d.id)
	got, err := d.Table.GetMany(ctx, []table.Key{key})
	if err != nil || len(got) == 0 {
		return "", err
	}
	d.body, d.held = got[key], map[string]int{}
	b, err := party.Decode(d.body)
	if err != nil {
		return "", nil // compare notes an unreadable item with its row.
	}
	for stored, err := range d.Table.Between(ctx, key.PK, "E#", "E#"+lastKey) {
		if err != nil {
			return "", err
		}
		association, err := party.DecodeAssociation(stored)
		if err != nil {
			return "", nil // compare notes an unreadable item with its row.
		}
		for role, is := range association.Roles {
			if is.DeletedAt == nil {
				d.held[role]++
			}
		}
	}
	if d.counts = b.Active; maps.Equal(d.held, d.counts) {
		return "", nil
	}
	return fmt.Sprint(d.body.Version, d.held), nil
}

func (d *roles) mend(ctx context.Context) error {
	what := fmt.Sprintf("the %s counted the roles %v, it holds %v", d.name(), d.counts, d.held)
	return d.rewrite(ctx,
		rewriting{family: d.family, id: d.id, body: d.body, set: edit{"active": d.held, "edited": d.body.Version + 1}, what: what})
}

// claim is a record that has a unique value.
type claim struct {
	id   string
	body table.Item
}

// claimed repairs the holds of unique values, so that each value is held for the record
// that has the value. It reports a value that several records have.
func (r *run) claimed(ctx context.Context, event int64, claims map[table.Key][]claim) error {
	keys := slices.Collect(maps.Keys(claims))
	held, err := r.Table.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	for key, by := range claims {
		holder := holderOf(held[key])
		if len(by) > 1 {
			r.unmended(Note{Where: place(key), ID: by[0].id, What: "the record and " + by[1].id + " have the same unique value, held for " + holder,
				Do: "change the value of one of them"})
			continue
		}
		if holder != by[0].id {
			if err := r.settle(ctx, place(key), &hold{run: r, event: event, key: key, by: by[0]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// hold is the damage of a unique value that only one record has, and that is not held for
// this record. A write changes the item of the value together with the record.
type hold struct {
	*run
	event int64
	key   table.Key
	by    claim
	held  table.Item
}

func (d *hold) look(ctx context.Context) (sign string, err error) {
	got, err := d.Table.TransactGet(ctx, []table.Key{d.key, d.by.body.Key})
	if err != nil {
		return "", err
	}
	d.held = got[d.key]
	if holderOf(d.held) == d.by.id || got[d.by.body.Key].Version != d.by.body.Version {
		return "", nil // Another version may have another value: left to the next repair.
	}
	return "held for " + holderOf(d.held), nil
}

func (d *hold) mend(ctx context.Context) error {
	is := table.Item{Key: d.key, Version: 1, Data: fmt.Appendf(nil, `{"id":%q}`, d.by.id)}
	write, what := table.Insert(is), "the unique value of the record was not held"
	if d.held.Version != 0 {
		write, what = table.Replace(is, d.held.Version), "the unique value of the record was held for "+holderOf(d.held)
	}
	return d.correct(ctx, d.event, Note{Where: place(d.key), ID: d.by.id, What: what}, write, table.Version(d.by.body.Key, d.by.body.Version))
}

func holderOf(held table.Item) string {
	var says struct {
		ID string `json:"id"`
	}
	if held.Data == nil || json.Unmarshal(held.Data, &says) != nil {
		return ""
	}
	return says.ID
}
