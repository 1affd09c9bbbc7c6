package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// edit sets properties of a stored body; nil removes a property.
type edit map[string]any

// rewriting is the next version of a body with some properties set, under more conditions.
type rewriting struct {
	family
	id     string
	body   table.Item
	set    edit
	what   string
	checks []table.Write
}

// rewrite writes the next version of a body, the row, and the change record. The change is
// published as nothing: for clients, the record says the same as before, or the same as the
// other half of the torn write.
func (r *run) rewrite(ctx context.Context, w rewriting) error {
	f, id, body, set := w.family, w.id, w.body, w.set
	properties := map[string]json.RawMessage{}
	if err := json.Unmarshal(body.Data, &properties); err != nil {
		return fmt.Errorf("decode %s %s: %w", f.name(), id, err)
	}
	at := wire.At(r.Now())
	if was := (wire.Time{}); json.Unmarshal(properties["updated_at"], &was) == nil {
		at = wire.After(was, at.Time)
	}
	set["updated_at"] = at
	for name, value := range set {
		if value == nil {
			delete(properties, name)
			continue
		}
		text, err := wire.Encode(value)
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		properties[name] = text
	}
	text, err := wire.Encode(properties)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", f.name(), id, err)
	}
	is := table.Item{Key: body.Key, Version: body.Version + 1, Data: text}
	row, err := f.row(is)
	if err != nil {
		return err
	}
	note := Note{Where: body.PK, ID: id, What: w.what}
	if r.in.DryRun {
		r.mended(note)
		return nil
	}
	record := change.New(ctx, change.Record{
		At: at, Org: r.in.OrgID, Event: f.event, Action: f.name() + "." + Type + "ed", Type: f.name(), RecordID: id, Version: is.Version,
		Values: []change.Value{{Field: "what", New: w.what}},
	})
	noted := []table.Write{record.Write()}
	if f.kind != nil {
		noted = record.PersonalWrites(body.PK)
	}
	if err := r.commit(ctx, slices.Concat(catalogue.Write(f.source(), id, is, body.Version, row), noted, w.checks)...); err != nil {
		return err
	}
	r.mended(note)
	return nil
}

// counter is a running number that may be below the highest number of a record.
type counter struct {
	*run
	event          int64
	key            table.Key
	given, highest int64
}

func (c *counter) look(ctx context.Context) (sign string, err error) {
	c.given, err = c.Table.Count(ctx, c.key)
	if err != nil || c.given >= c.highest {
		return "", err
	}
	return fmt.Sprint(c.given), nil
}

func (c *counter) mend(ctx context.Context) error {
	what := fmt.Sprintf("the last number given was %d, the highest of a record is %d", c.given, c.highest)
	return c.correct(ctx, c.event, Note{Where: c.key.PK, What: what}, table.CorrectCount(c.key, c.given, c.highest))
}

// count raises a counter that is below the highest number given.
func (r *run) count(ctx context.Context, event int64, key table.Key, highest int64) error {
	return r.settle(ctx, key.PK, &counter{run: r, event: event, key: key, highest: highest})
}

func decode(stored table.Item, into any) error { return json.Unmarshal(stored.Data, into) }
