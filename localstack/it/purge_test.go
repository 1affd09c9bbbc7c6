package it_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/functions/operator"
	"lectern/shared/maintain"
	"lectern/shared/purge"
	"lectern/shared/table"
)

// maintain does the command as it will be done so many days from now, until it is done,
// and returns what was purged.
func (d *desk) maintain(days int) (purged purge.Counts) {
	d.t.Helper()
	env := d.Env(d.t)
	env.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
	for in := object(nil); ; {
		if in == nil {
			in = object{"cursor": object{}}
		}
		done, err := operator.New(env).Do(d.t.Context(), operator.Maintain, encoded(d.t, in))
		require.NoError(d.t, err)
		report, ok := done.(*maintain.Report)
		require.True(d.t, ok)
		require.Zero(d.t, report.Failed)
		purged = sumOf(purged, report.Purged)
		if report.Cursor == nil {
			return purged
		}
		in = object{"cursor": report.Cursor}
	}
}

func encoded(t *testing.T, value any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

func sumOf(a, b purge.Counts) purge.Counts {
	return purge.Counts{
		Sessions: a.Sessions + b.Sessions, Contacts: a.Contacts + b.Contacts, Accounts: a.Accounts + b.Accounts,
		Settings: a.Settings + b.Settings, Shrunk: a.Shrunk + b.Shrunk, Records: a.Records + b.Records,
	}
}

// items counts the items of the table that belong to what the API keeps: no change
// records, nor versions of shards, nor what has a time to live.
func (e engine) items(t *testing.T) (n int) {
	t.Helper()
	for _, l := range e.scan(t) {
		pk, _ := l["PK"].(string)
		if _, passes := l["ttl"]; !passes && !strings.Contains(pk, "#H") && !strings.HasSuffix(pk, "#V") && !strings.HasPrefix(pk, "R#") {
			n++
		}
	}
	return n
}

// TestWhatWasDeletedIsPurgedAfterThirtyDays and answers as what never was, also of
// instances that have it in memory; what is not deleted, or not for so long, stays.
func TestWhatWasDeletedIsPurgedAfterThirtyDays(t *testing.T) {
	c := newCrowd(t, "sessions_2_0", "participant_roles")
	c.meet("Ann", "Bob", "Cid")
	role, unused := c.custom("Pilot", "speaker"), c.custom("Nobody", "speaker")
	a := c.hold("A", nil, "Ann speaker", "Bob moderator")
	kept := c.hold("Kept", nil, "Bob speaker", "Cid pilot")
	parent := c.hold("Parent", nil)
	sub := c.sub(parent, "Part").id()
	tag, track := c.entry("tags", "Old").id(), c.entry("tracks", "Track").id()
	status := c.entry("statuses", "Waiting", object{"status": "pending"}).id()
	field := c.define(200, object{"name": "Level"}).id()
	company := c.send(200, http.MethodPost, "/sponsors/create", object{"name": "Acme"}).id()
	c.put(200, kept, object{"sponsor_ids": []string{company}, "track_id": track})
	c.remove(200, a)
	c.remove(200, sub)
	c.remove(200, parent)
	for kind, id := range map[string]string{"tags": tag, "tracks": track, "statuses": status, "fields": field, "sponsors": company} {
		c.drop(kind, id)
	}
	c.done("participant-role-delete", object{"role_id": role})
	c.done("participant-role-delete", object{"role_id": unused})
	c.fire("contacts", "Ann")
	c.fire("contacts", "Bob")
	other := c.seenBy(&desk{c.Instance(t), t})
	before := c.get(200, kept)
	ask := func(d *crowd, sessions int) {
		t.Helper()
		require.Equal(t, before["participants"], d.get(200, kept)["participants"])
		require.Len(t, d.search(object{}).Results, 1)
		require.Len(t, d.statuses(object{}).Results, sessions)
		require.Len(t, d.everyone("/contacts", object{}), 1)
		require.Empty(t, d.everyone("/sponsors", object{}))
		require.Empty(t, d.array("/tags"))
		require.Empty(t, d.settings("/fields", object{"filters": object{"source": "custom"}}).Results)
	}
	ask(c, 4)
	ask(other, 4)
	require.Equal(t, purge.Counts{}, c.maintain(29))
	ask(other, 4)
	c.restore(200, a)
	c.remove(200, a)
	c.revive("statuses", status)
	c.drop("statuses", status)

	require.Equal(t, purge.Counts{Sessions: 3, Contacts: 2, Accounts: 1, Settings: 5}, c.maintain(31), "one role is still needed")
	c.whole()
	ask(c, 1)
	ask(other, 1)
	for _, d := range []*crowd{c, other} {
		for _, id := range []string{a, sub, parent} {
			d.get(404, id)
			d.put(404, id, object{"title": "x"})
			d.remove(404, id)
			d.restore(404, id)
		}
		for path, id := range map[string]string{"contacts": c.ids["Ann"], "sponsors": company, "statuses": status} {
			d.send(404, http.MethodPost, "/"+path+"/"+id+"/restore", nil)
			d.send(404, http.MethodPut, "/"+path+"/"+id, object{"name": "x"})
		}
		d.send(404, http.MethodDelete, "/tags/"+tag, nil)
		d.sessionsOf(404, c.ids["Bob"])
	}
	require.Equal(t, purge.Counts{}, c.maintain(31), "all is done")
	c.put(200, kept, object{"title": "Again"})
	c.meet("Ann")
	c.define(200, object{"name": "Level"})
	c.hold("New", nil, "Ann speaker")
	require.Len(t, other.search(object{}).Results, 2)
	c.whole()
}

// TestARestoreThatComesFirstWins: of restores and purges at one time each session is
// either there for good or gone for good.
func TestARestoreThatComesFirstWins(t *testing.T) {
	d := newDesk(t)
	titles := make([]string, 60)
	for i := range titles {
		titles[i] = fmt.Sprint("S", i)
	}
	ids := d.titled(titles...)
	people := make([]string, 20)
	for i := range people {
		people[i] = d.person(fmt.Sprintf("p%d@example.org", i)).id()
		d.drop("contacts", people[i])
	}
	for _, id := range ids {
		d.remove(200, id)
	}
	var there, gone atomic.Int64
	var g errgroup.Group
	restore := func(path string, after time.Duration) func() error {
		return func() error {
			time.Sleep(after) // So that some come too late.
			answer, err := d.Send(t, http.MethodPost, d.EventPath(path+"/restore"), nil)
			if err != nil {
				return err
			}
			switch answer.Status {
			case 200:
				there.Add(1)
			case 404:
				gone.Add(1)
			default:
				return fmt.Errorf("%s answers %d", path, answer.Status)
			}
			return nil
		}
	}
	g.Go(func() error { d.maintain(31); return nil })
	other := &desk{d.Instance(t), t}
	for _, reader := range []*desk{d, other} {
		g.Go(func() error {
			for range 15 {
				answer, err := reader.Send(t, http.MethodPost, d.EventPath("/sessions/status?pageSize=100"), object{})
				if err != nil || answer.Status != 200 {
					return fmt.Errorf("a search answers %d: %w", answer.Status, err)
				}
			}
			return nil
		})
	}
	for i, id := range ids {
		g.Go(restore("/sessions/"+id, time.Duration(i)*3*time.Millisecond))
		if i < len(people) {
			g.Go(restore("/contacts/"+people[i], time.Duration(i)*15*time.Millisecond))
		}
	}
	require.NoError(t, g.Wait())
	require.EqualValues(t, len(ids)+len(people), there.Load()+gone.Load())
	d.maintain(31)
	require.EqualValues(t, there.Load(), d.search(object{}).Pagination.TotalResults+len(d.everyone("/contacts", object{})))
	require.EqualValues(t, there.Load(), other.search(object{}).Pagination.TotalResults+len(other.everyone("/contacts", object{})))
	require.Equal(t, d.search(object{}).Pagination.TotalResults, other.statuses(object{}).Pagination.TotalResults)
	t.Log(there.Load(), "came first and", gone.Load(), "came too late")
	(&troupe{desk: d}).whole()
}

// TestPurgesLeaveNoGrowth: an integration that deletes and creates again leaves the table
// as large as it was, but for the change records.
func TestPurgesLeaveNoGrowth(t *testing.T) {
	s, e := startOpen(t, nil)
	d := &desk{s, t}
	round := func() {
		for range 2 {
			var creates, deletes []object
			for i := range 100 {
				creates = append(creates, creating(object{"title": fmt.Sprint("S", i)}))
			}
			for _, id := range texts(d.bulk(creates...).Results, "id") {
				deletes = append(deletes, deleting(id))
			}
			require.Equal(t, 100, d.bulk(deletes...).Stats.Succeeded)
		}
		d.drop("tags", d.entry("tags", "Nightly").id())
		d.drop("contacts", d.person("nightly@example.org").id())
		require.Equal(t, purge.Counts{Sessions: 200, Contacts: 1, Settings: 1}, d.maintain(31))
		e.whole(t)
	}
	round()
	before := e.items(t)
	round()
	require.Equal(t, before, e.items(t))
}

// TestAPurgeOfMorePeopleThanATransactionHolds, and of a person on many events, leaves nothing.
func TestAPurgeOfMorePeopleThanATransactionHolds(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	id := c.create(200, object{"title": "Crowded", "participants": c.speakers(100)}).id()
	c.meet("Ann")
	for range 3 {
		there := c.elsewhere()
		person := there.send(200, http.MethodPost, "/contacts/create", object{"email": emailOf("Ann")}).id()
		require.Equal(t, c.ids["Ann"], person)
		there.drop("contacts", person)
	}
	c.remove(200, id)
	require.Equal(t, purge.Counts{Sessions: 1}, c.maintain(31), "Ann is on one event")
	c.fire("contacts", "Ann")
	require.Equal(t, purge.Counts{Contacts: 1}, c.maintain(31))
	c.whole()
	for item, err := range c.Table(t).Between(t.Context(), table.Org(c.Org)+"#C#"+c.ids["Ann"], "A", "~") {
		require.NoError(t, err)
		require.Empty(t, item.SK)
	}
}

var errTorn = errors.New("torn")

// TestAPurgeThatIsTornGoesOn: after whichever of its transactions it ends, the table is
// whole, and the next purge goes on.
func TestAPurgeThatIsTornGoesOn(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	id := c.create(200, object{"title": "Crowded", "participants": c.speakers(90)}).id()
	sub := c.sub(id, "Part").id()
	c.meet("Ann", "Bob")
	tag := c.entry("tags", "Old").id()
	c.remove(200, sub)
	c.remove(200, id)
	c.drop("tags", tag)
	c.fire("contacts", "Ann")
	there := c.elsewhere()
	c.send(200, http.MethodPut, "/contacts/"+c.ids["Bob"], object{"title": "Dr"})
	there.send(200, http.MethodPost, "/contacts/create", object{"email": emailOf("Bob")})
	there.drop("contacts", c.ids["Bob"])
	c.fire("contacts", "Bob")
	for n := int64(1); ; n++ {
		counts := &purge.Counts{}
		torn := purge.Store{
			Table: c.Table(t), Now: func() time.Time { return time.Now().AddDate(0, 0, 31) }, Until: time.Now().Add(time.Minute), Counts: counts,
		}
		var left atomic.Int64
		left.Store(n)
		ctx := table.Gated(t.Context(), func() error {
			if left.Add(-1) < 0 {
				return errTorn
			}
			return nil
		})
		var err error
		for _, part := range []func(context.Context, int64, int64) error{torn.Sessions, torn.Contacts, torn.Accounts, torn.Settings} {
			if err == nil {
				err = part(ctx, c.Org, c.Event)
			}
		}
		c.whole()
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errTorn)
		require.Less(t, n, int64(40))
	}
	require.Equal(t, purge.Counts{}, c.maintain(31), "all is done")
	c.get(404, id)
}
