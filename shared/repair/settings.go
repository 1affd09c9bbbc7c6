package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

// settings repairs the settings of an event, or of the organization if event is 0: the
// settings version, and the unique values of fields and roles.
func (r *run) settings(ctx context.Context, event int64) error {
	d := &settings{run: r, at: item.Place{Org: r.in.OrgID, Event: event}}
	if err := r.settle(ctx, d.at.Partition(), d); err != nil {
		return err
	}
	r.report.Looked += len(d.all)
	claims := map[table.Key][]claim{}
	for _, setting := range d.all {
		_, id, _ := strings.Cut(setting.SK, "#")
		if !json.Valid(setting.Data) {
			r.unmended(Note{Where: d.at.Partition(), ID: setting.SK, What: "the setting cannot be read", Do: fromBackup})
		}
		if value := uniqueOf(setting); value != "" {
			key := d.at.Unique(item.KindOf(setting.Key), value)
			claims[key] = append(claims[key], claim{id, setting})
		}
	}
	return r.claimed(ctx, event, claims)
}

// settings is the damage of a settings version.
type settings struct {
	*run
	at           item.Place
	all          []table.Item
	counted, sum int64
}

func (d *settings) look(ctx context.Context) (sign string, err error) {
	owner, err := d.Table.Get(ctx, d.at.Owner())
	if err != nil {
		return "", err
	}
	d.all, d.counted, d.sum = nil, owner.Settings, 0
	for setting, err := range d.Table.Between(ctx, d.at.Partition(), "0", lastKey) {
		if err != nil {
			return "", err
		}
		d.all = append(d.all, setting)
		d.sum += item.Counted(setting)
	}
	if d.sum == d.counted {
		return "", nil
	}
	return fmt.Sprint(d.counted, d.sum), nil
}

func (d *settings) mend(ctx context.Context) error {
	what := fmt.Sprintf("the settings version was %d, its settings add up to %d", d.counted, d.sum)
	return d.correct(ctx, d.at.Event, Note{Where: d.at.Owner().PK, What: what}, table.CorrectSettings(d.at.Owner(), d.counted, d.sum))
}

// uniqueOf returns the value that no other setting of the kind may have; empty if the
// setting has no unique value.
func uniqueOf(setting table.Item) string {
	switch item.KindOf(setting.Key) {
	case field.Kind:
		var d field.Definition
		if json.Unmarshal(setting.Data, &d) == nil && d.DeletedAt == nil && d.InternalName != "" {
			return string(d.Module) + "#" + d.InternalName
		}
	case participant.Kind:
		var role participant.Role
		if json.Unmarshal(setting.Data, &role) == nil && role.DeletedAt == nil {
			return role.Slug
		}
	}
	return ""
}

// holds removes the unique values that the input names and that no record has.
func (r *run) holds(ctx context.Context) error {
	for i, pk := range r.in.Holds {
		stray, ok := r.strayOf(table.Key{PK: pk, SK: "-"})
		if !ok {
			return apierr.Invalid(fmt.Sprintf("holds[%d]", i), "holds[%d] must be the key of a unique value of the organization.", i)
		}
		if err := r.settle(ctx, place(stray.key), stray); err != nil {
			return err
		}
	}
	return nil
}

// stray is the damage of a unique value that is held for a record without the value.
type stray struct {
	*run
	at   item.Place
	kind string
	key  table.Key
	held table.Item
	// check is the condition that the holder has not changed since look read the holder.
	check table.Write
}

// strayOf reads the key of a unique value.
func (r *run) strayOf(key table.Key) (*stray, bool) {
	d := &stray{run: r, at: item.Place{Org: r.in.OrgID}, key: key}
	below, ok := strings.CutPrefix(key.PK, table.Org(r.in.OrgID)+"#")
	if behind, of := strings.CutPrefix(below, "E#"); of {
		var id string
		id, below, _ = strings.Cut(behind, "#")
		d.at.Event, _ = strconv.ParseInt(id, 10, 64)
	}
	value, held := strings.CutPrefix(below, "Q#")
	d.kind, _, _ = strings.Cut(value, "#")
	return d, ok && held && slices.Contains([]string{emailField, field.Kind, participant.Kind}, d.kind)
}

func (d *stray) look(ctx context.Context) (sign string, err error) {
	got, err := d.Table.GetMany(ctx, []table.Key{d.key})
	if err != nil || len(got) == 0 {
		return "", err
	}
	holder := holderOf(got[d.key])
	owner := d.at.Key(d.kind, holder)
	if d.kind == emailField {
		owner = contact.Kind.Body(d.in.OrgID, holder)
	}
	if got, err = d.Table.TransactGet(ctx, []table.Key{d.key, owner}); err != nil {
		return "", err
	}
	body, exists := got[owner]
	d.held, d.check = got[d.key], table.Absent(owner)
	if exists {
		d.check = table.Version(owner, body.Version)
	}
	if exists && (!json.Valid(body.Data) || d.has(body)) {
		return "", nil // An unreadable record may have the value. settings or compare notes the record.
	}
	return fmt.Sprint("held for ", holder, body.Version), nil
}

// has reports whether the holder has the value.
func (d *stray) has(body table.Item) bool {
	if d.kind != emailField {
		return d.at.Unique(d.kind, uniqueOf(body)) == d.key
	}
	b, err := party.Decode(body)
	return err == nil && contact.ByEmail(d.in.OrgID, b.Value(emailField)) == d.key
}

func (d *stray) mend(ctx context.Context) error {
	note := Note{Where: place(d.key), ID: holderOf(d.held), What: "a unique value was held for the record, which does not have it"}
	return d.correct(ctx, d.at.Event, note, table.Remove(d.key, d.held.Version), d.check)
}

// place returns the key of a unique value without the value, since the value may be a
// person's address.
func place(key table.Key) string {
	before, behind, _ := strings.Cut(key.PK, "#Q#")
	kind, _, _ := strings.Cut(behind, "#")
	return before + "#Q#" + kind
}
