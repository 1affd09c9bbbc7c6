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
var parentKinds = []string{"agenda_draft", "award_program"}

// records repairs the numbers beside the small records of an event, or of the organization if event is 0: how many records
// of a kind there are, what records add to others, and the running numbers. If the time ends, the report names the
// parents that are left.
func (r *run) records(ctx context.Context, event int64) error {
	top := resource.Owner{Org: r.in.OrgID, Event: event}
	parents, err := r.parents(ctx, top)
	if err != nil {
		return err
	}
	all := make([]*numbers, len(parents))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for i, id := range parents {
		all[i] = &numbers{run: r, of: resource.Owner{Org: top.Org, Event: event, Parent: id}}
		g.Go(table.Safely(func() error {
			if id != "" && write.Late(inner) {
				r.rest(id)
				return nil
			}
			return r.settle(inner, all[i].of.Partition(), all[i])
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	highest := map[string]int{}
	for _, d := range all {
		r.report.Looked += d.looked
		for sk, n := range d.highest {
			highest[sk] = max(highest[sk], n)
		}
	}
	for _, sk := range sorted(highest) {
		d := &serial{run: r, event: event, key: table.Key{PK: top.Partition(), SK: sk}, highest: highest[sk]}
		if err := r.settle(ctx, top.Partition(), d); err != nil {
			return err
		}
	}
	return nil
}

// parents returns the ids of the records that have records of their own, after an empty id for the records at the top. It
// leaves out records that the input does not name, and deleted records that a purge may have begun with.
func (r *run) parents(ctx context.Context, top resource.Owner) ([]string, error) {
	ids := []string{""}
	for item, err := range r.Table.Between(ctx, top.Partition(), "0", lastKey) {
		if err != nil {
			return nil, err
		}
		kind, id, _ := resource.KindOf(item.Key)
		named := r.in.Family != Records || len(r.in.IDs) == 0 || slices.Contains(r.in.IDs, id)
		var stored resource.Stored
		if id == "" || !named || !slices.Contains(parentKinds, kind) || decode(item, &stored) != nil {
			continue
		}
		if at := stored.DeletedAt; at == nil || r.Now().Sub(at.Time) < resource.Keep-time.Hour {
			ids = append(ids, id)
		}
	}
	return ids, nil
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
}

// numbered is the part of a small record that the numbers come from.
type numbered struct {
	resource.Stored
	FriendlyID string `json:"friendly_id"`
}

// look reads the records and compares the stored numbers with their sums.
func (d *numbers) look(ctx context.Context) (sign string, err error) {
	d.stored, d.wrong, d.highest, d.looked = map[string]table.Item{}, map[string]string{}, map[string]int{}, 0
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
				d.unmended(Note{Where: d.of.Partition(), ID: item.SK, What: "the record cannot be read", Do: fromBackup})
				return "", nil
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
	return d.compare(counts, sums)
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
