package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/localstack/test/it"
	"lectern/shared/purge"
	"lectern/shared/table"
	"lectern/shared/transcript"
)

// items counts the items of the table that belong to what the API keeps: no change
// records, nor versions of shards, nor what has a time to live.
func items(e it.Engine, t *testing.T) (n int) {
	t.Helper()
	for _, l := range e.Scan(t) {
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
	c := it.NewProgramme(t, "sessions_2_0", "participant_roles")
	c.AddPeople("Ann", "Bob", "Cid")
	role, unused := c.NewRole("Pilot", "speaker").ID(), c.NewRole("Nobody", "speaker").ID()
	a := c.AddSession("A", nil, "Ann speaker", "Bob moderator")
	kept := c.AddSession("Kept", nil, "Bob speaker", "Cid pilot")
	parent := c.AddSession("Parent", nil)
	sub := c.NewSubsession(parent, "Part").ID()
	tag, track := c.NewEntry("tags", "Old").ID(), c.NewEntry("tracks", "Track").ID()
	status := c.NewEntry("statuses", "Waiting", object{"status": "pending"}).ID()
	field := c.DefineField(200, object{"name": "Level"}).ID()
	company := c.Do(200, http.MethodPost, "/sponsors/create", object{"name": "Acme"}).ID()
	c.Put(200, kept, object{"sponsor_ids": []string{company}, "track_id": track})
	c.Delete(200, a)
	c.Delete(200, sub)
	c.Delete(200, parent)
	for kind, id := range map[string]string{"tags": tag, "tracks": track, "statuses": status, "fields": field, "sponsors": company} {
		c.DeleteRecord(kind, id)
	}
	c.Command("participant-role-delete", object{"role_id": role})
	c.Command("participant-role-delete", object{"role_id": unused})
	c.DeletePerson("contacts", "Ann")
	c.DeletePerson("contacts", "Bob")
	other := c.SeenBy(&it.Client{Stack: c.Instance(t), T: t})
	before := c.Get(200, kept)
	ask := func(d *it.Programme, sessions int) {
		t.Helper()
		require.Equal(t, before["participants"], d.Get(200, kept)["participants"])
		require.Len(t, d.Search(object{}).Results, 1)
		require.Len(t, d.SearchStatuses(object{}).Results, sessions)
		require.Len(t, d.SearchAllPages("/contacts", object{}), 1)
		require.Empty(t, d.SearchAllPages("/sponsors", object{}))
		require.Empty(t, d.ListSettings("/tags"))
		require.Empty(t, d.SearchSettings("/fields", object{"filters": object{"source": "custom"}}).Results)
	}
	ask(c, 4)
	ask(other, 4)
	require.Equal(t, purge.Counts{}, c.Maintain(29))
	ask(other, 4)
	c.Restore(200, a)
	c.Delete(200, a)
	c.RestoreRecord("statuses", status)
	c.DeleteRecord("statuses", status)

	require.Equal(t, purge.Counts{Sessions: 3, Contacts: 2, Accounts: 1, Settings: 5}, c.Maintain(31), "one role is still needed")
	c.RequireWhole()
	ask(c, 1)
	ask(other, 1)
	for _, d := range []*it.Programme{c, other} {
		for _, id := range []string{a, sub, parent} {
			d.Get(404, id)
			d.Put(404, id, object{"title": "x"})
			d.Delete(404, id)
			d.Restore(404, id)
		}
		for path, id := range map[string]string{"contacts": c.IDs["Ann"], "sponsors": company, "statuses": status} {
			d.Do(404, http.MethodPost, "/"+path+"/"+id+"/restore", nil)
			d.Do(404, http.MethodPut, "/"+path+"/"+id, object{"name": "x"})
		}
		d.Do(404, http.MethodDelete, "/tags/"+tag, nil)
		d.SessionsOf(404, c.IDs["Bob"])
	}
	require.Equal(t, purge.Counts{}, c.Maintain(31), "all is done")
	c.Put(200, kept, object{"title": "Again"})
	c.AddPeople("Ann")
	c.DefineField(200, object{"name": "Level"})
	c.AddSession("New", nil, "Ann speaker")
	require.Len(t, other.Search(object{}).Results, 2)
	c.RequireWhole()
}

// TestARestoreThatComesFirstWins: of restores and purges at one time each session is
// either there for good or gone for good.
func TestARestoreThatComesFirstWins(t *testing.T) {
	d := it.NewClient(t)
	titles := make([]string, 60)
	for i := range titles {
		titles[i] = fmt.Sprint("S", i)
	}
	ids := d.NewSessions(titles...)
	people := make([]string, 20)
	for i := range people {
		people[i] = d.NewContact(fmt.Sprintf("p%d@example.org", i)).ID()
		d.DeleteRecord("contacts", people[i])
	}
	for _, id := range ids {
		d.Delete(200, id)
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
	g.Go(func() error { d.Maintain(31); return nil })
	other := &it.Client{Stack: d.Instance(t), T: t}
	for _, reader := range []*it.Client{d, other} {
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
	d.Maintain(31)
	require.EqualValues(t, there.Load(), d.Search(object{}).Pagination.TotalResults+len(d.SearchAllPages("/contacts", object{})))
	require.EqualValues(t, there.Load(), other.Search(object{}).Pagination.TotalResults+len(other.SearchAllPages("/contacts", object{})))
	require.Equal(t, d.Search(object{}).Pagination.TotalResults, other.SearchStatuses(object{}).Pagination.TotalResults)
	t.Log(there.Load(), "came first and", gone.Load(), "came too late")
	(&it.People{Client: d}).RequireWhole()
}

// TestPurgesLeaveNoGrowth: an integration that deletes and creates again leaves the table
// as large as it was, but for the change records.
func TestPurgesLeaveNoGrowth(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	round := func() {
		for range 2 {
			var creates, deletes []object
			for i := range 100 {
				creates = append(creates, it.Creating(object{"title": fmt.Sprint("S", i)}))
			}
			for _, id := range it.Texts(d.Bulk(creates...).Results, "id") {
				deletes = append(deletes, it.Deleting(id))
			}
			require.Equal(t, 100, d.Bulk(deletes...).Stats.Succeeded)
		}
		d.DeleteRecord("tags", d.NewEntry("tags", "Nightly").ID())
		d.DeleteRecord("contacts", d.NewContact("nightly@example.org").ID())
		require.Equal(t, purge.Counts{Sessions: 200, Contacts: 1, Settings: 1}, d.Maintain(31))
		e.RequireWhole(t)
	}
	round()
	before := items(e, t)
	round()
	require.Equal(t, before, items(e, t))
}

// TestAPurgeOfMorePeopleThanATransactionHolds, and of a person on many events, leaves nothing.
func TestAPurgeOfMorePeopleThanATransactionHolds(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	id := c.Create(200, object{"title": "Crowded", "participants": c.AddSpeakers(100)}).ID()
	c.AddPeople("Ann")
	for range 3 {
		there := c.InNewEvent()
		person := there.Do(200, http.MethodPost, "/contacts/create", object{"email": it.EmailOf("Ann")}).ID()
		require.Equal(t, c.IDs["Ann"], person)
		there.DeleteRecord("contacts", person)
	}
	c.Delete(200, id)
	require.Equal(t, purge.Counts{Sessions: 1}, c.Maintain(31), "Ann is on one event")
	c.DeletePerson("contacts", "Ann")
	require.Equal(t, purge.Counts{Contacts: 1}, c.Maintain(31))
	c.RequireWhole()
	for item, err := range c.Table(t).Between(t.Context(), table.Org(c.Org)+"#C#"+c.IDs["Ann"], "A", "~") {
		require.NoError(t, err)
		require.Empty(t, item.SK)
	}
}

// TestADamagedCopyIsPurgedWithItsPerson: nobody needs to read the copy of a change to delete it.
func TestADamagedCopyIsPurgedWithItsPerson(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann")
	partition := table.Org(c.Org) + "#C#" + c.IDs["Ann"]
	c.Do(200, http.MethodPut, "/contacts/"+c.IDs["Ann"], object{"job_title": "Pilot"})
	copies := 0
	for item, err := range c.Table(t).Between(t.Context(), partition, "H#", "H#~") {
		require.NoError(t, err)
		it.EngineOf(t, c.Stack).PutBroken(t, table.Item{Key: item.Key})
		copies++
	}
	require.Positive(t, copies)
	c.DeletePerson("contacts", "Ann")
	require.Equal(t, purge.Counts{Contacts: 1}, c.Maintain(31))
	for key := range it.EngineOf(t, c.Stack).Dump(t) {
		require.NotEqual(t, partition, key.PK, key.SK)
	}
}

var errTorn = errors.New("torn")

// TestAPurgeThatIsTornGoesOn: after whichever of its transactions it ends, the table is
// whole, and the next purge goes on.
func TestAPurgeThatIsTornGoesOn(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	id := c.Create(200, object{"title": "Crowded", "participants": c.AddSpeakers(90)}).ID()
	sub := c.NewSubsession(id, "Part").ID()
	c.AddPeople("Ann", "Bob")
	tag := c.NewEntry("tags", "Old").ID()
	c.Delete(200, sub)
	c.Delete(200, id)
	c.DeleteRecord("tags", tag)
	c.DeletePerson("contacts", "Ann")
	there := c.InNewEvent()
	c.Do(200, http.MethodPut, "/contacts/"+c.IDs["Bob"], object{"title": "Dr"})
	there.Do(200, http.MethodPost, "/contacts/create", object{"email": it.EmailOf("Bob")})
	there.DeleteRecord("contacts", c.IDs["Bob"])
	c.DeletePerson("contacts", "Bob")
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
		c.RequireWhole()
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errTorn)
		require.Less(t, n, int64(40))
	}
	require.Equal(t, purge.Counts{}, c.Maintain(31), "all is done")
	c.Get(404, id)
}

// TestTranscriptionsArePurgedWithTheirSession: the purge of a session removes its
// transcriptions, and goes on where an earlier purge ended.
func TestTranscriptionsArePurgedWithTheirSession(t *testing.T) {
	d := it.NewClient(t)
	e := it.EngineOf(t, d.Stack)
	ids := d.NewSessions("Gone", "Interrupted", "Kept")
	before := items(e, t)
	for _, id := range ids {
		for i := range 3 {
			d.Do(201, http.MethodPost, "/sessions/"+id+"/transcriptions", object{"type": "fragment", "start_time": i})
		}
	}
	require.Equal(t, before+3*5, items(e, t), "an index, a segment and a place for each")
	d.Delete(200, ids[0])
	d.Delete(200, ids[1])
	d.Maintain(29)
	d.Restore(200, ids[0])
	require.EqualValues(t, 3, d.Do(200, http.MethodGet, "/transcriptions?session_id="+ids[0], nil).At("pagination.total_results"))
	d.Delete(200, ids[0])
	index := transcript.At(d.Org, d.Event).Index(ids[1])
	kept, err := d.Table(t).Get(t.Context(), index)
	require.NoError(t, err)
	require.Equal(t, int64(2), d.Maintain(31).Sessions)
	require.Equal(t, before-2*2+5, items(e, t), "a body and a row for each session")
	e.RequireWhole(t)
	kept.Version = 1
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Insert(kept)))
	require.Zero(t, d.Maintain(31).Sessions)
	require.Equal(t, before-2*2+5, items(e, t))
	require.EqualValues(t, 3, d.Do(200, http.MethodGet, "/transcriptions", nil).At("pagination.total_results"))
	e.RequireWhole(t)
}

// TestALostRowLosesNoTranscriptions: a session without its row still has a body.
func TestALostRowLosesNoTranscriptions(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("Keynote")[0]
	d.Do(201, http.MethodPost, "/sessions/"+id+"/transcriptions", object{"type": "summary", "transcription": "Kept."})
	it.LoseRow(t, d.Stack, id)
	require.Equal(t, purge.Counts{}, d.Maintain(31))
	kept := d.Do(200, http.MethodGet, "/sessions/"+id+"/transcriptions", nil)
	require.EqualValues(t, 1, kept.At("pagination.total_results"))
}
