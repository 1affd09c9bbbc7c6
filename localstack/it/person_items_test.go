package it_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/localstack/stacktest"
	"lectern/localstack/verify"
	"lectern/shared/person"
	"lectern/shared/table"
	"lectern/shared/table/faulty"
)

// items are the items of a person's sessions on the event, by session.
func (t *troupe) items(name string) map[string]person.Item {
	t.t.Helper()
	all, err := person.OnEvent(t.t.Context(), t.Table(t.t), t.Org, t.Event, t.ids[name])
	require.NoError(t.t, err)
	items := map[string]person.Item{}
	for _, item := range all {
		items[item.Session] = item
	}
	return items
}

// whole holds that the table is whole, its items of people too.
func (t *troupe) whole() {
	t.t.Helper()
	address, name := t.Engine(t.t)
	client, err := table.Open(t.t.Context(), table.Config{Endpoint: address})
	require.NoError(t.t, err)
	report, err := verify.Table(t.t.Context(), client, name)
	require.NoError(t.t, err)
	require.Empty(t.t, report.Problems)
}

// titlesOf are the titles of a contact's sessions on the event.
func (c *crowd) titlesOf(name string) []string {
	c.t.Helper()
	return texts(c.sessionsOf(200, c.id(name)).list("sessions"), "title")
}

// TestAnItemFollowsTheRolesOfAPerson: it is written when they change and else left alone.
func TestAnItemFollowsTheRolesOfAPerson(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	c.meet("Ann", "Bob")
	a := c.hold("A", nil, "Ann speaker", "Ann moderator", "Bob speaker")
	roles := c.roleIDs()
	require.ElementsMatch(t, []string{roles["speaker"], roles["moderator"]}, c.items("Ann")[a].Roles)
	require.Equal(t, []string{roles["speaker"]}, c.items("Bob")[a].Roles)

	before := c.items("Ann")
	c.put(200, a, object{"title": "New", "status": "accepted"})
	c.recast("A", "Bob moderator", "Ann moderator", "Ann speaker")
	require.Equal(t, before, c.items("Ann"), "the order of a list is not a change of roles")
	require.Equal(t, []string{roles["moderator"]}, c.items("Bob")[a].Roles)
	require.EqualValues(t, 3, c.items("Bob")[a].Version)
	c.speaker(404, c.id("Bob"))

	c.recast("A", "Bob moderator")
	require.Empty(t, c.items("Ann"))
	require.Empty(t, c.titlesOf("Ann"))
	c.remove(200, a)
	require.Len(t, c.items("Bob"), 1, "it is there for the restore")
	require.Empty(t, c.titlesOf("Bob"))
	c.participant(404, "Bob")
	c.restore(200, a)
	require.Equal(t, []string{"New"}, c.titlesOf("Bob"))
	require.Equal(t, map[string]any{"moderator": []any{a}}, rolesOf(c.participant(200, "Bob")))
	c.done("session-duplicate", object{"session_id": a})
	require.Equal(t, []string{"New", "New"}, c.titlesOf("Bob"))
	c.fire("contacts", "Bob")
	c.sessionsOf(404, c.id("Bob"))
	c.participant(404, "Bob")
	c.rehire("contacts", "Bob")
	require.Len(t, rolesOf(c.participant(200, "Bob"))["moderator"], 2)
	c.whole()
}

func TestItemsOfABulk(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann", "Bob", "Cem")
	old := c.hold("Old", nil, "Ann speaker", "Cem moderator")
	o := c.bulk(
		creating(object{"title": "A", "participants": places([]string{"Ann speaker", "Bob speaker"})}),
		updating(old, object{"participants": places([]string{"Bob moderator"})}),
		creating(object{"title": "B", "participants": places([]string{"Cem speaker"})}),
		updating(old, object{"participants": places([]string{"Bob moderator", "Cem speaker"})}),
		updating(old, object{"title": "Still old"}),
	)
	a, b := o.data(t, 0).id(), o.data(t, 2).id()
	require.Len(t, c.items("Ann"), 1)
	require.Contains(t, c.items("Ann"), a)
	require.Len(t, c.items("Bob"), 2)
	require.Equal(t, map[string]any{"speaker": []any{old, b}}, rolesOf(c.participant(200, "Cem")))
	c.bulk(deleting(a), deleting(b))
	require.Equal(t, []string{"Still old"}, c.titlesOf("Bob"))
	require.Empty(t, c.titlesOf("Ann"))
	c.whole()
}

// TestManyPeopleAreAnnounced where more roles change than fit into a transaction.
func TestManyPeopleAreAnnounced(t *testing.T) {
	c := newCrowd(t)
	people := c.speakers(200)
	id := c.create(200, object{"title": "A", "participants": people[:100]}).id()
	answers := func(on int) {
		t.Helper()
		for i := range people {
			name := fmt.Sprintf("P%d", i)
			want := 0
			if i/100 == on {
				want = 1
			}
			require.Len(t, c.titlesOf(name), want, name)
		}
	}
	answers(0)
	c.whole()
	c.put(200, id, object{"participants": people[100:]})
	answers(1)
	c.whole()
	status := map[int]int{0: 404, 100: 200, 199: 200}
	for i, want := range status {
		name := fmt.Sprintf("P%d", i)
		c.speaker(want, c.id(name))
		c.participant(want, name)
	}
	c.bulk(updating(id, object{"participants": people[:100]}))
	answers(0)
	c.whole()
}

// TestAPersonWhoMovesIsNotMissed: from one session to another, the new one first, while
// the items of the person are read and the bodies not yet.
func TestAPersonWhoMovesIsNotMissed(t *testing.T) {
	d, point := startCheckpoint(t)
	c := crowdOf(d)
	c.meet("Ann")
	c.hold("A", nil, "Ann speaker")
	c.hold("B", nil)
	m := &mover{crowd: c, from: "A", to: "B"}
	point.afterItems(c.id("Ann"), m.move)
	m.during(m.titles, m.speaks, m.isFound,
		func() {
			require.Equal(t, []string{m.to}, texts(c.anywhere(200, c.id("Ann")).list("sessions"), "title"))
		},
		func() {
			require.Equal(t, map[string]any{"speaker": c.sessions(m.to)}, rolesOf(c.participant(200, "Ann")))
		})
}

// TestQuestionsAboutAPersonBehindFaults: what was acknowledged is in each answer.
func TestQuestionsAboutAPersonBehindFaults(t *testing.T) {
	c := crowdOf(&desk{stacktest.Start(t, stacktest.WithClient(func(inner table.Client) table.Client {
		return faulty.New(inner, faulty.Config{Seed: seeded(t), Conflict: 0.03, Throttle: 0.02, DropBefore: 0.01, DropAfter: 0.01, Torn: 0.5})
	})), t})
	names := []string{"Ann", "Bob", "Cem", "Dan"}
	c.meet(names...)
	g := errgroup.Group{}
	for _, name := range names {
		title := "Of " + name
		c.hold(title, nil)
		id := c.held[title].id()
		g.Go(func() error {
			for i := range sized(10, 100) {
				role := []string{"speaker", "moderator"}[i%2]
				c.put(200, id, object{"participants": places([]string{name + " " + role, "Ann chairperson"})})
				roles := rolesOf(c.participant(200, name))
				require.Equal(t, []any{id}, roles[role])
				require.Contains(t, texts(c.sessionsOf(200, c.ids["Ann"]).list("sessions"), "title"), title)
				c.speaker([]int{200, 404}[i%2], c.ids[name])
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	c.whole()
}

// TestPagesOfAContactsSessions: by event, oldest first, without those deleted.
func TestPagesOfAContactsSessions(t *testing.T) {
	c := newCrowd(t)
	there := c.there()
	var titles []string
	for i, event := range []*crowd{c, there} {
		event.meet("Ann")
		for n := range 4 {
			title := fmt.Sprintf("%d of %d", n, i)
			titles = append(titles, title)
			event.hold(title, nil, "Ann speaker")
		}
	}
	there.remove(200, there.held["1 of 1"].id())
	titles = append(titles[:5], titles[6:]...)
	paged := func(path, query string) []string {
		t.Helper()
		return texts(entity(c.Call(t, 200, http.MethodGet, path+query, nil).JSON(t)).list("sessions"), "title")
	}
	organization := fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, c.id("Ann"))
	require.Equal(t, titles, paged(organization, ""))
	for size := 1; size <= 8; size++ {
		var all []string
		for page := 1; ; page++ {
			part := paged(organization, fmt.Sprintf("?pageSize=%d&page=%d", size, page))
			all = append(all, part...)
			if len(part) < size {
				break
			}
		}
		require.Equal(t, titles, all, size)
	}
	require.Equal(t, titles[2:4], paged(c.EventPath("/contacts/"+c.id("Ann")+"/sessions"), "?pageSize=2&page=2"))
	for _, wrong := range []string{"pageSize=0", "pageSize=1001", "page=0", "page=1000"} {
		c.Call(t, 400, http.MethodGet, organization+"?"+wrong, nil)
	}
}

// TestQuestionsAboutAPersonShowNoOtherEvents asks as a caller limited to one event and as
// one of another organization: items of events that they cannot see tell them nothing.
func TestQuestionsAboutAPersonShowNoOtherEvents(t *testing.T) {
	c := newCrowd(t)
	there := c.there()
	c.meet("Ann", "Eve")
	there.meet("Ann", "Bob")
	c.hold("here", nil, "Ann speaker")
	there.hold("there", nil, "Ann speaker", "Bob speaker")
	sessions := func(d *desk, status int, contact string) entity {
		return d.Call(t, status, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", d.Org, contact), nil).JSON(t)
	}
	ann, bob, unknown := c.id("Ann"), there.id("Bob"), "00000000-0000-4000-8000-000000000000"
	limited := c.as(c.TokenWith(t, object{"scopes": stacktest.Scopes, "limit": 1_000_000, "event_ids": []int64{c.Event}}))
	require.ElementsMatch(t, []string{"here", "there"}, texts(sessions(c.desk, 200, ann).list("sessions"), "title"))
	require.Equal(t, []string{"here"}, texts(sessions(limited, 200, ann).list("sessions"), "title"))
	for name, path := range map[string]string{"sessions": "/contacts/%s/sessions", "speaker": "/speakers/%s"} {
		t.Run(name, func(t *testing.T) {
			for _, d := range []*desk{limited, c.desk} {
				require.Equal(t, at(d, path, unknown), at(d, path, bob), "of no event of the path's")
			}
			require.Equal(t, "Event not found", limited.In(there.Event).Call(t, 404, http.MethodGet,
				limited.In(there.Event).EventPath(fmt.Sprintf(path, ann)), nil).JSON(t)["message"])
		})
	}
	require.Equal(t, sessions(limited, 404, unknown), sessions(limited, 404, bob))
	stranger := newCrowd(t)
	require.Equal(t, sessions(stranger.desk, 404, unknown), sessions(stranger.desk, 404, ann))
	for name, path := range map[string]string{"sessions": "/contacts/%s/sessions", "speaker": "/speakers/%s"} {
		require.Equal(t, at(stranger.desk, path, unknown), at(stranger.desk, path, ann), name)
	}
}

// at returns what a caller is told of a contact who is unknown on the event.
func at(d *desk, path, contact string) entity {
	d.t.Helper()
	return d.Call(d.t, 404, http.MethodGet, d.EventPath(fmt.Sprintf(path, contact)), nil).JSON(d.t)
}
