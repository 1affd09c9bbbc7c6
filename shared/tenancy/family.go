package tenancy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Family declares a kind of record with an integer id and a partition per record. The records
// are listed in the order of their creation.
type Family[T any] struct {
	// Name is the kind in change records and list keys, Title in messages.
	Name, Title string
	// Facts points to the fields that every record of a Family has.
	Facts func(*T) Facts
	// Check refuses a record that breaks a rule of the store, and names the field.
	Check func(*T, Store) error
	// Secret names the JSON keys that no change record shows.
	Secret []string
	// Security returns the actions of the security events of a change; before is nil for a new
	// record. Nil for a kind without security events.
	Security func(before, after *T) []string
	// Personal reports whether the record is of a person: the feed of changes has no values of
	// people.
	Personal bool
	// Also returns further writes of a change, such as lines by which the record is found; before is
	// nil for a new record. Nil for a kind without.
	Also func(before, after *T) []table.Write
}

// Facts points into a record of a Family.
type Facts struct {
	ID, Version          *int64
	CreatedAt, UpdatedAt *wire.Time
	// Settings is the settings version, Auth the auth version; nil for a kind without.
	Settings, Auth *int64
	// Org is the id of the record's organization, or of the record if it is an organization.
	// Event is the id of a record that is an event, otherwise 0.
	Org, Event int64
	// PK is the record's partition.
	PK string
}

// isOrganization reports whether the record is an organization itself.
func (f Facts) isOrganization() bool { return f.PK == table.Org(f.Org) }

func (f Facts) key() table.Key { return table.Key{PK: f.PK, SK: "-"} }

// Decode reads a record from its item.
func (f Family[T]) Decode(item table.Item) (*T, error) {
	r, err := record.Decode[T](item)
	if err != nil {
		return nil, err
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

// maxClaims is how many ids in a row Create tries. An id is taken already only after the
// counter was set back.
const maxClaims = 100

var errTaken = errors.New("tenancy: id is taken")

// Create stores a new record and sets the id, the times and the version. The operations beside are
// in the same transaction, and may use the id. Create returns the error of Check.
func (f Family[T]) Create(ctx context.Context, s Store, r *T, beside ...write.Op) error {
	if err := f.Check(r, s); err != nil {
		return err
	}
	for range maxClaims {
		id, err := s.nextID(ctx)
		if err != nil {
			return err
		}
		*f.Facts(r).ID = id
		all := append([]write.Op{f.records(s).Creation(r)}, beside...)
		if _, err := write.Run[*T](ctx, s.Table, write.Together(all...)); !errors.Is(err, errTaken) {
			return err
		}
	}
	return fmt.Errorf("tenancy: create %s: %d ids in a row are taken", f.Name, maxClaims)
}

// Update lets edit change the record in the partition pk and stores the next version. edit may
// run several times, each time on a fresh copy; its error and the error of Check stop the
// update. Update returns a 404 without a record.
func (f Family[T]) Update(ctx context.Context, s Store, pk string, edit func(*T) error) (*T, error) {
	return f.records(s).Change(ctx, pk, record.Change[T]{Verb: record.Updated, Edit: func(r *T) error {
		if err := edit(r); err != nil {
			return err
		}
		return f.Check(r, s)
	}})
}

func (f Family[T]) records(s Store) record.Records[T] {
	return record.Records[T]{Table: s.Table, Now: s.Now, Storage: storage[T]{f}}
}

// storage is the record.Storage of a family. The id of a record is the partition.
type storage[T any] struct{ family Family[T] }

func (s storage[T]) Head(r *T) record.Head {
	facts := s.family.Facts(r)
	return record.Head{Version: facts.Version, CreatedAt: facts.CreatedAt, UpdatedAt: facts.UpdatedAt}
}

func (s storage[T]) Key(pk string, _ bool) table.Key { return table.Key{PK: pk, SK: "-"} }

func (s storage[T]) Decode(from table.Item) (*T, error) { return s.family.Decode(from) }

func (s storage[T]) NotFound() error { return apierr.NotFound(s.family.Title) }

func (s storage[T]) Beside(record.Verb, string) []table.Key { return nil }

func (s storage[T]) Named(*T) []table.Key { return nil }

func (s storage[T]) Check(record.Step[T], write.Items) error { return nil }

func (s storage[T]) Admit(record.Step[T], write.Items) error { return nil }

// Writes returns the writes of a step. A new record gets its line in the list of the kind. An
// organization raises its own auth version.
func (s storage[T]) Writes(ctx context.Context, step record.Step[T], _ write.Items) ([]table.Write, error) {
	facts := s.family.Facts(step.After)
	item, err := record.Encode(facts.key(), *facts.Version, step.After)
	if err != nil {
		return nil, err
	}
	beside := s.family.beside(ctx, step)
	if step.Verb == record.Created {
		return append([]table.Write{table.Insert(item).Or(errTaken), table.Insert(s.family.entry(step.After)).Or(errTaken)}, beside...), nil
	}
	replace := table.Replace(item, step.Was.Version)
	if facts.isOrganization() {
		replace = replace.RaisingAuth()
	}
	return append(beside, replace), nil
}

// beside returns the writes beside the record: the change record, the security events, and the
// organization's auth version, so that every instance reads tokens and members again.
func (f Family[T]) beside(ctx context.Context, step record.Step[T]) []table.Write {
	facts := f.Facts(step.After)
	noted := change.New(ctx, change.Record{
		At: *facts.UpdatedAt, Org: facts.Org, Event: facts.Event,
		Action: f.Name + "." + string(step.Verb), Type: f.Name,
		RecordID: strconv.FormatInt(*facts.ID, 10), Version: *facts.Version,
		Values: change.Diff(step.Before, step.After, f.Secret...),
	})
	writes := []table.Write{noted.Write()}
	if f.Personal {
		writes = noted.PersonalWrites(facts.PK)
	}
	if !facts.isOrganization() {
		org := table.Key{PK: table.Org(facts.Org), SK: "-"}
		writes = append(writes, table.BumpAuth(org).Or(apierr.NotFound(Organizations.Title)))
	}
	if f.Also != nil {
		writes = append(writes, f.Also(step.Before, step.After)...)
	}
	if f.Security != nil {
		writes = append(writes, SecurityWrites(noted, f.Security(step.Before, step.After))...)
	}
	return writes
}

// entry returns the record's line in the organization's list of the kind, in the order of
// creation, ties by id. Organizations are listed for the region.
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

// Get reads a record by its partition. It returns a 404 without a record.
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

// In returns the record of a partition among items that were read; nil without the item.
func (f Family[T]) In(got write.Items, pk string) (*T, error) {
	item, found := got[table.Key{PK: pk, SK: "-"}]
	if !found {
		return nil, nil
	}
	return f.Decode(item)
}

// IDs returns the ids of an organization's records of the kind, oldest first.
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

// reads are the reads of listed records until all are visible.
var reads = table.Retry{Tries: 5, First: 20 * time.Millisecond, Max: 20 * time.Millisecond}

// Many reads the records in the partitions, in the order of pks. A line of a list may be
// visible before the record of the same transaction: then Many reads all again, a few times,
// before table.ErrBusy.
func (f Family[T]) Many(ctx context.Context, s Store, pks []string) ([]*T, error) {
	all, err := f.Existing(ctx, s, pks)
	if err == nil && len(all) < len(pks) {
		return nil, table.ErrBusy
	}
	return all, err
}

// Existing reads the records in the partitions as Many does, and leaves out a partition
// without a record.
func (f Family[T]) Existing(ctx context.Context, s Store, pks []string) ([]*T, error) {
	keys := make([]table.Key, len(pks))
	for i, pk := range pks {
		keys[i] = table.Key{PK: pk, SK: "-"}
	}
	var got map[table.Key]table.Item
	for _, err := range reads.Each(ctx) {
		if err != nil {
			return nil, err
		}
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
		item, found := got[key]
		if !found {
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
