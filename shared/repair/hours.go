package repair

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lectern/shared/change"
	"lectern/shared/table"
)

// HourID returns the id of an hour of change records in an Input. An Input names hours
// without an item. at is the hour as in keys, yyyymmddhh.
func HourID(at string) string { return hourID + at }

const hourID = "H#"

// hours puts the missing items of the hours that the input names.
func (r *run) hours(ctx context.Context) error {
	for _, id := range r.in.IDs {
		text, named := strings.CutPrefix(id, hourID)
		at, err := time.Parse("2006010215", text)
		if !named || err != nil {
			continue
		}
		d := &hour{run: r, at: at, is: table.Item{Key: change.Hour(r.in.OrgID, at), Version: 1}}
		if err := r.settle(ctx, d.is.PK, d); err != nil {
			return err
		}
	}
	return nil
}

// hour is the damage of an hour that has change records and no item.
type hour struct {
	*run
	at time.Time
	is table.Item
}

func (d *hour) look(ctx context.Context) (sign string, err error) {
	got, err := d.Table.GetMany(ctx, []table.Key{d.is.Key})
	if err != nil || len(got) > 0 {
		return "", err
	}
	for bucket := range change.Buckets {
		items, _, _, err := d.Table.Page(ctx, change.Partition(d.in.OrgID, d.at, bucket), "0", lastKey)
		if err != nil || len(items) > 0 {
			return fmt.Sprint("bucket ", bucket), err
		}
	}
	return "", nil
}

func (d *hour) mend(ctx context.Context) error {
	note := Note{Where: d.is.PK, ID: HourID(d.is.SK), What: "the hour has change records and had no item"}
	return d.correct(ctx, 0, note, table.Put(d.is))
}
