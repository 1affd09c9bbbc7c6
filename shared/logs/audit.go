package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/table"
)

// audit is the audit trail, in order of time and id.
type audit struct {
	Reader
	Query
}

const (
	// recordsAtOnce is the number of change records whose values are read in one batch.
	recordsAtOnce = 50
	// mostFirst limits the change records of the first call of a partition: a record has up to
	// 100 KB, and a page may need few.
	mostFirst = 40
)

func (a audit) log() (feed.Log, int) {
	// A little more than an eighth of a page from each partition mostly fills the page.
	first := min(a.Limit/feed.Buckets+a.Limit/32+feed.Buckets, mostFirst)
	return feed.Log{Table: a.Table, Root: change.Root(a.Org.ID), Hourly: true, First: first}, recordsAtOnce
}

func (a audit) bounds(horizon time.Time) (from, to string) { return a.keys(horizon) }

// record is a change record with its values as they are stored.
type record struct {
	change.Record
	Values []value `json:"values"`
}

type value struct {
	Field string          `json:"field"`
	New   json.RawMessage `json:"new"`
}

func decode(item table.Item) (r record, err error) {
	if err := json.Unmarshal(item.Data, &r); err != nil {
		return r, fmt.Errorf("logs: decode a change record: %w", err)
	}
	return r, nil
}

// expand returns an event for each value of a change, and a single event for a change without
// values. The values of a purged person are gone.
func (a audit) expand(ctx context.Context, items []table.Item) ([]expansion, error) {
	all, records := make([]expansion, len(items)), make([]record, len(items))
	beside := map[int]table.Key{}
	for i, item := range items {
		var err error
		if records[i], err = decode(item); err != nil {
			all[i] = a.damaged(ctx, Audit, a.Org.ID, item, err)
			continue
		}
		if key, ok := a.valuesOf(records[i]); ok {
			beside[i] = key
		}
	}
	keys := make([]table.Key, 0, len(beside))
	for _, key := range beside {
		keys = append(keys, key)
	}
	whole, err := a.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if all[i].events != nil {
			continue
		}
		key, ok := beside[i]
		if !ok {
			all[i] = expansion{events: a.events(records[i]), bytes: len(item.Data)}
			continue
		}
		full, err := valued(records[i], whole[key])
		all[i] = expansion{events: a.events(full), bytes: len(item.Data) + len(whole[key].Data)}
		if err != nil {
			a.note(ctx, key, err)
			all[i].events[0].Reason = known(broken)
		}
	}
	return all, nil
}

// valuesOf returns the key of the item beside the person or company that a change is about. It
// reports false for other records, and for a first version, which has no values.
func (a audit) valuesOf(r record) (table.Key, bool) {
	partition := a.Personal[r.Type]
	if partition == nil || r.Version == 1 {
		return table.Key{}, false
	}
	return change.PersonalKey(partition(a.Org.ID, r.RecordID), r.ID), true
}

// valued returns a change about a person or company with its values, from the item beside the
// person; without values after a purge, which removes that item. First releases wrote records
// without a nonce: the values are in the feed, and only contacts have an item, with a hash. If the
// item cannot be decoded, valued returns the change without values, and the error.
func valued(r record, beside table.Item) (record, error) {
	switch {
	case beside.PK == "":
		r.Values = nil
		return r, nil
	case r.Nonce == "":
		return r, nil
	}
	full, err := decode(beside)
	if err != nil {
		r.Values = nil
		return r, err
	}
	return full, nil
}

// events returns the events of a change.
func (a audit) events(r record) []Event {
	event := Event{
		Stream: Audit, OccurredAt: r.At, Action: r.Action, Outcome: success, OrganizationID: a.Org.ID, EventID: known(r.Event),
		Target: Target{Type: known(r.Type), ID: known(r.RecordID)},
	}
	event.Actor, event.Token = by(r.Actor)
	all := make([]Event, max(len(r.Values), 1))
	for n := range all {
		all[n] = event
		all[n].ID = fmt.Sprintf("%s-%04d", r.ID, n)
		if n == len(r.Values) {
			break
		}
		all[n].Target.Field = &r.Values[n].Field
		if !a.HideValues {
			all[n].Target.NewValue = shown(r.Values[n].New)
		}
	}
	return all
}

// hashLength is the length of the hash of a cut value.
const hashLength = 64

// shown returns a value as JSON. Of a cut value it returns the text, or nil if only the hash is
// kept.
func shown(stored json.RawMessage) any {
	var cut change.Cut
	switch err := json.Unmarshal(stored, &cut); {
	case err != nil || len(cut.SHA256) != hashLength:
		return stored
	case cut.Text == "":
		return nil
	}
	return cut.Text
}
