package batteries_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// traveller is a contact of several events, each of which has a field of its own.
type traveller struct {
	*it.Client
	id, size string
	// sizes are the fields of the other events.
	sizes map[*it.Client]string
}

func newTraveller(d *it.Client) *traveller {
	d.T.Helper()
	size := func(d *it.Client) string {
		return d.DefineField(200, object{"name": "Size", "type": "text", "module_id": "contact"})["internal_name"].(string)
	}
	made := &traveller{Client: d, size: size(d), sizes: map[*it.Client]string{}}
	made.id = contact(d, 200, http.MethodPost, "/create", it.Merged(made.values("old"), object{"email": "a@example.org"})).ID()
	for range 5 {
		there := d.InNewEvent()
		made.sizes[there] = size(there)
		contact(there, 200, http.MethodPost, "/create", object{"email": "a@example.org"})
	}
	return made
}

// values are one of the record and one of the event.
func (r *traveller) values(v string) object {
	return object{"title": v, "custom_fields": object{r.size: v}}
}

// changes writes record and association together, and then the record with the
// associations of so many other events that it does not remember the first write.
func (r *traveller) changes() {
	contact(r.Client, 200, http.MethodPut, "/"+r.id, r.values("new"))
	for there, name := range r.sizes {
		contact(there, 200, http.MethodPut, "/"+r.id, object{"custom_fields": object{name: "x"}})
	}
}

// shown holds that a search at an instance shows record and association of one moment.
func (r *traveller) shown(at *it.Client) {
	r.T.Helper()
	page := stacktest.Call[it.Page](at.Stack, 200, http.MethodPost, at.EventPath("/contacts"), object{})
	require.Equal(r.T, page.Results[0]["title"], page.Results[0].List("custom_fields")[0]["value"])
}

// TestAPageIsWholeAfterManyWrites between the reads of its rows and of the page.
func TestAPageIsWholeAfterManyWrites(t *testing.T) {
	for _, bad := range []bool{false, true} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			d, p := startParting(t)
			if bad {
				it.WithDamagedRows(d)
			}
			r := newTraveller(d)
			at := &it.Client{Stack: d.Instance(t), T: t}
			r.shown(at)
			contact(r.Client, 200, http.MethodPut, "/"+r.id, object{"headcount": "1"}) // The page has to be read.
			p.between = r.changes
			p.part = func(key string) bool { return strings.Contains(key, "#C#"+r.id+" ") }
			r.shown(at)
			require.True(t, p.done.Load())
		})
	}
}

// TestAPageIsWholeWhereRowsAreOfTwoMoments: those of the event are validated before the
// writes, those of the organization after them. A read of both is parted in the same way.
func TestAPageIsWholeWhereRowsAreOfTwoMoments(t *testing.T) {
	d, c := it.StartBehindGate(t)
	r := newTraveller(d)
	at := &it.Client{Stack: d.Instance(t), T: t}
	r.shown(at)
	event, first := make(chan struct{}), sync.Once{}
	passed := sync.OnceFunc(func() { close(event) })
	querying := func(keys string) {
		if strings.Contains(keys, " "+table.Org(d.Org)+"#V ") && strings.Contains(keys, " C#") {
			first.Do(func() {
				<-event
				r.changes()
			})
		}
	}
	queried := func(keys string) {
		if strings.Contains(keys, " "+table.Event(d.Org, d.Event)+"#V ") && strings.Contains(keys, " C#") {
			passed()
		}
	}
	c.Querying.Store(&querying)
	c.Queried.Store(&queried)
	r.shown(at)
	require.Equal(t, "new", contact(r.Client, 200, http.MethodGet, "/"+r.id, nil)["title"], "the writes were made")
}

// TestAReadIsWholeAfterManyWrites between record and association.
func TestAReadIsWholeAfterManyWrites(t *testing.T) {
	for _, half := range []string{"B", "E#"} {
		t.Run(half, func(t *testing.T) {
			d, p := startParting(t)
			r := newTraveller(d)
			p.between = r.changes
			p.part = func(key string) bool { return strings.Contains(key, "#C#"+r.id+" "+half) }
			shown := contact(d, 200, http.MethodGet, "/"+r.id, nil)
			require.True(t, p.done.Load())
			require.Equal(t, "new", shown["title"])
			require.Equal(t, "new", shown.List("custom_fields")[0]["value"])
		})
	}
}

// TestASessionIsAnsweredWithWholePeople by the write that names one of them.
func TestASessionIsAnsweredWithWholePeople(t *testing.T) {
	for _, half := range []string{"B", "E#"} {
		t.Run(half, func(t *testing.T) {
			d, p := startParting(t)
			r := newTraveller(d)
			id := d.Create(200, object{"title": "A"}).ID()
			p.between = r.changes
			p.part = func(key string) bool { return strings.Contains(key, "#C#"+r.id+" "+half) }
			shown := d.Put(200, id, object{"participants": []object{{"contact_id": r.id, "core_role": "speaker"}}})
			require.True(t, p.done.Load())
			person := shown.List("participants")[0]
			require.Equal(t, "new", person["title"])
			require.Equal(t, "new", person.List("custom_fields")[0]["value"])
		})
	}
}

// TestAPersonWhoIsWrittenWithoutEndIsRead on an event where nothing happens.
func TestAPersonWhoIsWrittenWithoutEndIsRead(t *testing.T) {
	d, c := it.StartBehindGate(t)
	r := newTraveller(d)
	var theirs []func()
	for there, name := range r.sizes {
		for i := range 3 {
			theirs = append(theirs, func() {
				contact(there, 200, http.MethodPut, "/"+r.id, object{"custom_fields": object{name: fmt.Sprint(i)}})
			})
		}
	}
	busy, n := atomic.Bool{}, 0
	batched := func(key string) {
		if strings.Contains(key, "#C#"+r.id+" ") && strings.Contains(key, " B ") && busy.CompareAndSwap(false, true) {
			theirs[n%len(theirs)]()
			n++
			busy.Store(false)
		}
	}
	c.Batched.Store(&batched)
	require.Equal(t, "old", contact(r.Client, 200, http.MethodGet, "/"+r.id, nil)["title"])
	require.Equal(t, 1, n, "one batch, and then both items together")
}
