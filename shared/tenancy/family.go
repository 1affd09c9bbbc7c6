package tenancy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Family is a kind of record that has an integer id and a partition of its
// own, is listed in the order of its creation, and is changed by the operator.
type Family[T any] struct {
	// Name is the kind in change records and list keys, Title in messages.
	Name, Title string
	// Facts points at what every record of a Family has.
	Facts func(*T) Facts
	// Check refuses a record that breaks a rule, naming the field.
	Check func(*T) error
	// Secret names the JSON keys that no change record shows.
	Secret []string
	// Security returns the actions of the security events that a change of a record
	// makes; before is nil for a new record. Nil for a kind that has none.
	Security func(before, after *T) []string
	// Personal is whether the record is a person's, whose values the feed of changes
	// does not have.
	Personal bool
}

// Facts points into a record of a Family.
type Facts struct {
	ID, Version          *int64
	CreatedAt, UpdatedAt *wire.Time
	// Settings is the settings version, Auth the version of what authentication reads;
	// nil for a kind that has none.
	Settings, Auth *int64
	// Org is the organization the record belongs to or is; Event the event it
	// is, otherwise 0.
	Org, Event int64
	// PK is the record's partition.
	PK string
}

// isOrganization reports whether the record is an organization itself.
func (f Facts) isOrganization() bool { return f.PK == table.Org(f.Org) }

func (f Facts) key() table.Key { return table.Key{PK: f.PK, SK: "-"} }

// Decode reads a record from its item.
func (f Family[T]) Decode(item table.Item) (*T, error) {
	r := new(T)
	if err := json.Unmarshal(item.Data, r); err != nil {
		return nil, fmt.Errorf("tenancy: decode %s %s: %w", f.Name, item.PK, err)
	}
	facts := f.Facts(r)
	*facts.Version = item.Version
	if facts.Settings != nil {
		*facts.Settings = item.Settings
	}
	if facts.Auth != nil {
		*facts.Auth = item.Auth
	}
	return r, nil
}

// item is the record as it is stored.
func (f Family[T]) item(r *T) (table.Item, error) {
	data, err := wire.Encode(r)
	if err != nil {
		return table.Item{}, fmt.Errorf("tenancy: encode %s: %w", f.Name, err)
	}
	facts := f.Facts(r)
	return table.Item{Key: facts.key(), Version: *facts.Version, Data: data}, nil
}

// maxClaims is how many ids in a row may turn out to be taken already, which
// only happens after the counter was set back.
const maxClaims = 100

var errTaken = errors.New("tenancy: id is taken")

// Create stores a new record and gives it its id, times and version. It returns
// the error of Check.
func (f Family[T]) Create(ctx context.Context, s Store, r *T) error {
	now := wire.At(s.Now())
	facts := f.Facts(r)
	*facts.CreatedAt, *facts.UpdatedAt, *facts.Version = now, now, 1
	if err := f.Check(r); err != nil {
		return err
	}
	for range maxClaims {
		id, err := s.nextID(ctx)
		if err != nil {
			return err
		}
		*facts.ID = id
		if err := f.insert(ctx, s, r); !errors.Is(err, errTaken) {
			return err
		}
	}
	return fmt.Errorf("tenancy: create %s: %d ids in a row are taken", f.Name, maxClaims)
}

func (f Family[T]) insert(ctx context.Context, s Store, r *T) error {
	item, err := f.item(r)
	if err != nil {
		return err
	}
	writes := []table.Write{table.Insert(item).Or(errTaken), table.Insert(f.entry(r))}
	return change.Commit(ctx, s.Table, append(writes, f.beside(ctx, "created", nil, r)...)...)
}

// beside returns what a change writes beside the record itself: the change record, its
// security events, and the organization's auth version, which has every instance read
// tokens and members again. An organization raises its own (plan).
func (f Family[T]) beside(ctx context.Context, done string, before, after *T) []table.Write {
	facts, noted := f.Facts(after), f.change(ctx, done, before, after)
	writes := []table.Write{noted.Write()}
	if f.Personal {
		writes = noted.PersonalWrites(facts.PK)
	}
	if !facts.isOrganization() {
		org := table.Key{PK: table.Org(facts.Org), SK: "-"}
		writes = append(writes, table.BumpAuth(org).Or(apierr.NotFound(Organizations.Title)))
	}
	if f.Security != nil {
		writes = append(writes, secure(noted, f.Security(before, after))...)
	}
	return writes
}

// entry returns the record's line in the list of its kind: of its organization, first
// created first, ties by id. Organizations are listed for the region.
func (f Family[T]) entry(r *T) table.Item {
	facts := f.Facts(r)
	if facts.isOrganization() {
		return ListLine(*facts.ID)
	}
	sk := fmt.Sprintf("%013d#%019d", facts.CreatedAt.UnixMilli(), *facts.ID)
	data := strconv.AppendInt(nil, *facts.ID, 10)
	return table.Item{Key: table.Key{PK: f.list(facts.Org), SK: sk}, Version: 1, Data: data}
}

func (f Family[T]) list(org int64) string { return table.Org(org) + "#L#" + f.Name }

// change returns the change record of a write that made after from before.
func (f Family[T]) change(ctx context.Context, done string, before, after *T) change.Record {
	facts := f.Facts(after)
	return change.New(ctx, change.Record{
		At: *facts.UpdatedAt, Org: facts.Org, Event: facts.Event,
		Action: f.Name + "." + done, Type: f.Name,
		RecordID: strconv.FormatInt(*facts.ID, 10), Version: *facts.Version,
		Values: change.Diff(before, after, f.Secret...),
	})
}

// Get reads one record by its partition. It is apierr.NotFound if there is none.
func (f Family[T]) Get(ctx context.Context, s Store, pk string) (*T, error) {
	item, err := s.Table.Get(ctx, table.Key{PK: pk, SK: "-"})
	if errors.Is(err, table.ErrNotFound) {
		return nil, apierr.NotFound(f.Title)
	}
	if err != nil {
		return nil, err
	}
	return f.Decode(item)
}

// Update lets edit change the record in partition pk and stores it with its
// next version. edit may run several times, each on a fresh copy; its error, and
// that of Check, stops the update. It is apierr.NotFound if there is no record.
func (f Family[T]) Update(ctx context.Context, s Store, pk string, edit func(*T) error) (*T, error) {
	key := table.Key{PK: pk, SK: "-"}
	answer, err := write.Run(ctx, s.Table, write.Op{
		Reads: []table.Key{key},
		Plan: func(ctx context.Context, got write.Items) (*write.Plan, error) {
			item, ok := got[key]
			if !ok {
				return nil, apierr.NotFound(f.Title)
			}
			return f.plan(ctx, s, item, edit)
		},
	})
	if err != nil {
		return nil, err
	}
	return answer.(*T), nil
}

// plan is the update of one stored record.
func (f Family[T]) plan(ctx context.Context, s Store, stored table.Item, edit func(*T) error) (*write.Plan, error) {
	before, err := f.Decode(stored)
	if err != nil {
		return nil, err
	}
	after, err := f.Decode(stored)
	if err != nil {
		return nil, err
	}
	if err := edit(after); err != nil {
		return nil, err
	}
	if err := f.Check(after); err != nil {
		return nil, err
	}
	facts := f.Facts(after)
	*facts.Version++
	*facts.UpdatedAt = wire.After(*facts.UpdatedAt, s.Now())
	item, err := f.item(after)
	if err != nil {
		return nil, err
	}
	replace := table.Replace(item, stored.Version)
	if facts.isOrganization() {
		replace = replace.RaisingAuth()
	}
	return &write.Plan{Writes: append(f.beside(ctx, "updated", before, after), replace), Answer: after}, nil
}

// IDs lists an organization's records of the kind, oldest first.
func (f Family[T]) IDs(ctx context.Context, s Store, org int64) ([]int64, error) {
	var ids []int64
	for item, err := range s.Table.Between(ctx, f.list(org), "0", ":") {
		if err != nil {
			return nil, err
		}
		id, err := strconv.ParseInt(string(item.Data), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("tenancy: list of %s: %w", f.Name, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

const (
	// maxReads is how often listed records are read until all are visible.
	maxReads = 5
	// readPause is the longest pause between two such reads.
	readPause = 20 * time.Millisecond
)

// Many reads the records in the partitions, in their order. A line of a list
// may be seen before its record while their transaction becomes visible: then
// all are read again, a few times, before table.ErrBusy.
func (f Family[T]) Many(ctx context.Context, s Store, pks []string) ([]*T, error) {
	all, err := f.Existing(ctx, s, pks)
	if err == nil && len(all) < len(pks) {
		return nil, table.ErrBusy
	}
	return all, err
}

// Existing reads the records in the partitions, in their order, as Many does, and leaves
// out a partition that has none.
func (f Family[T]) Existing(ctx context.Context, s Store, pks []string) ([]*T, error) {
	keys := make([]table.Key, len(pks))
	for i, pk := range pks {
		keys[i] = table.Key{PK: pk, SK: "-"}
	}
	var got map[table.Key]table.Item
	for try := range maxReads {
		if try > 0 {
			if err := table.Pause(ctx, readPause); err != nil {
				return nil, err
			}
		}
		var err error
		if got, err = s.Table.GetMany(ctx, keys); err != nil {
			return nil, err
		}
		if len(got) == len(keys) {
			break
		}
	}
	return f.decodeAll(keys, got)
}

func (f Family[T]) decodeAll(keys []table.Key, got map[table.Key]table.Item) ([]*T, error) {
	all := make([]*T, 0, len(got))
	for _, key := range keys {
		item, there := got[key]
		if !there {
			continue
		}
		r, err := f.Decode(item)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
