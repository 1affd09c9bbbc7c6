package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// records repairs the numbers beside the small records of an event, or of the organization if event is 0: how many records
// of a kind there are, and what records add to others. It leaves out the records of a deleted record that a purge may have
// begun with.
func (r *run) records(ctx context.Context, event int64) error {
	top := resource.Owner{Org: r.in.OrgID, Event: event}
	parents := []string{""}
	for item, err := range r.Table.Between(ctx, top.Partition(), "0", lastKey) {
		if err != nil {
			return err
		}
		var stored resource.Stored
		if decode(item, &stored) != nil || stored.ID == "" {
			continue
		}
		if at := stored.DeletedAt; at == nil || r.Now().Sub(at.Time) < resource.Keep-time.Hour {
			parents = append(parents, stored.ID)
		}
	}
	r.report.Looked += len(parents) - 1
	for _, parent := range parents {
		top.Parent = parent
		if err := r.settle(ctx, top.Partition(), &numbers{run: r, of: top}); err != nil {
			return err
		}
	}
	return nil
}

// numbers is the damage of the numbers beside the records of an owner.
type numbers struct {
	*run
	of resource.Owner
	// stored are the items by sort key, wrong the right contents of the damaged ones.
	stored map[string]table.Item
	wrong  map[string]string
}

// look adds up what the records say.
func (d *numbers) look(ctx context.Context) (sign string, err error) {
	d.stored, d.wrong = map[string]table.Item{}, map[string]string{}
	counts, sums := map[string]int{}, map[string]map[string]int{}
	for item, err := range d.Table.Between(ctx, d.of.Partition(), "0", lastKey) {
		if err != nil {
			return "", err
		}
		kind, _, deleted := resource.KindOf(item.Key)
		switch counter := d.of.CountKey(kind).SK; {
		case deleted || resource.IsSerial(item.Key):
		case resource.IsSum(item.Key):
			d.stored[item.SK] = item
			add(sums, item.SK)
		case item.SK == counter:
			d.stored[counter], counts[counter] = item, 0 // The number comes before the records.
		default:
			var record resource.Stored
			if decode(item, &record) != nil {
				d.unmended(Note{Where: d.of.Partition(), ID: item.SK, What: "the record cannot be read", Do: fromBackup})
				return "", nil
			}
			counts[counter]++
			for _, sum := range record.Meta.Sums {
				add(sums, d.of.SumKey(sum.Of, kind).SK)[sum.Name] += sum.By
			}
		}
	}
	return d.compare(counts, sums)
}

// add returns the sums of a sort key, and adds them if they are missing.
func add(sums map[string]map[string]int, sk string) map[string]int {
	if sums[sk] == nil {
		sums[sk] = map[string]int{}
	}
	return sums[sk]
}

// compare notes the items that say another number than the records.
func (d *numbers) compare(counts map[string]int, sums map[string]map[string]int) (sign string, err error) {
	for sk, n := range counts {
		if is := string(d.stored[sk].Data); is != strconv.Itoa(n) && (n > 0 || is != "") {
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
		write := table.Insert(right)
		if found {
			write = table.Replace(right, stored.Version)
		}
		what := "the number was not that of the records"
		if resource.IsSum(right.Key) {
			what = "the sums were not those of the records"
		}
		if err := d.correct(ctx, d.of.Event, Note{Where: right.PK, ID: strings.TrimSpace(sk), What: what}, write); err != nil {
			return err
		}
	}
	return nil
}
