package people_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/localstack/test/it"
	"lectern/shared/person"
	sessions "lectern/shared/session/store"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// TestAnOrganizationFromBeforeTheItems answers as before, also while its items are written
// and others write.
func TestAnOrganizationFromBeforeTheItems(t *testing.T) {
	c := it.NewProgramme(t)
	there := c.InNewProgramme()
	store := withoutItems(c.People)
	for _, event := range []*it.Programme{c, there} {
		event.AddPeople("Ann", "Bob")
		for i := range 12 {
			event.AddSession(fmt.Sprint("S", i), nil, "Ann speaker", "Bob moderator")
		}
		event.Delete(200, event.Held["S3"].ID())
		forget(event.People, "Ann", "Bob")
	}
	ask := func(without ...string) {
		t.Helper()
		require.Equal(t, 22-len(without), len(anywhere(c, 200, c.ContactID("Ann")).List("sessions")))
		require.Equal(t, 11-len(without), len(titlesOf(c, "Ann")))
		require.Equal(t, 11, len(titlesOf(there, "Ann")))
		speaker(c, 200, c.ContactID("Ann"))
		speaker(c, 404, c.ContactID("Bob"))
		require.Len(t, it.RolesOf(there.GetParticipant(200, "Bob"))["moderator"], 11)
	}
	ask()
	c.RequireWhole()
	c.SetPeople("S0", "Bob moderator")
	ask("S0")

	writers := errgroup.Group{}
	done := atomic.Bool{}
	for i := range 3 {
		id := c.Held[fmt.Sprint("S", i+4)].ID()
		writers.Go(func() error {
			for n := 0; !done.Load(); n++ {
				c.Put(200, id, object{"participants": it.ParticipantsOf([]string{"Ann speaker", []string{"Bob speaker", "Bob moderator"}[n%2]})})
			}
			c.Put(200, id, object{"participants": it.ParticipantsOf([]string{"Ann speaker", "Bob moderator"})})
			return nil
		})
	}
	at, finished := sessions.Cursor{}, false
	for !finished {
		var err error
		at, finished, err = sessions.Backfill(t.Context(), store, c.Org, at)
		require.NoError(t, err)
	}
	done.Store(true)
	require.NoError(t, writers.Wait())
	require.Equal(t, true, c.Operator(t, "organization-show", object{"org_id": c.Org})["person_items"])
	ask("S0")
	require.Len(t, items(c.People, "Ann"), 11)
	there.Restore(200, there.Held["S3"].ID())
	require.Len(t, titlesOf(there, "Ann"), 12)
	c.RequireWhole()
}

// TestABackfillPassesOverARowWithoutABody, which a torn restore may leave.
func TestABackfillPassesOverARowWithoutABody(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	lost, kept := c.AddSession("Lost", nil, "Ann speaker"), c.AddSession("Kept", nil, "Ann speaker")
	forget(c.People, "Ann")
	body := table.Key{PK: fmt.Sprintf("%s#S#%s", table.Event(c.Org, c.Event), lost), SK: "B"}
	_, err := c.Table(t).Get(t.Context(), body)
	require.NoError(t, err)
	require.NoError(t, c.Table(t).Transact(t.Context(), table.Delete(body)))
	store := tenancy.Store{Table: c.Table(t), Region: "us", Now: time.Now}
	for at, done := (sessions.Cursor{}), false; !done; {
		at, done, err = sessions.Backfill(t.Context(), store, c.Org, at)
		require.NoError(t, err)
	}
	require.Contains(t, items(c.People, "Ann"), kept)
	require.NotContains(t, items(c.People, "Ann"), lost)
}

// forget deletes the items of people, as if they had never been written.
func forget(t *it.People, names ...string) {
	t.T.Helper()
	for _, name := range names {
		for id := range items(t, name) {
			of := person.Session{Org: t.Org, Event: t.Event, ID: id}
			require.NoError(t.T, t.Table(t.T).Transact(t.T.Context(), table.Delete(of.Key(t.IDs[name]))))
		}
	}
}

// withoutItems makes the organization one from before the items, and returns its store.
func withoutItems(t *it.People) tenancy.Store {
	t.T.Helper()
	store := tenancy.Store{Table: t.Table(t.T), Region: "us", Now: time.Now}
	_, err := tenancy.Organizations.Update(t.T.Context(), store, table.Org(t.Org), func(o *tenancy.Organization) error {
		o.PersonItems = false
		return nil
	})
	require.NoError(t.T, err)
	return store
}
