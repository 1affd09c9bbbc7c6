package verify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/change"
	"lectern/shared/purge"
	"lectern/shared/repair"
	"lectern/shared/requestlog"
	"lectern/shared/table"
)

// changeSummary has a change record without the changed values.
type changeSummary struct {
	id, nonce string
	version   int64
	at        int64 // Unix milliseconds
	sequences []int64
	action    string
	// parent is the record that the record belongs to.
	parent string
}

// summarize drops the changed values, because an organization may have many change records.
func summarize(r *change.Record) changeSummary {
	s := changeSummary{id: r.ID, nonce: r.Nonce, version: r.Version, at: r.At.UnixMilli(), action: r.Action, parent: r.Parent}
	for _, kind := range r.Kinds {
		s.sequences = append(s.sequences, kind.Sequence)
	}
	return s
}

// addChange adds a change record, or the item of an hour with change records.
func (o *Organization) addChange(at raw.Partition, item raw.Item) {
	if at.Rest == "" {
		o.hourItems[item.SK] = true
		return
	}
	var r change.Record
	if !o.read(item, "change record", &r) {
		return
	}
	record := r.Type + " " + r.RecordID
	if r.ID == "" || r.Org != o.id || r.Key() != item.Key {
		o.problemf("a change record of %s stands in the wrong place", record)
	}
	if (item.Kind == table.KindChange) != (r.Nonce != "") {
		o.problemf("a change record of %s is marked %q", record, item.Kind)
	}
	if hour, _, _ := strings.Cut(at.Rest, "#"); r.Nonce != "" {
		o.changedHours[hour] = true
	}
	o.changes[record] = append(o.changes[record], summarize(&r))
	if strings.HasSuffix(r.Action, "."+purge.Purged) {
		o.purged[record] = true
	}
}

// addRequests adds a pack of the log of requests, or the item of an hour with packs. The marks of
// ingested requests and the numbers of wrong secrets are only for the ingester.
func (o *Organization) addRequests(at raw.Partition, item raw.Item) {
	switch {
	case at.Rest == "":
		o.ingestHours[item.SK] = true
		return
	case item.SK == "-":
		return
	}
	var p requestlog.Pack
	if !o.read(item, "pack of requests", &p) {
		return
	}
	id, err := uuid.Parse(item.SK)
	p.ID, p.Org, p.At = item.SK, o.id, time.Unix(id.Time().UnixTime())
	if err != nil || id.String() != item.SK || p.Key() != item.Key {
		o.problemf("a pack of requests stands in the wrong place")
	}
	hour, _, _ := strings.Cut(at.Rest, "#")
	o.ingestedHours[hour] = true
}

// addPersonal adds a change record beside a person or company. Releases without nonces wrote
// only the id.
func (o *Organization) addPersonal(record string, item raw.Item) {
	var r change.Record
	if !o.read(item, "change record", &r) {
		return
	}
	id := strings.TrimPrefix(item.SK, "H#")
	if r.Nonce != "" && (r.ID != id || r.Type+" "+r.RecordID != record) {
		o.problemf("a change record beside %s is of another", record)
	}
	o.personal[record] = append(o.personal[record], id+" "+r.Nonce)
}

// checkVersions compares the version of a record with the change records: each version from 1
// has a change record. It returns the change records in order of version.
func (o *Organization) checkVersions(record string, version int64) []changeSummary {
	changes := o.changes[record]
	delete(o.changes, record)
	slices.SortFunc(changes, func(a, b changeSummary) int { return cmp.Compare(a.version, b.version) })
	for i, c := range changes {
		if c.version != int64(i+1) {
			o.problemf("%s: change record %d is of version %d", record, i+1, c.version)
			break // All later versions differ for the same reason.
		}
	}
	if int64(len(changes)) != version {
		o.problemf("%s has version %d and %d change records", record, version, len(changes))
	}
	o.checkPersonal(record, changes)
	return changes
}

// checkConnection compares the version of an application's connection with the change records: the first version and the end have one,
// and a refresh between has none.
func (o *Organization) checkConnection(record string, r tenancyRecord) {
	var versions []int64
	for _, c := range o.changes[record] {
		versions = append(versions, c.version)
	}
	delete(o.changes, record)
	slices.Sort(versions)
	n := len(versions)
	repeated := len(slices.Compact(slices.Clone(versions))) < n
	if n == 0 || repeated || versions[0] != 1 || versions[n-1] > r.version || r.ended && versions[n-1] != r.version {
		o.problemf("%s has version %d and change records of the versions %v", record, r.version, versions)
	}
}

// checkPersonal compares the change records of a person or company with the copies beside the
// record. Releases without nonces wrote copies for contacts only.
func (o *Organization) checkPersonal(record string, changes []changeSummary) {
	kind, _, _ := strings.Cut(record, " ")
	if !slices.Contains([]string{"contact", "account", "member"}, kind) {
		return
	}
	var want []string
	for _, c := range changes {
		if c.nonce != "" || kind == "contact" {
			want = append(want, c.id+" "+c.nonce)
		}
	}
	if !sameSet(o.personal[record], want) {
		o.problemf("%s has %d changes beside it and %d change records, or not the same", record, len(o.personal[record]), len(want))
	}
	delete(o.personal, record)
}

// checkPublished compares a record with its change records: the versions, the time of the last
// change in Unix milliseconds, and the sequence numbers of published kinds from 1 to sequence.
func (o *Organization) checkPublished(record string, version, at, sequence int64) {
	changes := o.checkVersions(record, version)
	if len(changes) > 0 && last(changes).at != at {
		o.problemf("%s was changed at %d, its last change record is of %d", record, at, last(changes).at)
	}
	published := int64(0)
	for _, c := range changes {
		for _, number := range c.sequences {
			if published++; number != published {
				o.problemf("%s version %d has published number %d, not %d", record, c.version, number, published)
			}
		}
	}
	if published != sequence {
		o.problemf("%s has published %d kinds and counted %d", record, published, sequence)
	}
}

// checkChanges reports change records of missing records, and hours without an item.
func (o *Organization) checkChanges() {
	for record := range o.changes {
		if strings.HasPrefix(record, repair.Type+" ") {
			delete(o.changes, record) // A repair has a change record and no record.
		}
	}
	o.excuseTranscriptions()
	for record := range o.purged {
		delete(o.changes, record)
		delete(o.personal, record)
	}
	for _, record := range sortedKeys(o.changes) {
		changes := o.changes[record]
		o.problemf("%s is not there and has %d change records, the last one %s", record, len(changes), last(changes).action)
	}
	for _, record := range sortedKeys(o.personal) {
		o.problemf("%s is not there and has %d changes beside it", record, len(o.personal[record]))
	}
	for _, hour := range sortedKeys(o.changedHours) {
		if !o.hourItems[hour] {
			o.problemf("the hour %s has change records and no item", hour)
			o.addRepair(o.key, repair.Lists, repair.HourID(hour))
		}
	}
	for _, hour := range sortedKeys(o.ingestedHours) {
		if !o.ingestHours[hour] {
			o.problemf("the hour %s has requests and no item", hour)
		}
	}
}

func last(changes []changeSummary) changeSummary { return changes[len(changes)-1] }
