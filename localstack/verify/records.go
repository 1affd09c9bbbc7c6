package verify

import (
	"strconv"

	"lectern/shared/resource"
)

// smallRecord is what is kept of a small record.
type smallRecord struct {
	resource.Stored
	kind, partition string
	version         int64
}

// addRecord takes in a small record, or the number of an owner's records.
func (o *Organization) addRecord(at place, item Item) {
	kind, id, deleted := resource.KindOf(item.Key)
	if item.SK == (resource.Owner{}).CountKey(kind).SK {
		number, err := strconv.Atoi(item.Data)
		if err != nil {
			o.wrong("the number of records %s of %s cannot be read", kind, item.PK)
		}
		o.numberOf(item.PK)[kind] += number
		return
	}
	r := smallRecord{kind: kind, partition: item.PK, version: item.Version}
	if !o.read(item, kind, &r.Stored) {
		return
	}
	if r.ID != id || (r.DeletedAt != nil) != deleted || !deleted && r.Meta.Parent != at.rest {
		o.wrong("%s %s stands under the key of another", kind, id)
	}
	if _, twice := o.small[id]; twice {
		o.wrong("%s %s is there twice", kind, id)
	}
	o.small[id] = r
	if !deleted {
		o.numberOf(item.PK)[kind]--
	}
	if unique := r.Meta.Unique; unique != "" && !deleted {
		o.own(at.owner+"#Q#F#"+kind+"#"+at.rest+"#"+unique, id)
	}
}

// numberOf returns, by kind, how many records more a partition says it has than it has.
func (o *Organization) numberOf(partition string) map[string]int {
	if o.numbered[partition] == nil {
		o.numbered[partition] = map[string]int{}
	}
	return o.numbered[partition]
}

// checkRecords: each version of a small record has its change record, what was published
// of it is numbered without a gap, its parent is there, and owners count their records.
func (o *Organization) checkRecords() {
	for _, id := range sorted(o.small) {
		r := o.small[id]
		o.published(r.kind+" "+id, r.version, r.UpdatedAt.UnixMilli(), r.Meta.Sequence)
		parent, there := o.small[r.Meta.Parent]
		if r.Meta.Parent != "" && !there && r.DeletedAt == nil {
			o.wrong("%s %s belongs to %s, which is not there", r.kind, id, r.Meta.Parent)
		}
		if there && placed(parent.partition).owner != placed(r.partition).owner {
			o.wrong("%s %s belongs to a record of another owner", r.kind, id)
		}
	}
	for _, partition := range sorted(o.numbered) {
		for _, kind := range sorted(o.numbered[partition]) {
			if more := o.numbered[partition][kind]; more != 0 {
				o.wrong("%s counts %d records %s more than there are", partition, more, kind)
			}
		}
	}
}
