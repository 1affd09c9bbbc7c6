// Package agenda_test measures how fast the conflicts of a large agenda are listed. `make bench` runs
// the whole size and prints the figures of docs/performance.md.
package agenda_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/tools/bench/scale"
)

// description is the text of a session, as long as many are.
var description = strings.Repeat("What we have learned, and what we would do in another way today. ", 15)

// bench is a client of an event with an agenda.
type bench struct {
	*it.Client
	log *stacktest.Log
}

// list lists the conflicts n times, and prints the median time and the units of the last.
func (b bench) list(name string, n int) (sessions int) {
	b.T.Helper()
	b.do(name, http.MethodGet, "/agenda-conflicts", n)
	return len(b.ListSettings("/agenda-conflicts"))
}

// drafts returns n drafts.
func drafts(n int, draft func(i int) any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = draft(i)
	}
	return all
}

// TestALargeAgenda lists the conflicts of 10,000 sessions in 125 rooms with three people each, of which one in fifty is in the
// wrong room.
func TestALargeAgenda(t *testing.T) {
	const rooms, people = 125, 3
	n := scale.Size(250, 10_000)
	log := &stacktest.Log{}
	b := bench{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, log}
	var halls []string
	for i := range rooms {
		halls = append(halls, b.NewEntry("rooms", fmt.Sprint("Hall ", i), it.Object{"capacity": 100}).ID())
	}
	contacts := b.CreateAll("contacts", drafts(people*n/4, func(i int) any {
		return it.Object{"email": fmt.Sprintf("p%d@example.org", i), "first_name": fmt.Sprint("P", i)}
	}))
	opens := time.Date(2027, 5, 10, 8, 0, 0, 0, time.UTC)
	ids := b.CreateAll("sessions", drafts(n, func(i int) any {
		slot, hall := i/rooms, i%rooms
		if i%50 == 0 {
			hall = (hall + 1) % rooms
		}
		starts := opens.Add(time.Duration(slot/16*24)*time.Hour + time.Duration(slot%16)*30*time.Minute)
		on := []it.Object{}
		for k := range people {
			on = append(on, it.Object{"contact_id": contacts[(i*people+k)%len(contacts)], "core_role": "speaker"})
		}
		return it.Object{"title": fmt.Sprint("Talk ", i), "description": description, "room_id": halls[hall], "starts_at": starts,
			"ends_at": starts.Add(30 * time.Minute), "participants": on}
	}))
	for kind, config := range map[string]it.Object{
		"min_gap_minutes": {"minutes": 5}, "time_window": {"starts": "08:00", "ends": "16:00"}, "room_capacity": {"level": "warning"},
	} {
		b.Do(http.StatusOK, http.MethodPost, "/rules/create", it.Object{"name": kind, "type": kind, "config": config})
	}
	fresh := bench{&it.Client{Stack: b.Instance(t), T: t}, log}
	fresh.list("by a new instance", 1)
	require.NotZero(t, fresh.list("warm", 5))
	fresh.Put(http.StatusOK, ids[0], it.Object{"capacity": 50})
	fresh.list("after a change", 1)
}
