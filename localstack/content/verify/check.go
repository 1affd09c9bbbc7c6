package verify

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/repair"
	"lectern/shared/table"
)

// checkTenancy checks the change records of the organization, events, members and tokens, and the
// lists of events, members and tokens. It reports items below a missing event.
func (o *Organization) checkTenancy() {
	lines := map[string][]string{}
	for _, record := range sortedKeys(o.tenancy) {
		if r := o.tenancy[record]; r.refreshed {
			o.checkConnection(record, r)
		} else {
			o.checkVersions(record, r.version)
		}
		name, _, _ := strings.Cut(record, " ")
		if name != "organization" {
			lines[name] = append(lines[name], o.tenancy[record].line)
		}
	}
	if _, ok := o.tenancy["organization "+strings.TrimPrefix(o.key, "O#")]; !ok {
		o.problemf("the organization itself is not there")
	}
	for _, owner := range sortedKeys(o.owners) {
		if _, ok := o.settingsVersions[owner]; !ok && owner != o.key {
			o.problemf("%s is not there and has items below it", owner)
		}
	}
	for name := range keysOfBoth(lines, o.lines) {
		if !sameSet(lines[name], o.lines[name]) {
			o.problemf("the list of kind %s names %d, there are %d, or they are not the same", name, len(o.lines[name]), len(lines[name]))
			o.addRepair(o.key, repair.Lists, lineIDs(lines[name])...)
		}
	}
}

// checkSettings checks the change records of all settings, and the settings versions. The settings
// version of an event or organization must be the sum of all settings' versions times weights.
func (o *Organization) checkSettings() {
	for owner := range keysOfBoth(o.settings, o.settingsVersions) {
		sum := int64(0)
		for _, s := range o.settings[owner] {
			sum += s.version * table.Weight(s.id)
			o.checkVersions(s.kind+" "+s.id, s.version)
		}
		if counted, ok := o.settingsVersions[owner]; !ok || counted != sum {
			o.problemf("%s has settings version %d, its settings add up to %d", owner, counted, sum)
			o.addRepair(owner, repair.Settings)
		}
	}
}

// expectedRow has the version and values that the row of a body must have.
type expectedRow struct {
	version int64
	row     map[string]any
}

// compareRows compares the rows of a family with the bodies, and the shards with the rows. The
// version of a shard must be the sum of all rows' versions times weights.
func (o *Organization) compareRows(owner, letter string, want map[string]expectedRow) {
	partition := owner + "#R" + letter
	rows := o.rows[partition]
	delete(o.rows, partition)
	sums, before := map[string]shardVersion{}, o.Count
	for id, row := range rows {
		sum := sums[letter+"#"+row.shard]
		sums[letter+"#"+row.shard] = shardVersion{sum.version + row.version*table.Weight(id), sum.rows + 1}
		body, found := want[id]
		switch {
		case !found:
			o.problemf("row %s of %s has no record", id, partition)
		case row.version != body.version:
			o.problemf("row %s of %s has version %d, its record %d", id, partition, row.version, body.version)
		case !sameJSON(row.data, body.row):
			o.problemf("row %s of %s does not say what its record says", id, partition)
		}
	}
	for id := range want {
		if _, found := rows[id]; !found {
			o.problemf("%s has no row in %s", id, partition)
			o.addRepair(owner, repairFamilies[letter], id)
		}
	}
	o.compareShards(owner, letter, sums)
	if o.Count > before {
		o.addRepair(owner, repairFamilies[letter])
	}
}

// compareShards compares the shards of a family with the sums over the rows. Organizations without
// the flag rows_counted may have other numbers of rows.
func (o *Organization) compareShards(owner, letter string, sums map[string]shardVersion) {
	shards := o.shardVersions[owner]
	for shard, stored := range shards {
		if !strings.HasPrefix(shard, letter+"#") {
			continue
		}
		if sum := sums[shard].version; sum != stored.version {
			o.problemf("shard %s of %s has version %d, its rows add up to %d", shard, owner, stored.version, sum)
		}
		if rows := sums[shard].rows; rows != stored.rows && o.rowsCounted {
			o.problemf("shard %s of %s counts %d rows, it has %d", shard, owner, stored.rows, rows)
		}
		delete(sums, shard)
		delete(shards, shard)
	}
	for shard, sum := range sums {
		o.problemf("shard %s of %s has no version, its rows add up to %d", shard, owner, sum.version)
	}
}

// checkOrphanRows reports the rows and shards of families without records.
func (o *Organization) checkOrphanRows() {
	for _, partition := range sortedKeys(o.rows) {
		o.problemf("%d rows of %s have no records", len(o.rows[partition]), partition)
		at := raw.ParsePartition(partition)
		o.addRepair(at.Owner, repairFamilies[strings.TrimPrefix(at.Letters, "R")])
	}
	for _, owner := range sortedKeys(o.shardVersions) {
		for shard, stored := range o.shardVersions[owner] {
			if stored.version == 0 && (stored.rows == 0 || !o.rowsCounted) {
				continue // All rows of the shard are purged.
			}
			o.problemf("shard %s of %s has version %d, it has no rows", shard, owner, stored.version)
			letter, _, _ := strings.Cut(shard, "#")
			o.addRepair(owner, repairFamilies[letter])
		}
	}
}

// checkUnique compares the holds with the unique values of the records. A problem does not show
// the value, because the value may be a person's address.
func (o *Organization) checkUnique() {
	for key := range keysOfBoth(o.expectedHolds, o.holds) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(raw.ParsePartition(key).Rest, "F#"), "#")
		owner, holder := o.expectedHolds[key], o.holds[key]
		if owner != holder {
			o.addHoldRepair(key, holder)
		}
		switch {
		case owner == holder:
		case holder == "":
			o.problemf("the %s of %s is not held", kind, owner)
		case owner == "":
			o.problemf("a %s is held for %s, which does not have it", kind, holder)
		default:
			o.problemf("the %s of %s is held for %s", kind, owner, holder)
		}
	}
}

// lineIDs returns the ids in the sort keys of lines.
func lineIDs(lines []string) (ids []string) {
	for _, line := range lines {
		_, id, _ := strings.Cut(line, "#")
		ids = append(ids, strings.TrimLeft(id, "0"))
	}
	return ids
}

// innerMap returns the map at a key. It creates a missing map.
func innerMap[V any](all map[string]map[string]V, key string) map[string]V {
	if all[key] == nil {
		all[key] = map[string]V{}
	}
	return all[key]
}

func sortedKeys[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }

// keysOfBoth returns the keys of two maps.
func keysOfBoth[A, B any](a map[string]A, b map[string]B) map[string]bool {
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

// sameJSON reports whether a text is the JSON of a value.
func sameJSON(text string, value any) bool {
	encoded, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var is, want any
	return json.Unmarshal([]byte(text), &is) == nil && json.Unmarshal(encoded, &want) == nil && reflect.DeepEqual(is, want)
}
