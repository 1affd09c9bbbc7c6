package sessionfiles_test

import (
	"net/http"
	"testing"

	"lectern/localstack/test/it"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

// desk is a client of the slots of an event.
type desk struct{ *it.Client }

// newDesk returns a client of an event with the features.
func newDesk(t *testing.T, features ...string) *desk {
	t.Helper()
	return &desk{it.NewClient(t, features...)}
}

// newSlot creates a slot with a name.
func (d *desk) newSlot(name string, more ...object) entity {
	d.T.Helper()
	return d.Command("content-slot-create", it.Merged(object{"name": name, "content_type": "presentation"}, more...))
}

// archive archives a slot.
func (d *desk) archive(id string) {
	d.T.Helper()
	d.Command("content-slot-update", object{"slot_id": id, "is_active": false})
}

// slots returns the slots of a list.
func (d *desk) slots(parts ...string) []entity {
	d.T.Helper()
	return d.Do(http.StatusOK, http.MethodGet, "/content-slots"+it.Query(parts), nil).List("data")
}

// names returns the names of the slots of a list.
func (d *desk) names(parts ...string) []string {
	d.T.Helper()
	return it.Texts(d.slots(parts...), "name")
}

// ofSession returns the names of the slots that apply to a session.
func (d *desk) ofSession(id string) []string {
	d.T.Helper()
	return d.names("session_id=" + id)
}
