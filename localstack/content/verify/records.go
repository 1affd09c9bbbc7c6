package verify

import (
	"strconv"
	"strings"
	"time"

	"lectern/localstack/content/verify/deliveries"
	"lectern/localstack/content/verify/raw"
	"lectern/localstack/content/verify/transcripts"
	"lectern/shared/datarequest"
	"lectern/shared/media"
	"lectern/shared/recording"
	"lectern/shared/repair"
	"lectern/shared/resource"
	"lectern/shared/sessionfile"
	"lectern/shared/table"
	"lectern/shared/transcript"
	"lectern/shared/upload"
	"lectern/shared/webhook"
)

// smallRecord has a small record with the key and version.
type smallRecord struct {
	resource.Stored
	FriendlyID      string `json:"friendly_id"`
	kind, partition string
	version         int64
}

// addRecord adds a small record, the number of records that an owner has of a kind, or the numbers of a record.
func (o *Organization) addRecord(at raw.Partition, item raw.Item) {
	kind, id, deleted := resource.KindOf(item.Key)
	switch {
	case resource.IsSerial(item.Key):
		o.addNumber(item.SK, item)
		return
	case resource.IsSum(item.Key):
		o.addSums(item)
		return
	case item.SK == (resource.Owner{}).CountKey(kind).SK:
		o.addNumber(kind, item)
		return
	}
	r := smallRecord{kind: kind, partition: item.PK, version: item.Version}
	if !o.read(item, kind, &r) {
		return
	}
	if r.ID != id || (r.DeletedAt != nil) != deleted || !deleted && r.Meta.Parent != at.Rest {
		o.problemf("%s %s stands under the key of another", kind, id)
	}
	if _, twice := o.small[id]; twice {
		o.problemf("%s %s is there twice", kind, id)
	}
	o.small[id] = r
	if deleted {
		return
	}
	o.countRecord(item.PK, r)
	if unique := r.Meta.Unique; unique != "" {
		o.expectHold(resource.Owner{Org: at.Org, Event: at.EventID(), Parent: at.Rest}.HoldKey(kind, unique), id)
	}
}

// addNumber adds the number of records that an owner has of a kind, or a running number.
func (o *Organization) addNumber(kind string, item raw.Item) {
	number, err := strconv.Atoi(item.Data)
	if err != nil {
		o.problemf("the number of records %s of %s cannot be read", kind, item.PK)
	}
	innerMap(o.surplus, item.PK)[kind] += number
}

// addSums adds the numbers that records of a kind add to another record.
func (o *Organization) addSums(item raw.Item) {
	numbers, err := resource.DecodeNumbers(table.Item{Key: item.Key, Data: []byte(item.Data)})
	if err != nil {
		o.problemf("the numbers %s of %s cannot be read", item.SK, item.PK)
	}
	for name, n := range numbers {
		innerMap(o.surplus, item.PK)[item.SK+" "+name] += n
	}
}

// countRecord takes a record, and what it adds to others, from the surplus of its partition.
func (o *Organization) countRecord(partition string, r smallRecord) {
	surplus := innerMap(o.surplus, partition)
	surplus[r.kind]--
	for _, sum := range r.Meta.Sums {
		surplus[resource.Owner{}.SumKey(sum.Of, r.kind).SK+" "+sum.Name] -= sum.By
	}
}

// checkRecords checks the change records and parents of all small records, and their numbers.
func (o *Organization) checkRecords() {
	for _, id := range sortedKeys(o.small) {
		r := o.small[id]
		o.checkPublished(r.kind+" "+id, r.version, r.UpdatedAt.UnixMilli(), r.Meta.Sequence)
		parent, found := o.small[r.Meta.Parent]
		if r.Meta.Parent != "" && !found && r.DeletedAt == nil {
			o.problemf("%s %s belongs to %s, which is not there", r.kind, id, r.Meta.Parent)
		}
		if found && raw.ParsePartition(parent.partition).Owner != raw.ParsePartition(r.partition).Owner {
			o.problemf("%s %s belongs to a record of another owner", r.kind, id)
		}
	}
	o.checkFriendlyIDs()
	o.checkNumbers()
}

// checkNumbers checks the numbers of records that each owner has, and the numbers that records add to others.
func (o *Organization) checkNumbers() {
	for _, partition := range sortedKeys(o.surplus) {
		at := raw.ParsePartition(partition)
		if deleted := o.small[at.Rest].DeletedAt; deleted != nil && time.Since(deleted.Time) > resource.Keep {
			continue // A purge removes the records one by one, and the numbers last.
		}
		for _, kind := range sortedKeys(o.surplus[partition]) {
			surplus := o.surplus[partition][kind]
			if surplus == 0 || resource.IsSerial(table.Key{SK: kind}) {
				continue
			}
			o.addRepair(at.Owner, repair.Records, at.Rest)
			item, sum, isSum := strings.Cut(kind, " ")
			if !isSum {
				o.problemf("%s counts %d records %s more than there are", partition, surplus, kind)
				continue
			}
			of, adding, _ := strings.Cut(strings.TrimPrefix(item, "S#"), "#")
			o.problemf("%s: %q of the record %s is off by %+d from what the records %s add", partition, sum, of, surplus, adding)
		}
	}
}

// checkFriendlyIDs checks that no two records have the same running number, and that no number is over the counter of its
// year.
func (o *Organization) checkFriendlyIDs() {
	holders := map[string]string{}
	for _, id := range sortedKeys(o.small) {
		r := o.small[id]
		counter, number, err := resource.Owner{Org: o.id}.SerialOf(r.kind, r.FriendlyID)
		if counter == (table.Key{}) {
			continue
		}
		name := r.kind + " " + r.FriendlyID
		if holders[name] != "" {
			o.problemf("%s and %s are both %s", holders[name], id, name)
		}
		holders[name] = id
		if err != nil || number > o.surplus[counter.PK][counter.SK] {
			o.addRepair(table.Org(o.id), repair.Records, r.Meta.Parent)
			o.problemf("%s is over its counter, which is %d", name, o.surplus[counter.PK][counter.SK])
		}
	}
}

// addWebhookItem adds a delivery or the state of an endpoint, a body, or a due item.
func (o *Organization) addWebhookItem(at raw.Partition, item raw.Item) {
	switch at.Letters {
	case "W":
		o.deliveries.AddDelivery(at, item)
	case "B":
		o.deliveries.AddBody(item)
	default:
		o.deliveries.AddDue(item)
	}
}

// addIndex adds the index of a session's transcriptions.
func (o *Organization) addIndex(at raw.Partition, item raw.Item) { o.transcriptsOf(at).AddIndex(item) }

// addPointer adds the place of a transcription. The partition of an organization is that of a token.
func (o *Organization) addPointer(at raw.Partition, item raw.Item) {
	if at.Event == "" {
		o.addTenancyRecord(at, item)
		return
	}
	o.transcriptsOf(at).AddPointer(at.Rest, item)
}

// transcriptsOf returns the items of the transcriptions of an event.
func (o *Organization) transcriptsOf(at raw.Partition) *transcripts.Items {
	if o.transcripts[at.Owner] == nil {
		o.transcripts[at.Owner] = transcripts.New(o.id, at.EventID(), o.problemf)
	}
	return o.transcripts[at.Owner]
}

// checkTranscripts checks the items of the transcriptions of an event, and the change records.
func (o *Organization) checkTranscripts(event string, items *transcripts.Items) {
	exists := func(session string) bool { return o.Sessions[event][session] != nil }
	items.Check(exists, func(t *transcript.Transcription) {
		o.checkPublished(transcript.Kind+" "+t.ID, t.Version, t.UpdatedAt.UnixMilli(), 0)
		o.checkAcknowledged(t.ID, t.Version)
	})
}

// excuseTranscriptions marks the transcriptions that were deleted, or whose session was purged, as
// purged: they have change records and are not there.
func (o *Organization) excuseTranscriptions() {
	for record, changes := range o.changes {
		kind, _, _ := strings.Cut(record, " ")
		for _, c := range changes {
			if kind == transcript.Kind && (c.action == transcript.Kind+".deleted" || o.purged[c.parent]) {
				o.purged[record] = true
			}
		}
	}
}

// addArchivePart notes that a data request has an archive.
func (o *Organization) addArchivePart(at raw.Partition, _ raw.Item) { o.archives[at.Rest] = true }

// checkArchives compares the archives with the data requests. The parts of an archive may be of a
// worker that ended, and expire one by one.
func (o *Organization) checkArchives() {
	for _, request := range sortedKeys(o.archives) {
		if o.small[request].kind != datarequest.Kind {
			o.problemf("the archive of %s is of no data request", request)
		}
	}
}

// checkDeliveries compares the items of webhooks with each other and with the endpoints.
func (o *Organization) checkDeliveries() {
	r := deliveries.Records{Endpoints: map[string]bool{}, Purged: o.purged}
	for id, record := range o.small {
		if record.kind == webhook.Kind {
			r.Endpoints[id] = record.DeletedAt == nil
		}
	}
	o.deliveries.Check(r, time.Now())
}

// storedUpload names an upload as its change records do, and the key of the event.
type storedUpload struct{ record, event string }

// folders has the folder of the bytes of each kind of upload.
var folders = map[string]string{
	media.Kind.Name: media.Folder, recording.Kind.Name: recording.Folder, sessionfile.Kind.Name: sessionfile.Folder,
}

// addUpload adds the record of an upload, and checks its places in the table and in the bucket. The
// bytes are not looked at.
func (o *Organization) addUpload(at raw.Partition, item raw.Item) {
	u, err := upload.DecodeAny(table.Item{Key: item.Key, Version: item.Version, Data: []byte(item.Data)})
	if err != nil {
		o.problemf("an upload cannot be read")
		return
	}
	place, kind := upload.At(o.id, at.EventID()), upload.KindOf(item.Key)
	if place.Key(u.SessionID, kind, u.ID) != item.Key || place.Object(folders[kind], u.SessionID, u.ID) != u.Object {
		o.problemf("the upload %s %s stands in the wrong place", kind, u.ID)
	}
	o.uploads[storedUpload{kind + " " + u.ID, at.Owner}] = u
	if kind == sessionfile.Kind.Name {
		o.filesOf(at.Owner).AddBytes(item)
	}
}

// checkUploads compares the uploads with their sessions and change records.
func (o *Organization) checkUploads() {
	for stored, u := range o.uploads {
		if o.Sessions[stored.event][u.SessionID] == nil {
			o.problemf("session %s is not there and has the upload %s", u.SessionID, stored.record)
		}
		o.checkPublished(stored.record, u.Revision(), u.UpdatedAt.UnixMilli(), u.Published)
		if strings.HasPrefix(stored.record, sessionfile.Kind.Name+" ") {
			delete(o.acknowledged, u.ID) // The key has the version of the file.
			continue
		}
		o.checkAcknowledged(u.ID, u.Revision())
	}
}
