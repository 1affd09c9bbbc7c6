package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// parentKinds are the kinds of the records that have records of their own.
var parentKinds = []string{"agenda_draft", "award_program", "dashboard"}

// serialKind is the kind of the records that have running numbers.
const serialKind = "award_submission"

// parentsAtOnce is the number of parents whose records are read in parallel: so few that the largest ones end in the time of
// a command.
const parentsAtOnce = 4

// records repairs the numbers beside the small records of an event, or of the organization if event is 0: how many records
// of a kind there are, what records add to others, and the running numbers. If the time ends, the report names the
// parents that are left, or the event.
func (r *run) records(ctx context.Context, event int64) error {
	reading, cancel := early(ctx)
	defer cancel()
	top := &numbers{run: r, of: resource.Owner{Org: r.in.OrgID, Event: event}}
	parents, err := r.parents(reading, top.of)
	if err == nil {
		err = r.settle(reading, top.of.Partition(), top)
	}
	if reading.Err() != nil && err != nil {
		what, do := "the time ended before the small records were read", "repair the family record again"
		if event != 0 {
			do += fmt.Sprintf(", with event_id %d", event)
		}
		r.unmended(Note{Where: top.of.Partition(), What: what, Do: do})
		err, parents = nil, nil
	}
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(parentsAtOnce)
	for _, d := range parents {
		g.Go(table.Safely(func() error {
			err := r.settle(reading, d.of.Partition(), d)
			if reading.Err() != nil && err != nil {
				r.rest(d.of.Parent)
				err = nil
			}
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return r.serials(ctx, top, parents)
}

// early returns a context that ends write.LastStep before ctx.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-write.LastStep))
}

// serials raises the running numbers of an event or organization to the highest of the records that were read: those at the
// top, and those of their parents.
func (r *run) serials(ctx context.Context, top *numbers, parents []*numbers) error {
	highest := map[string]int{}
	for _, d := range append(parents, top) {
		r.report.Looked += d.looked
		for sk, n := range d.highest {
			highest[sk] = max(highest[sk], n)
		}
	}
	for _, sk := range sorted(highest) {
		key := table.Key{PK: top.of.Partition(), SK: sk}
		d := &serial{run: r, event: top.of.Event, key: key, highest: highest[sk]}
		if err := r.settle(ctx, key.PK, d); err != nil {
			return err
		}
	}
	return nil
}

// parents returns the records of an event or organization that have records of their own. It leaves out records that the
// input does not name.
func (r *run) parents(ctx context.Context, top resource.Owner) (all []*numbers, err error) {
	for item, err := range r.Table.Between(ctx, top.Partition(), "0", lastKey) {
		if err != nil {
			return nil, err
		}
		kind, id, deleted := resource.KindOf(item.Key)
		named := r.in.Family != Records || len(r.in.IDs) == 0 || slices.Contains(r.in.IDs, id)
		if id == "" || !named || !slices.Contains(parentKinds, kind) {
			continue
		}
		of := resource.Owner{Org: top.Org, Event: top.Event, Parent: id}
		all = append(all, &numbers{run: r, of: of, purged: deleted && r.mayBePurged(item)})
	}
	return all, nil
}

// mayBePurged reports whether a purge may have begun with a deleted record.
func (r *run) mayBePurged(item table.Item) bool {
	var stored resource.Stored
	if decode(item, &stored) != nil || stored.DeletedAt == nil {
		return true
	}
	return r.Now().Sub(stored.DeletedAt.Time) >= resource.Keep-time.Hour
}

// rest notes a parent that the repair has no time for.
func (r *run) rest(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Rest = append(r.report.Rest, id)
}

// numbers is the part of the table with the records of an owner and their numbers.
type numbers struct {
	*run
	of resource.Owner
	// stored has the stored numbers by sort key, wrong the right contents of the damaged items.
	stored map[string]table.Item
	wrong  map[string]string
	// highest has the highest running numbers by the sort key of the counter. looked is the number of records.
	highest map[string]int
	looked  int
	// purged is set if a purge may have begun with the records, so that the stored numbers are no longer theirs.
	purged bool
}

// numbered is the part of a small record that the numbers come from.
type numbered struct {
	resource.Stored
	FriendlyID string `json:"friendly_id"`
}

// look reads the records and compares the stored numbers with their sums.
func (d *numbers) look(ctx context.Context) (sign string, err error) {
	d.stored, d.wrong, d.highest = map[string]table.Item{}, map[string]string{}, map[string]int{}
	d.looked = 0
	unknown := d.purged
	counts, sums := map[string]int{}, map[string]map[string]int{}
	for item, err := range d.Table.Between(ctx, d.of.Partition(), "0", lastKey) {
		if err != nil {
			return "", err
		}
		kind, _, deleted := resource.KindOf(item.Key)
		switch counter := d.of.CountKey(kind).SK; {
		case resource.IsSerial(item.Key):
		case resource.IsSum(item.Key):
			d.stored[item.SK] = item
			add(sums, item.SK)
		case item.SK == counter:
			d.stored[counter], counts[counter] = item, 0 // The number comes before the records.
		default:
			var record numbered
			if decode(item, &record) != nil {
				d.unmended(unreadable(item.Key, kind))
				unknown = unknown || !deleted
				continue
			}
			d.raise(kind, record.FriendlyID)
			if d.looked++; deleted {
				continue
			}
			counts[counter]++
			for _, sum := range record.Meta.Sums {
				add(sums, d.of.SumKey(sum.Of, kind).SK)[sum.Name] += sum.By
			}
		}
	}
	if unknown {
		return "", nil
	}
	return d.compare(counts, sums)
}

// unreadable returns the note about a damaged record of a kind.
func unreadable(key table.Key, kind string) Note {
	note := Note{Where: key.PK, ID: key.SK, What: "the record cannot be read", Do: fromBackup}
	if kind == serialKind {
		note.Do += ", and repair again before the next running number is given"
	}
	return note
}

// raise raises the highest running number of a kind and year to that of a record.
func (d *numbers) raise(kind, friendlyID string) {
	if counter, n, err := d.of.SerialOf(kind, friendlyID); err == nil && counter.SK != "" {
		d.highest[counter.SK] = max(d.highest[counter.SK], n)
	}
}

// add returns the sums of a sort key, and adds them if they are missing.
func add(sums map[string]map[string]int, sk string) map[string]int {
	if sums[sk] == nil {
		sums[sk] = map[string]int{}
	}
	return sums[sk]
}

// compare finds the stored numbers that differ from the numbers of the records.
func (d *numbers) compare(counts map[string]int, sums map[string]map[string]int) (sign string, err error) {
	for sk, n := range counts {
		if is := string(d.stored[sk].Data); is != strconv.Itoa(n) {
			d.wrong[sk] = strconv.Itoa(n)
		}
	}
	for sk, want := range sums {
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		is := map[string]int{}
		if stored := d.stored[sk].Data; stored != nil && json.Unmarshal(stored, &is) != nil || !maps.Equal(is, want) {
			right, err := wire.Encode(want)
			if err != nil {
				return "", err
			}
			d.wrong[sk] = string(right)
		}
	}
	for _, sk := range sorted(d.wrong) {
		sign += fmt.Sprintf("%s was %d %q, not %q\n", sk, d.stored[sk].Version, d.stored[sk].Data, d.wrong[sk])
	}
	return sign, nil
}

// mend writes the right numbers. Each write of a record that changes an item raises the version of the item.
func (d *numbers) mend(ctx context.Context) error {
	for _, sk := range sorted(d.wrong) {
		stored, found := d.stored[sk]
		right := table.Item{Key: table.Key{PK: d.of.Partition(), SK: sk}, Version: stored.Version + 1, Data: []byte(d.wrong[sk])}
		correction := table.Insert(right)
		if found {
			correction = table.Replace(right, stored.Version)
		}
		what := "the number was not that of the records"
		if resource.IsSum(right.Key) {
			what = "the sums were not those of the records"
		}
		if err := d.correct(ctx, d.of.Event, Note{Where: right.PK, ID: sk, What: what}, correction); err != nil {
			return err
		}
	}
	return nil
}

// serial is a running number that may be below the highest of a record.
type serial struct {
	*run
	event   int64
	key     table.Key
	highest int
	stored  table.Item
}

func (d *serial) look(ctx context.Context) (sign string, err error) {
	d.stored, err = d.Table.Get(ctx, d.key)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return "", err
	}
	if given, err := strconv.Atoi(string(d.stored.Data)); err == nil && given >= d.highest {
		return "", nil
	}
	d.stored.Key = d.key
	return fmt.Sprintf("%d %q %d", d.stored.Version, d.stored.Data, d.highest), nil
}

func (d *serial) mend(ctx context.Context) error {
	note := Note{Where: d.key.PK, ID: d.key.SK, What: "the running number was below the highest of a record"}
	return d.correct(ctx, d.event, note, table.Recount(d.stored, d.highest, 0))
}
