package repair

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// ownLine repairs the organization's line in the region's list of organizations.
func (r *run) ownLine(ctx context.Context, _ int64) error {
	d := &ownLine{run: r, is: tenancy.ListLine(r.in.OrgID), owner: table.Key{PK: table.Org(r.in.OrgID), SK: "-"}}
	return r.settle(ctx, d.is.PK, d)
}

// ownLine is the damage of the organization's line: the line is missing, the line names
// another organization, or the organization does not exist.
type ownLine struct {
	*run
	is     table.Item
	owner  table.Key
	stored table.Item
	// stray reports whether there is a line and no organization.
	stray bool
	what  string
}

func (d *ownLine) look(ctx context.Context) (sign string, err error) {
	got, err := d.Table.GetMany(ctx, []table.Key{d.is.Key, d.owner})
	if err != nil {
		return "", err
	}
	_, exists := got[d.owner]
	line, listed := got[d.is.Key]
	d.stored, d.stray, d.what = line, listed && !exists, ""
	switch {
	case exists && !listed:
		d.what = "the organization was not in the region's list"
	case exists && string(line.Data) != string(d.is.Data):
		d.what = "the line of the organization named another"
	case d.stray:
		d.what = "the region's list named an organization that is not there"
	}
	return d.what, nil
}

// mend puts the line, or removes the line without a change record: a missing organization
// has no feed.
func (d *ownLine) mend(ctx context.Context) error {
	note := Note{Where: d.is.PK, ID: strconv.FormatInt(d.in.OrgID, 10), What: d.what}
	if !d.stray {
		return d.correct(ctx, 0, note, table.Put(d.is), table.Exists(d.owner))
	}
	if !d.in.DryRun {
		if err := d.Table.Transact(ctx, table.Remove(d.is.Key, d.stored.Version), table.Absent(d.owner)); err != nil {
			return err
		}
	}
	d.mended(note)
	return nil
}

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
