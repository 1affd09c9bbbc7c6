package people_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestOneContactAnAddress: of 16 clients that create the same addresses at once, on
// two instances, one makes each contact and all others are told its id.
func TestOneContactAnAddress(t *testing.T) {
	p := NewContacts(t)
	places := []*stacktest.Stack{p.Stack, p.Instance(t)}
	addresses := it.Size(50, 500)
	var mu sync.Mutex
	answers := map[string][]stacktest.Answer{}
	it.Concurrently(16, func(client int) {
		for i := range addresses {
			email := fmt.Sprintf("%d@example.org", i)
			sent := map[bool]string{true: email, false: " " + strings.ToUpper(email)}[client%3 > 0]
			a := places[client%2].TrySend(t, "POST", p.EventPath("/contacts/create"), object{"email": sent})
			mu.Lock()
			answers[email] = append(answers[email], a)
			mu.Unlock()
		}
	})
	require.Len(t, answers, addresses)
	ids := map[string]bool{}
	for email, all := range answers {
		id := ""
		for _, a := range all {
			if a.Status == 200 {
				require.Empty(t, id, "two made %s", email)
				id = entity(a.JSON(t)).ID()
			}
		}
		require.NotEmpty(t, id, "nobody made %s", email)
		ids[id] = true
		for _, a := range all {
			if a.Status != 200 {
				require.Equal(t, 409, a.Status, "%s", a.Body)
				isTakenBy(t, a.JSON(t), object{"id": id})
			}
		}
	}
	require.Len(t, ids, addresses)
	require.Equal(t, addresses, p.Search(object{}).Pagination.TotalResults)
	require.Equal(t, addresses, p.SearchOrganization(object{}).Pagination.TotalResults)
}

// TestOneContactOnManyEventsAtOnce: two events create the same addresses; each
// person is one contact, on both.
func TestOneContactOnManyEventsAtOnce(t *testing.T) {
	p := NewContacts(t)
	events := []*it.Contacts{p, p.InNewEvent(), p.InNewEvent(), p.InNewEvent()}
	addresses := it.Size(20, 200)
	made := make([][]string, len(events))
	it.Concurrently(len(events), func(i int) {
		for n := range addresses {
			a := events[i].TrySend(t, "POST", events[i].EventPath("/contacts/create"), object{"email": fmt.Sprintf("%d@example.org", n)})
			if a.Status != 200 {
				t.Errorf("%d: %s", a.Status, a.Body)
			}
			made[i] = append(made[i], entity(it.DecodeObject(a.Body)).ID())
		}
	})
	for i, event := range events {
		require.Equal(t, made[0], made[i])
		require.Equal(t, addresses, event.Search(object{}).Pagination.TotalResults)
	}
	require.Equal(t, addresses, p.SearchOrganization(object{}).Pagination.TotalResults)
}

// TestAnUpdateCostsTheSameOnManyEvents: the record is written once, however many
// events show it, and each of them shows it at once. The update is made on the last
// event: the others may be torn for two minutes.
func TestAnUpdateCostsTheSameOnManyEvents(t *testing.T) {
	log := &stacktest.Log{}
	p := &it.Contacts{Client: &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}}
	single, many := p.WithAddresses("single@x.org")[0], p.WithAddresses("many@x.org")[0]
	events := []*it.Contacts{p}
	for len(events) < 200 {
		there := p.InNewEvent()
		require.Equal(t, many, there.WithAddresses("many@x.org")[0])
		require.Empty(t, there.Search(object{"filters": object{"search": "engines"}}).Results, "in memory before the update")
		events = append(events, there)
	}
	units := map[string]any{}
	for id, at := range map[string]*it.Contacts{single: p, many: events[len(events)-1]} {
		at.CallContacts(200, "PUT", "/"+id, object{"company": "Analytical Engines"}, "X-Request-Id", "update-"+id)
		line := log.Fields(t, "update-"+id)
		require.NotZero(t, line["wcu"])
		units[id] = line["wcu"]
	}
	require.Equal(t, units[single], units[many])
	changed := p.Get(200, many)
	for _, there := range events[1:] {
		results := there.Search(object{"filters": object{"search": "engines"}}).Results
		require.Equal(t, []string{many}, it.Texts(results, "id"))
		require.Equal(t, changed["updated_at"], results[0]["updated_at"])
	}
}
