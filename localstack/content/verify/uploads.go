package verify

import (
	"strings"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// storedUpload names an upload as its change records do, and the key of the event.
type storedUpload struct{ record, event string }

// addUpload adds the record of an upload, and checks its places in the table and in the bucket. The
// bytes are not looked at.
func (o *Organization) addUpload(at raw.Partition, item raw.Item) {
	u, err := upload.DecodeAny(table.Item{Key: item.Key, Version: item.Version, Data: []byte(item.Data)})
	if err != nil {
		o.problemf("an upload cannot be read")
		return
	}
	place, kind := upload.At(o.id, at.EventID()), upload.KindOf(item.Key)
	folder, _, _ := strings.Cut(u.Object, "/")
	if place.Key(u.SessionID, kind, u.ID) != item.Key || place.Object(folder, u.SessionID, u.ID) != u.Object {
		o.problemf("the upload %s %s stands in the wrong place", kind, u.ID)
	}
	o.uploads[storedUpload{kind + " " + u.ID, at.Owner}] = u
}

// checkUploads compares the uploads with their sessions and change records.
func (o *Organization) checkUploads() {
	for stored, u := range o.uploads {
		if o.Sessions[stored.event][u.SessionID] == nil {
			o.problemf("session %s is not there and has the upload %s", u.SessionID, stored.record)
		}
		o.checkPublished(stored.record, u.Revision(), u.UpdatedAt.UnixMilli(), 0)
		o.checkAcknowledged(u.ID, u.Revision())
	}
}
