package people_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/person"
	"lectern/shared/table"
)

// items are the items of a person's sessions on the event, by session.
func items(t *it.People, name string) map[string]person.Item {
	t.T.Helper()
	all, err := person.OnEvent(t.T.Context(), t.Table(t.T), t.Org, t.Event, t.IDs[name])
	require.NoError(t.T, err)
	items := map[string]person.Item{}
	for _, item := range all {
		items[item.Session] = item
	}
	return items
}

// titlesOf are the titles of a contact's sessions on the event.
func titlesOf(c *it.Programme, name string) []string {
	c.T.Helper()
	return it.Texts(c.SessionsOf(200, c.ContactID(name)).List("sessions"), "title")
}

// TestAnItemFollowsTheRolesOfAPerson: it is written when they change and else left alone.
func TestAnItemFollowsTheRolesOfAPerson(t *testing.T) {
	stacktest.Everywhere(t)
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann", "Bob")
	a := c.AddSession("A", nil, "Ann speaker", "Ann moderator", "Bob speaker")
	roles := c.RoleIDs()
	require.ElementsMatch(t, []string{roles["speaker"], roles["moderator"]}, items(c.People, "Ann")[a].Roles)
	require.Equal(t, []string{roles["speaker"]}, items(c.People, "Bob")[a].Roles)

	before := items(c.People, "Ann")
	c.Put(200, a, object{"title": "New", "status": "accepted"})
	c.SetPeople("A", "Bob moderator", "Ann moderator", "Ann speaker")
	require.Equal(t, before, items(c.People, "Ann"), "the order of a list is not a change of roles")
	require.Equal(t, []string{roles["moderator"]}, items(c.People, "Bob")[a].Roles)
	require.EqualValues(t, 3, items(c.People, "Bob")[a].Version)
	speaker(c, 404, c.ContactID("Bob"))

	c.SetPeople("A", "Bob moderator")
	require.Empty(t, items(c.People, "Ann"))
	require.Empty(t, titlesOf(c, "Ann"))
	c.Delete(200, a)
	require.Len(t, items(c.People, "Bob"), 1, "it is there for the restore")
	require.Empty(t, titlesOf(c, "Bob"))
	c.GetParticipant(404, "Bob")
	c.Restore(200, a)
	require.Equal(t, []string{"New"}, titlesOf(c, "Bob"))
	require.Equal(t, map[string]any{"moderator": []any{a}}, it.RolesOf(c.GetParticipant(200, "Bob")))
	c.Command("session-duplicate", object{"session_id": a})
	require.Equal(t, []string{"New", "New"}, titlesOf(c, "Bob"))
	c.DeletePerson("contacts", "Bob")
	c.SessionsOf(404, c.ContactID("Bob"))
	c.GetParticipant(404, "Bob")
	c.RestorePerson("contacts", "Bob")
	require.Len(t, it.RolesOf(c.GetParticipant(200, "Bob"))["moderator"], 2)
	c.RequireWhole()
}

func TestItemsOfABulk(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann", "Bob", "Cem")
	old := c.AddSession("Old", nil, "Ann speaker", "Cem moderator")
	o := c.Bulk(
		it.Creating(object{"title": "A", "participants": it.ParticipantsOf([]string{"Ann speaker", "Bob speaker"})}),
		it.Updating(old, object{"participants": it.ParticipantsOf([]string{"Bob moderator"})}),
		it.Creating(object{"title": "B", "participants": it.ParticipantsOf([]string{"Cem speaker"})}),
		it.Updating(old, object{"participants": it.ParticipantsOf([]string{"Bob moderator", "Cem speaker"})}),
		it.Updating(old, object{"title": "Still old"}),
	)
	a, b := o.Data(t, 0).ID(), o.Data(t, 2).ID()
	require.Len(t, items(c.People, "Ann"), 1)
	require.Contains(t, items(c.People, "Ann"), a)
	require.Len(t, items(c.People, "Bob"), 2)
	require.Equal(t, map[string]any{"speaker": []any{old, b}}, it.RolesOf(c.GetParticipant(200, "Cem")))
	c.Bulk(it.Deleting(a), it.Deleting(b))
	require.Equal(t, []string{"Still old"}, titlesOf(c, "Bob"))
	require.Empty(t, titlesOf(c, "Ann"))
	c.RequireWhole()
}

// TestManyPeopleAreAnnounced where more roles change than fit into a transaction.
func TestManyPeopleAreAnnounced(t *testing.T) {
	c := it.NewProgramme(t)
	people := c.AddSpeakers(200)
	id := c.Create(200, object{"title": "A", "participants": people[:100]}).ID()
	answers := func(on int) {
		t.Helper()
		for i := range people {
			name := fmt.Sprintf("P%d", i)
			want := 0
			if i/100 == on {
				want = 1
			}
			require.Len(t, titlesOf(c, name), want, name)
		}
	}
	answers(0)
	c.RequireWhole()
	c.Put(200, id, object{"participants": people[100:]})
	answers(1)
	c.RequireWhole()
	status := map[int]int{0: 404, 100: 200, 199: 200}
	for i, want := range status {
		name := fmt.Sprintf("P%d", i)
		speaker(c, want, c.ContactID(name))
		c.GetParticipant(want, name)
	}
	c.Bulk(it.Updating(id, object{"participants": people[:100]}))
	answers(0)
	c.RequireWhole()
}

// TestAPersonWhoMovesIsNotMissed: from one session to another, the new one first, while
// the items of the person are read and the bodies not yet.
func TestAPersonWhoMovesIsNotMissed(t *testing.T) {
	d, point := it.StartBehindGate(t)
	c := it.ProgrammeOf(d)
	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann speaker")
	c.AddSession("B", nil)
	m := &mover{Programme: c, from: "A", to: "B"}
	afterItems(point, c.ContactID("Ann"), m.move)
	m.during(m.titles, m.speaks, m.isFound,
		func() {
			require.Equal(t, []string{m.to}, it.Texts(anywhere(c, 200, c.ContactID("Ann")).List("sessions"), "title"))
		},
		func() {
			require.Equal(t, map[string]any{"speaker": c.SessionIDs(m.to)}, it.RolesOf(c.GetParticipant(200, "Ann")))
		})
}

// TestQuestionsAboutAPersonBehindFaults: what was acknowledged is in each answer.
func TestQuestionsAboutAPersonBehindFaults(t *testing.T) {
	c := it.ProgrammeOf(&it.Client{Stack: stacktest.Start(t, stacktest.WithClient(func(inner table.Client) table.Client {
		return faulty.New(inner, faulty.Mixed(it.Seed(t)))
	})), T: t})
	names := []string{"Ann", "Bob", "Cem", "Dan"}
	c.AddPeople(names...)
	g := errgroup.Group{}
	for _, name := range names {
		title := "Of " + name
		c.AddSession(title, nil)
		id := c.Held[title].ID()
		g.Go(func() error {
			for i := range it.Size(10, 100) {
				role := []string{"speaker", "moderator"}[i%2]
				c.Put(200, id, object{"participants": it.ParticipantsOf([]string{name + " " + role, "Ann chairperson"})})
				roles := it.RolesOf(c.GetParticipant(200, name))
				require.Equal(t, []any{id}, roles[role])
				require.Contains(t, it.Texts(c.SessionsOf(200, c.IDs["Ann"]).List("sessions"), "title"), title)
				speaker(c, []int{200, 404}[i%2], c.IDs[name])
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	c.RequireWhole()
}

// TestPagesOfAContactsSessions: by event, oldest first, without those deleted.
func TestPagesOfAContactsSessions(t *testing.T) {
	c := it.NewProgramme(t)
	there := c.InNewProgramme()
	var titles []string
	for i, event := range []*it.Programme{c, there} {
		event.AddPeople("Ann")
		for n := range 4 {
			title := fmt.Sprintf("%d of %d", n, i)
			titles = append(titles, title)
			event.AddSession(title, nil, "Ann speaker")
		}
	}
	there.Delete(200, there.Held["1 of 1"].ID())
	titles = append(titles[:5], titles[6:]...)
	paged := func(path, query string) []string {
		t.Helper()
		return it.Texts(entity(c.Call(t, 200, http.MethodGet, path+query, nil).JSON(t)).List("sessions"), "title")
	}
	organization := fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", c.Org, c.ContactID("Ann"))
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
	require.Equal(t, titles[2:4], paged(c.EventPath("/contacts/"+c.ContactID("Ann")+"/sessions"), "?pageSize=2&page=2"))
	for _, wrong := range []string{"pageSize=0", "pageSize=1001", "page=0", "page=1000"} {
		c.Call(t, 400, http.MethodGet, organization+"?"+wrong, nil)
	}
}

// TestQuestionsAboutAPersonShowNoOtherEvents asks as a caller limited to one event and as
// one of another organization: items of events that they cannot see tell them nothing.
func TestQuestionsAboutAPersonShowNoOtherEvents(t *testing.T) {
	c := it.NewProgramme(t)
	there := c.InNewProgramme()
	c.AddPeople("Ann", "Eve")
	there.AddPeople("Ann", "Bob")
	c.AddSession("here", nil, "Ann speaker")
	there.AddSession("there", nil, "Ann speaker", "Bob speaker")
	sessions := func(d *it.Client, status int, contact string) entity {
		return d.Call(t, status, http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", d.Org, contact), nil).JSON(t)
	}
	ann, bob, unknown := c.ContactID("Ann"), there.ContactID("Bob"), "00000000-0000-4000-8000-000000000000"
	limited := c.WithToken(c.TokenWith(t, object{"scopes": stacktest.Scopes, "limit": 1_000_000, "event_ids": []int64{c.Event}}))
	require.ElementsMatch(t, []string{"here", "there"}, it.Texts(sessions(c.Client, 200, ann).List("sessions"), "title"))
	require.Equal(t, []string{"here"}, it.Texts(sessions(limited, 200, ann).List("sessions"), "title"))
	for name, path := range map[string]string{"sessions": "/contacts/%s/sessions", "speaker": "/speakers/%s"} {
		t.Run(name, func(t *testing.T) {
			for _, d := range []*it.Client{limited, c.Client} {
				require.Equal(t, at(d, path, unknown), at(d, path, bob), "of no event of the path's")
			}
			require.Equal(t, "Event not found", limited.In(there.Event).Call(t, 404, http.MethodGet,
				limited.In(there.Event).EventPath(fmt.Sprintf(path, ann)), nil).JSON(t)["message"])
		})
	}
	require.Equal(t, sessions(limited, 404, unknown), sessions(limited, 404, bob))
	stranger := it.NewProgramme(t)
	require.Equal(t, sessions(stranger.Client, 404, unknown), sessions(stranger.Client, 404, ann))
	for name, path := range map[string]string{"sessions": "/contacts/%s/sessions", "speaker": "/speakers/%s"} {
		require.Equal(t, at(stranger.Client, path, unknown), at(stranger.Client, path, ann), name)
	}
}

// at returns what a caller is told of a contact who is unknown on the event.
func at(d *it.Client, path, contact string) entity {
	d.T.Helper()
	return d.Call(d.T, 404, http.MethodGet, d.EventPath(fmt.Sprintf(path, contact)), nil).JSON(d.T)
}
