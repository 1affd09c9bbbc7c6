package verify

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/repair"
	"lectern/shared/table"
)

// checkFamilies: each version of organization, event, member and token has its change
// record, and lists name all of them once, in their order. Nothing stands below an event
// that is not there.
func (o *Organization) checkFamilies() {
	there := map[string][]string{}
	for _, of := range sorted(o.families) {
		o.versions(of, o.families[of].version)
		name, _, _ := strings.Cut(of, " ")
		if name != "organization" {
			there[name] = append(there[name], o.families[of].line)
		}
	}
	if _, ok := o.families["organization "+strings.TrimPrefix(o.key, "O#")]; !ok {
		o.wrong("the organization itself is not there")
	}
	for _, owner := range sorted(o.owners) {
		if _, ok := o.counted[owner]; !ok && owner != o.key {
			o.wrong("%s is not there and has items below it", owner)
		}
	}
	for name := range union(there, o.listed) {
		if !sameSet(there[name], o.listed[name]) {
			o.wrong("the list of kind %s names %d, there are %d, or they are not the same", name, len(o.listed[name]), len(there[name]))
			o.mendable(o.key, repair.Lists, idsOf(there[name])...)
		}
	}
}

// checkSettings: the settings version of an event or organization is the sum of its
// settings' versions times weights, and each version has its change record.
func (o *Organization) checkSettings() {
	for owner := range union(o.settings, o.counted) {
		sum := int64(0)
		for _, s := range o.settings[owner] {
			sum += s.version * table.Weight(s.id)
			o.versions(s.of+" "+s.id, s.version)
		}
		if counted, ok := o.counted[owner]; !ok || counted != sum {
			o.wrong("%s has settings version %d, its settings add up to %d", owner, counted, sum)
			o.mendable(owner, repair.Settings)
		}
	}
}

// stored is the version of a body, and what its row must hold.
type stored struct {
	version int64
	row     map[string]any
}

// mirrored: each body of a family has a row, each row a body, and both say the same. The
// rows are done with then. A shard's version is the sum of its rows' versions times
// weights.
func (o *Organization) mirrored(owner, letter string, want map[string]stored) {
	partition := owner + "#R" + letter
	rows := o.rows[partition]
	delete(o.rows, partition)
	sums, before := map[string]shardVersion{}, o.Count
	for id, is := range rows {
		sum := sums[letter+"#"+is.shard]
		sums[letter+"#"+is.shard] = shardVersion{sum.version + is.version*table.Weight(id), sum.rows + 1}
		body, there := want[id]
		switch {
		case !there:
			o.wrong("row %s of %s has no record", id, partition)
		case is.version != body.version:
			o.wrong("row %s of %s has version %d, its record %d", id, partition, is.version, body.version)
		case !sameJSON(is.data, body.row):
			o.wrong("row %s of %s does not say what its record says", id, partition)
		}
	}
	for id := range want {
		if _, there := rows[id]; !there {
			o.wrong("%s has no row in %s", id, partition)
			o.mendable(owner, familyOf[letter], id)
		}
	}
	o.summed(owner, letter, sums)
	if o.Count > before {
		o.mendable(owner, familyOf[letter])
	}
}

// summed: the versions of the shards of a family are as their rows add up, and are then
// done with. So are the numbers of their rows, where the organization has them.
func (o *Organization) summed(owner, letter string, sums map[string]shardVersion) {
	shards := o.shards[owner]
	for shard, is := range shards {
		if !strings.HasPrefix(shard, letter+"#") {
			continue
		}
		if sum := sums[shard].version; sum != is.version {
			o.wrong("shard %s of %s has version %d, its rows add up to %d", shard, owner, is.version, sum)
		}
		if rows := sums[shard].rows; rows != is.rows && o.rowsCounted {
			o.wrong("shard %s of %s counts %d rows, it has %d", shard, owner, is.rows, rows)
		}
		delete(sums, shard)
		delete(shards, shard)
	}
	for shard, sum := range sums {
		o.wrong("shard %s of %s has no version, its rows add up to %d", shard, owner, sum.version)
	}
}

// checkRows: what is left of rows and versions of shards is of records that are not there.
func (o *Organization) checkRows() {
	for _, partition := range sorted(o.rows) {
		o.wrong("%d rows of %s have no records", len(o.rows[partition]), partition)
		at := placed(partition)
		o.mendable(at.owner, familyOf[strings.TrimPrefix(at.part, "R")])
	}
	for _, owner := range sorted(o.shards) {
		for shard, is := range o.shards[owner] {
			if is.version == 0 && (is.rows == 0 || !o.rowsCounted) {
				continue // All of its rows are purged.
			}
			o.wrong("shard %s of %s has version %d, it has no rows", shard, owner, is.version)
			letter, _, _ := strings.Cut(shard, "#")
			o.mendable(owner, familyOf[letter])
		}
	}
}

// checkUnique: each unique value is held for the record that has it, and no other is. A
// value may be a person's address and is not told.
func (o *Organization) checkUnique() {
	for key := range union(o.owned, o.held) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(placed(key).rest, "F#"), "#")
		owner, holder := o.owned[key], o.held[key]
		if owner != holder {
			o.mendableValue(key, holder)
		}
		switch {
		case owner == holder:
		case holder == "":
			o.wrong("the %s of %s is not held", kind, owner)
		case owner == "":
			o.wrong("a %s is held for %s, which does not have it", kind, holder)
		default:
			o.wrong("the %s of %s is held for %s", kind, owner, holder)
		}
	}
}

// idsOf are the ids in the sort keys of lines of lists.
func idsOf(lines []string) (ids []string) {
	for _, line := range lines {
		_, id, _ := strings.Cut(line, "#")
		ids = append(ids, strings.TrimLeft(id, "0"))
	}
	return ids
}

// eventKey is the sort key of what belongs to an event.
func eventKey(id int64) string { return "E#" + strconv.FormatInt(id, 10) }

// into gives the inner map of a key, made where it is not there.
func into[V any](all map[string]map[string]V, key string) map[string]V {
	if all[key] == nil {
		all[key] = map[string]V{}
	}
	return all[key]
}

func sorted[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }

// union are the keys of two maps.
func union[A, B any](a map[string]A, b map[string]B) map[string]bool {
	all := map[string]bool{}
	for key := range a {
		all[key] = true
	}
	for key := range b {
		all[key] = true
	}
	return all
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// sameJSON is whether a text is the JSON of a value.
func sameJSON(text string, value any) bool {
	encoded, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var is, want any
	return json.Unmarshal([]byte(text), &is) == nil && json.Unmarshal(encoded, &want) == nil && reflect.DeepEqual(is, want)
}
