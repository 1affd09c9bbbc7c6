package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Sum is a number that a record adds to another record of its owner: a submission counts in its category. The
// other record must be there when the first sum names it.
type Sum struct {
	// Kind and Of name the other record, Name the number.
	Kind string `json:"kind"`
	Of   string `json:"of"`
	Name string `json:"name"`
	By   int    `json:"by"`
}

// SumKey returns the key of the item with the numbers that records of a kind add to the record of an id.
func (o Owner) SumKey(id, kind string) table.Key {
	return table.Key{PK: o.Partition(), SK: summed + id + "#" + kind}
}

// IsSum reports whether the key is a SumKey.
func IsSum(key table.Key) bool { return strings.HasPrefix(key.SK, summed) }

// IsSerial reports whether the key is a SerialKey.
func IsSerial(key table.Key) bool { return strings.HasPrefix(key.SK, serial) }

// SerialKey returns the key of a counter of the event or organization.
func (o Owner) SerialKey(name string) table.Key {
	return table.Key{PK: o.top().Partition(), SK: serial + name}
}

// SerialOf returns the counter of the running number of a record of a kind, such as AWD-2027-00042, and the number of the
// record in its year. The key is empty for a text without three parts.
func (o Owner) SerialOf(kind, friendlyID string) (counter table.Key, number int, err error) {
	parts := strings.Split(friendlyID, "-")
	if len(parts) != 3 {
		return table.Key{}, 0, nil
	}
	number, err = strconv.Atoi(parts[2])
	return o.SerialKey(kind + "#" + parts[1]), number, err
}

// adds returns the sums of a record: the sums of the kind, and the sum that counts the record in the record above.
func (s storage[R, P, D]) adds(r P) (all []Sum) {
	if s.kind.Adds != nil {
		all = s.kind.Adds(r)
	}
	if s.kind.Above != nil && s.kind.Above(r) != "" {
		all = append(all, Sum{Kind: s.kind.Name, Of: s.kind.Above(r), Name: belowPrefix + r.RecordID(), By: 1})
	}
	return all
}

// sumKeys returns the keys of the numbers that the last and the next version add to, and of the records that
// the next version names.
func (s storage[R, P, D]) sumKeys(r *R) (keys []table.Key) {
	next := s.adds(r)
	for _, sum := range slices.Concat(P(r).header().meta.Sums, next) {
		keys = append(keys, s.owner.SumKey(sum.Of, s.kind.Name))
	}
	for _, sum := range next {
		keys = append(keys, s.owner.Key(sum.Kind, sum.Of))
	}
	return keys
}

// sums returns the writes of the numbers that change with the record, and the conditions that the records of
// new sums are there. A deleted record adds nothing.
func (s storage[R, P, D]) sums(step record.Step[R], got write.Items) (writes []table.Write, err error) {
	h := P(step.After).header()
	before := h.meta.Sums
	if h.meta.Sums = nil; step.Verb != record.Deleted {
		h.meta.Sums = s.adds(step.After)
	}
	changes := map[string]map[string]int{}
	for _, sum := range before {
		add(changes, sum, -sum.By)
	}
	for _, sum := range h.meta.Sums {
		add(changes, sum, sum.By)
		key := s.owner.Key(sum.Kind, sum.Of)
		if _, found := got[key]; !found && !names(before, sum) {
			return nil, gone(sum.Kind)
		}
		if !names(before, sum) {
			writes = append(writes, table.Exists(key))
		}
	}
	for id, by := range changes {
		w, err := resum(got, s.owner.SumKey(id, s.kind.Name), by)
		if err != nil {
			return nil, err
		}
		writes = append(writes, w...)
	}
	return writes, nil
}

func add(changes map[string]map[string]int, sum Sum, by int) {
	if changes[sum.Of] == nil {
		changes[sum.Of] = map[string]int{}
	}
	changes[sum.Of][sum.Name] += by
}

// names reports whether one of the sums names the same record.
func names(sums []Sum, as Sum) bool {
	return slices.ContainsFunc(sums, func(s Sum) bool { return s.Of == as.Of })
}

// gone returns the 409 of a record that names a deleted one.
func gone(kind string) error {
	return apierr.Conflict(CodeParentDeleted, fmt.Sprintf("The %s is deleted.", strings.ReplaceAll(kind, "_", " ")))
}

// resum returns the write that adds to the numbers of an item; none if nothing changes. A number of zero is not
// stored.
func resum(got write.Items, key table.Key, by map[string]int) ([]table.Write, error) {
	stored := got[key]
	numbers, err := DecodeNumbers(stored)
	if err != nil {
		return nil, err
	}
	same := true
	for name, n := range by {
		same = same && n == 0
		if numbers[name] += n; numbers[name] == 0 {
			delete(numbers, name)
		}
	}
	if same {
		return nil, nil
	}
	data, err := wire.Encode(numbers)
	item := table.Item{Key: key, Version: stored.Version + 1, Data: data}
	if stored.Version == 0 {
		return []table.Write{table.Insert(item)}, err
	}
	return []table.Write{table.Replace(item, stored.Version)}, err
}

// DecodeNumbers returns the numbers of an item under a SumKey; empty for a missing item.
func DecodeNumbers(stored table.Item) (map[string]int, error) {
	numbers := map[string]int{}
	if stored.Data == nil {
		return numbers, nil
	}
	if err := json.Unmarshal(stored.Data, &numbers); err != nil {
		return nil, fmt.Errorf("resource: decode %s: %w", stored.SK, err)
	}
	return numbers, nil
}

// numberKeys returns the keys of a record's numbers: of its own records, and of the sums of the records beside.
func (c Collection[R, P, D]) numberKeys(id string) (keys []table.Key) {
	below := Owner{Org: c.owner.Org, Event: c.owner.Event, Parent: id}
	for _, kind := range c.kind.Children {
		keys = append(keys, below.CountKey(kind))
	}
	for _, kind := range c.kind.Sums {
		keys = append(keys, c.owner.SumKey(id, kind))
	}
	if c.kind.Above != nil {
		keys = append(keys, c.owner.SumKey(id, c.kind.Name))
	}
	return keys
}

// numbers returns a record's numbers: by kind of its own records, and by name of the sums.
func (c Collection[R, P, D]) numbers(id string, got write.Items) (map[string]int, error) {
	all := map[string]int{}
	for i, key := range c.numberKeys(id) {
		if i < len(c.kind.Children) {
			number, _, err := countOf(got, key)
			if err != nil {
				return nil, err
			}
			all[c.kind.Children[i]] = number
			continue
		}
		sums, err := DecodeNumbers(got[key])
		if err != nil {
			return nil, err
		}
		for name, n := range sums {
			all[name] += n
		}
	}
	return all, nil
}

// shownKeys returns the keys of the numbers that an answer shows of a record.
func (c Collection[R, P, D]) shownKeys(id string) []table.Key {
	if c.kind.Counts == nil {
		return nil
	}
	return c.numberKeys(id)
}

// complete completes stored records for an answer: with their numbers, with what else is not stored, and with the records
// below. Built-in records are complete.
func (c Collection[R, P, D]) complete(ctx context.Context, all ...P) error {
	var keys []table.Key
	for _, r := range all {
		keys = append(keys, c.shownKeys(r.RecordID())...)
	}
	got, err := c.Table.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	return c.completeFrom(ctx, got, all...)
}

// completeFrom is complete with the items of shownKeys among got.
func (c Collection[R, P, D]) completeFrom(ctx context.Context, got write.Items, all ...P) error {
	var lower []string
	for _, r := range all {
		if c.kind.Counts != nil {
			numbers, err := c.numbers(r.RecordID(), got)
			if err != nil {
				return err
			}
			c.kind.Counts(r, numbers)
			lower = append(lower, below(numbers)...)
		}
		if c.kind.Show != nil && r.Revision() > 0 {
			c.kind.Show(r, c.Store, c.owner)
		}
	}
	if c.kind.Above == nil {
		return nil
	}
	return c.nest(ctx, all, lower)
}

// serial gives a new record its running number, and returns the write of the counter. A creation that is
// refused takes no number, so the numbers have no gaps.
func (s storage[R, P, D]) serial(step record.Step[R], got write.Items) ([]table.Write, error) {
	if s.kind.Serial == nil || step.Verb != record.Created {
		return nil, nil
	}
	key := s.owner.SerialKey(s.kind.Serial(step.After, 0))
	last, stored, err := countOf(got, key)
	if err != nil {
		return nil, err
	}
	s.kind.Serial(step.After, last+1)
	stored.Key = key
	return []table.Write{table.Recount(stored, last, 1)}, nil
}
