package people_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// TestATagOfAnotherEventStandsForTheRecordToo: however often the values of an event and
// the record were written, a tag that was read on one event is stale on the other as soon
// as the record has changed.
func TestATagOfAnotherEventStandsForTheRecordToo(t *testing.T) {
	stacktest.Everywhere(t)
	p := NewContacts(t)
	there := p.InNewEvent()
	seat := there.NewField("Seat", "text")
	for _, local := range []int{0, 1, 2, 3} {
		for _, edits := range []int{1, 2, 3} {
			address := fmt.Sprintf("a%d-%d@x.org", local, edits)
			id := p.WithAddresses(address)[0]
			there.WithAddresses(address)
			for i := range local {
				there.Put(200, id, object{"custom_fields": object{seat: fmt.Sprint(i)}})
			}
			seen := there.CallContacts(200, http.MethodGet, "/"+id, nil).Header.Get("ETag")
			for i := range edits {
				p.Put(200, id, object{"title": fmt.Sprint(i)})
			}
			refused := p.CallContacts(409, http.MethodPut, "/"+id, object{"title": "lost"}, "If-Match", seen)
			current := refused.Header.Get("ETag")
			for _, like := range []string{strings.Replace(current, `"`, `"+`, 1), strings.Replace(current, `"`, `"0`, 1)} {
				p.CallContacts(409, http.MethodPut, "/"+id, object{"title": "lost"}, "If-Match", like)
			}
			p.CallContacts(200, http.MethodPut, "/"+id, object{"title": "kept"}, "If-Match", current)
		}
	}
}

// TestWhatTheOrganizationShowsGuardsAWrite under an event: it is stale when what the event
// shows has changed since, and not any more when it is read again.
func TestWhatTheOrganizationShowsGuardsAWrite(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	badge, seat := p.NewField("Badge", "text"), there.NewField("Seat", "text")
	id := p.WithAddresses("ada@x.org")[0]
	there.WithAddresses("ada@x.org")
	guards := map[string]func() (object, []string){
		"updated_at": func() (object, []string) {
			return object{"title": "x", "updated_at": p.GetFromOrganization(200, id)["updated_at"]}, nil
		},
		"If-Match": func() (object, []string) {
			return object{"title": "x"}, []string{"If-Match", p.Call(t, 200, http.MethodGet, p.OrganizationPath("/"+id), nil).Header.Get("ETag")}
		},
	}
	for name, read := range guards {
		for _, write := range []func(){
			func() { p.Put(200, id, object{"custom_fields": object{badge: "1"}}) },
			func() { p.Delete(200, id); p.Restore(200, id) },
			func() { there.Put(200, id, object{"title": "y"}) },
		} {
			body, header := read()
			write()
			p.CallContacts(409, http.MethodPut, "/"+id, body, header...)
			body, header = read()
			p.CallContacts(200, http.MethodPut, "/"+id, body, header...)
			require.Equal(t, "x", p.Get(200, id)["title"], name)
			body, header = read()
			there.Put(200, id, object{"custom_fields": object{seat: "1"}})
			p.CallContacts(200, http.MethodPut, "/"+id, body, header...)
			there.Put(200, id, object{"custom_fields": object{seat: "2"}})
			body, header = read()
			there.Put(200, id, object{"custom_fields": object{seat: "3"}})
			p.CallContacts(200, http.MethodPut, "/"+id, body, header...)
		}
	}
}
