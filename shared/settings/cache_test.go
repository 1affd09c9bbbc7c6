package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/metering"
	"lectern/shared/programme"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// fixture is an organization with one event, and the caller who has just been
// authenticated.
type fixture struct {
	*testing.T
	table *table.Table
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sc := &fixture{t, tabletest.Start(t)}
	sc.put(item.Place{Org: 1}, 0)
	sc.put(item.Place{Org: 1, Event: 2}, 0)
	return sc
}

// put stores an owner with a settings version, or another one.
func (sc *fixture) put(at item.Place, version int64) {
	sc.Helper()
	owner := table.Item{Key: at.Owner(), Version: 1, Data: []byte("{}"), Settings: version}
	require.NoError(sc, sc.table.Transact(sc.Context(), table.Insert(owner)))
}

// caller reads what authentication reads.
func (sc *fixture) caller(event int64) *auth.Caller {
	sc.Helper()
	org, err := sc.table.Get(sc.Context(), item.Place{Org: 1}.Owner())
	require.NoError(sc, err)
	c := &auth.Caller{Org: tenancy.Organization{ID: 1, Settings: org.Settings}}
	if event != 0 {
		found, err := sc.table.Get(sc.Context(), item.Place{Org: 1, Event: event}.Owner())
		require.NoError(sc, err)
		c.Event = &programme.Event{ID: event, OrgID: 1, Settings: found.Settings}
	}
	return c
}

func (sc *fixture) track(name string) {
	sc.Helper()
	store := metadata.Store{Store: sc.store(), Caller: sc.caller(2), Kind: metadata.Tracks, Fields: field.NewSet()}
	_, err := store.Create(sc.Context(), metadata.TrackDraft{Draft: metadata.Draft{Name: wire.Some(name)}})
	require.NoError(sc, err)
}

func (sc *fixture) store() item.Store {
	return item.Store{Table: sc.table, Now: time.Now, NewID: uuid.NewString}
}

// calls is how many calls were made under a meter.
func calls(m *metering.Meter) int {
	n, _, _, _ := m.Totals() //nolint:dogsled // the other figures are of no interest here
	return n
}

// load gives the snapshot and how many calls it took.
func (sc *fixture) load(c *Cache, event int64) (*Snapshot, int) {
	sc.Helper()
	ctx, meter := metering.Measured(sc.Context())
	caller := sc.caller(event)
	s, err := c.Load(ctx, caller)
	require.NoError(sc, err)
	return s, calls(meter)
}

func TestSettingsComeFromMemoryUntilTheyChange(t *testing.T) {
	sc := newFixture(t)
	cache := NewCache(sc.table)
	cold, n := sc.load(cache, 2)
	require.Equal(t, 2, n)
	require.Empty(t, cold.Metadata[metadata.Tracks].List())
	require.Len(t, cold.Statuses.All(), 5)
	require.Len(t, cold.Roles.All(), 3)
	warm, n := sc.load(cache, 2)
	require.Zero(t, n)
	require.Same(t, cold, warm)

	sc.track("Design")
	changed, n := sc.load(cache, 2)
	require.Equal(t, 1, n, "the organization has not changed")
	require.Len(t, changed.Metadata[metadata.Tracks].List(), 1)
	require.Equal(t, Version{Event: table.Weight(changed.Metadata[metadata.Tracks].List()[0].ID)}, changed.Version)
	require.Empty(t, cold.Metadata[metadata.Tracks].List(), "a snapshot stays as it was")

	global := field.Draft{Name: "Badge", Type: field.Text, Module: field.Contact, Scope: field.ScopeGlobal}
	_, err := field.Store{Store: sc.store(), Caller: sc.caller(2)}.Create(t.Context(), global)
	require.NoError(t, err)
	for _, event := range []int64{0, 2} {
		s, _ := sc.load(cache, event)
		_, ok := s.Fields.Named(field.Contact, "org_badge")
		require.True(t, ok)
	}
}

func TestSettingsNotYetVisibleAreWaitedFor(t *testing.T) {
	sc := newFixture(t)
	sc.land(table.BumpSettings(item.Place{Org: 1, Event: 2}.Owner(), table.Weight("a")))
	cache, caller := NewCache(sc.table), sc.caller(2)
	sc.requireUnavailable(cache, caller)

	appeared := make(chan struct{})
	go func() {
		defer close(appeared)
		if err := sc.table.Transact(context.WithoutCancel(t.Context()), table.Put(stored("a", 1))); err != nil {
			t.Error(err)
		}
	}()
	require.Eventually(t, func() bool {
		s, err := cache.Load(t.Context(), caller)
		return err == nil && len(s.Metadata[metadata.Tracks].List()) == 1
	}, 5*time.Second, time.Millisecond)
	<-appeared
}

// stored is a track whose name is its version.
func stored(id string, version int64) table.Item {
	data, _ := json.Marshal(metadata.Entry{ID: id, Name: fmt.Sprint(version)})
	return table.Item{Key: item.Place{Org: 1, Event: 2}.Key(string(metadata.Tracks), id), Version: version, Data: data}
}

// land makes a part of a transaction visible.
func (sc *fixture) land(part table.Write) {
	sc.Helper()
	require.NoError(sc, sc.table.Transact(sc.Context(), part))
}

func (sc *fixture) requireUnavailable(c *Cache, caller *auth.Caller) {
	sc.Helper()
	_, err := c.Load(sc.Context(), caller)
	var refused *apierr.Error
	require.ErrorAs(sc, err, &refused)
	require.Equal(sc, http.StatusServiceUnavailable, refused.Status)
}

// TestASettingAheadDoesNotHideOneBehind has two changes become visible
// crosswise: the first shows the settings version and not yet its track, the
// second its track and not yet the settings version.
func TestASettingAheadDoesNotHideOneBehind(t *testing.T) {
	for _, ids := range [][2]string{{"a", "b"}, {"b", "a"}} {
		sc := newFixture(t)
		bump := func(id string) { sc.land(table.BumpSettings(item.Place{Org: 1, Event: 2}.Owner(), table.Weight(id))) }
		for _, id := range ids {
			sc.land(table.Put(stored(id, 1)))
			bump(id)
		}
		warm, cold := NewCache(sc.table), NewCache(sc.table)
		sc.load(warm, 2)

		bump(ids[0])
		sc.land(table.Put(stored(ids[1], 2)))
		sc.requireUnavailable(warm, sc.caller(2))
		sc.requireUnavailable(cold, sc.caller(2))
		sc.land(table.Put(stored(ids[0], 2))) // and the first is answered
		sc.requireUnavailable(warm, sc.caller(2))
		sc.requireUnavailable(cold, sc.caller(2))
		bump(ids[1])
		for _, cache := range []*Cache{warm, cold} {
			s, _ := sc.load(cache, 2)
			for _, track := range s.Metadata[metadata.Tracks].List() {
				require.Equal(t, "2", track.Name)
			}
		}
	}
}

func TestOneReadsForAll(t *testing.T) {
	sc := newFixture(t)
	cache, caller := NewCache(sc.table), sc.caller(2)
	ctx, meter := metering.Measured(t.Context())
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if _, err := cache.Load(ctx, caller); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 2, calls(meter))
}

func TestTheCacheIsBounded(t *testing.T) {
	sc := newFixture(t)
	cache := newCache(sc.table, 4*overhead)
	for event := int64(3); event < 20; event++ {
		sc.put(item.Place{Org: 1, Event: event}, 0)
		sc.load(cache, event)
		sc.load(cache, 2)
		_, n := sc.load(cache, 2)
		require.Zero(t, n, fmt.Sprint("what was used last stays, beside event ", event))
	}
	_, n := sc.load(cache, 3)
	require.Positive(t, n, "what was used long ago does not")
}

// TestARequestHoldsItsSnapshot whatever is written, read or forgotten meanwhile.
func TestARequestHoldsItsSnapshot(t *testing.T) {
	sc := newFixture(t)
	cache := newCache(sc.table, 1)
	ctx, meter := metering.Measured(OneSnapshot(t.Context()))
	caller := sc.caller(2)
	first, err := cache.Load(ctx, caller)
	require.NoError(t, err)
	sc.put(item.Place{Org: 1, Event: 3}, 0)
	sc.track("Design")
	sc.load(cache, 3)
	again, err := cache.Load(ctx, caller)
	require.NoError(t, err)
	require.Same(t, first, again)
	require.Equal(t, 2, calls(meter))
	now, _ := sc.load(cache, 2)
	require.Len(t, now.Metadata[metadata.Tracks].List(), 1)
}

// TestAnEventKeepsItsOrganizationsSettings in a cache that has no room for both.
func TestAnEventKeepsItsOrganizationsSettings(t *testing.T) {
	sc := newFixture(t)
	cache := newCache(sc.table, 1)
	sc.load(cache, 2)
	_, n := sc.load(cache, 2)
	require.Zero(t, n)
}

// TestAPurgeOfSettingsIsSeen: the version has fallen, so what is in memory is not newer.
func TestAPurgeOfSettingsIsSeen(t *testing.T) {
	sc := newFixture(t)
	cache := NewCache(sc.table)
	owner := item.Place{Org: 1, Event: 2}.Owner()
	sc.land(table.Put(stored("a", 1)))
	sc.land(table.BumpSettings(owner, table.Weight("a")))
	sc.load(cache, 2)
	require.NoError(t, sc.table.Transact(t.Context(), table.Remove(stored("a", 1).Key, 1), table.BumpSettings(owner, -table.Weight("a"))))
	s, _ := sc.load(cache, 2)
	require.Empty(t, s.Metadata[metadata.Tracks].List())
}

func TestUnknownKindsCountForTheVersion(t *testing.T) {
	sc := newFixture(t)
	key := item.Place{Org: 1, Event: 2}.Key("slot", "a")
	require.NoError(t, sc.table.Transact(t.Context(),
		table.Insert(table.Item{Key: key, Version: 3, Data: []byte("{}")}), table.BumpSettings(item.Place{Org: 1, Event: 2}.Owner(), 3*table.Weight("a"))))
	s, _ := sc.load(NewCache(sc.table), 2)
	require.Equal(t, 3*table.Weight("a"), s.Version.Event)
}

func TestACallerWhoLeavesDoesNotWaitForTheReader(t *testing.T) {
	c := NewCache(nil)
	at := item.Place{Org: 1}
	c.owner(at).lock <- struct{}{} // by another one
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.load(ctx, at, 1)
	require.ErrorIs(t, err, context.Canceled)
}
