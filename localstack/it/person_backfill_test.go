package it_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// TestAnOrganizationFromBeforeTheItems answers as before, also while its items are written
// and others write.
func TestAnOrganizationFromBeforeTheItems(t *testing.T) {
	c := newCrowd(t)
	there := c.there()
	store := c.withoutItems()
	for _, event := range []*crowd{c, there} {
		event.meet("Ann", "Bob")
		for i := range 12 {
			event.hold(fmt.Sprint("S", i), nil, "Ann speaker", "Bob moderator")
		}
		event.remove(200, event.held["S3"].id())
		event.forget("Ann", "Bob")
	}
	ask := func(without ...string) {
		t.Helper()
		require.Equal(t, 22-len(without), len(c.anywhere(200, c.id("Ann")).list("sessions")))
		require.Equal(t, 11-len(without), len(c.titlesOf("Ann")))
		require.Equal(t, 11, len(there.titlesOf("Ann")))
		c.speaker(200, c.id("Ann"))
		c.speaker(404, c.id("Bob"))
		require.Len(t, rolesOf(there.participant(200, "Bob"))["moderator"], 11)
	}
	ask()
	c.whole()
	c.recast("S0", "Bob moderator")
	ask("S0")

	writers := errgroup.Group{}
	done := atomic.Bool{}
	for i := range 3 {
		id := c.held[fmt.Sprint("S", i+4)].id()
		writers.Go(func() error {
			for n := 0; !done.Load(); n++ {
				c.put(200, id, object{"participants": places([]string{"Ann speaker", []string{"Bob speaker", "Bob moderator"}[n%2]})})
			}
			c.put(200, id, object{"participants": places([]string{"Ann speaker", "Bob moderator"})})
			return nil
		})
	}
	at, finished := session.Cursor{}, false
	for !finished {
		var err error
		at, finished, err = session.Backfill(t.Context(), store, c.Org, at)
		require.NoError(t, err)
	}
	done.Store(true)
	require.NoError(t, writers.Wait())
	require.Equal(t, true, c.Operator(t, "organization-show", object{"org_id": c.Org})["person_items"])
	ask("S0")
	require.Len(t, c.items("Ann"), 11)
	there.restore(200, there.held["S3"].id())
	require.Len(t, there.titlesOf("Ann"), 12)
	c.whole()
}

// TestABackfillPassesOverARowWithoutABody, which a torn restore may leave.
func TestABackfillPassesOverARowWithoutABody(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann")
	lost, kept := c.hold("Lost", nil, "Ann speaker"), c.hold("Kept", nil, "Ann speaker")
	c.forget("Ann")
	body := table.Key{PK: fmt.Sprintf("%s#S#%s", table.Event(c.Org, c.Event), lost), SK: "B"}
	_, err := c.Table(t).Get(t.Context(), body)
	require.NoError(t, err)
	require.NoError(t, c.Table(t).Transact(t.Context(), table.Delete(body)))
	store := tenancy.Store{Table: c.Table(t), Region: "us", Now: time.Now}
	for at, done := (session.Cursor{}), false; !done; {
		at, done, err = session.Backfill(t.Context(), store, c.Org, at)
		require.NoError(t, err)
	}
	require.Contains(t, c.items("Ann"), kept)
	require.NotContains(t, c.items("Ann"), lost)
}

// forget deletes the items of people, as if they had never been written.
func (t *troupe) forget(names ...string) {
	t.t.Helper()
	for _, name := range names {
		for id := range t.items(name) {
			of := person.Session{Org: t.Org, Event: t.Event, ID: id}
			require.NoError(t.t, t.Table(t.t).Transact(t.t.Context(), table.Delete(of.Key(t.ids[name]))))
		}
	}
}

// withoutItems makes the organization one from before the items, and returns its store.
func (t *troupe) withoutItems() tenancy.Store {
	t.t.Helper()
	store := tenancy.Store{Table: t.Table(t.t), Region: "us", Now: time.Now}
	_, err := tenancy.Organizations.Update(t.t.Context(), store, table.Org(t.Org), func(o *tenancy.Organization) error {
		o.PersonItems = false
		return nil
	})
	require.NoError(t.t, err)
	return store
}
