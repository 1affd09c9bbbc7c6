package maintenance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/maintain"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// TestMaintainGoesOnWhereItWas: a call that has no time does one step, and the region's
// own progress begins once a day.
func TestMaintainGoesOnWhereItWas(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	d.Delete(200, d.NewSessions("A")[0])
	now := time.Now().AddDate(0, 0, 31)
	store := maintain.Store{Tenancy: tenancy.Store{Table: d.Table(t), Now: func() time.Time { return now }, Region: "us"}}
	first, err := store.Run(t.Context(), maintain.Input{})
	require.NoError(t, err)
	require.Equal(t, &maintain.Report{}, first, "a region that never was maintained begins an hour later")
	now = now.Add(time.Hour)
	sessions, calls := int64(0), 0
	for {
		calls++
		report, err := store.Run(t.Context(), maintain.Input{})
		require.NoError(t, err)
		require.Zero(t, report.Failed)
		sessions += report.Purged.Sessions
		if report.Cursor == nil {
			break
		}
	}
	require.Greater(t, calls, 6)
	require.EqualValues(t, 1, sessions)
	e.RequireWhole(t)
	d.Delete(200, d.NewSessions("B")[0])
	now = now.AddDate(0, 0, 31)
	store.Time = time.Minute
	for want := range []int64{1, 0} {
		report, err := store.Run(t.Context(), maintain.Input{})
		require.NoError(t, err)
		require.Nil(t, report.Cursor)
		require.EqualValues(t, 1-want, report.Organizations, "a day's work is done once")
	}
}

// TestUpgradeIsMaintained: a table of an earlier release gets all that today's writes.
func TestUpgradeIsMaintained(t *testing.T) {
	u := newUpgraded(t)
	u.Maintain(0)
	report := u.engine.RequireWhole(t)
	require.Positive(t, report.Kinds["hour of change records"])
	for item, err := range u.Table(t).Between(t.Context(), "R#org", "0", "~") {
		require.NoError(t, err)
		org, err := tenancy.Organizations.Get(t.Context(), tenancy.Store{Table: u.Table(t)}, "O#"+string(item.Data))
		require.NoError(t, err)
		require.True(t, org.PersonItems && org.RowsCounted && org.HourItems)
	}
	u.asked()
	hours := map[string]bool{}
	for _, l := range u.engine.Scan(t) {
		pk, _ := l["PK"].(string)
		if owner, hour, ok := strings.Cut(pk, "#H#"); ok && strings.Count(owner, "#") == 1 {
			hour, _, _ = strings.Cut(hour, "#")
			hours[owner+" "+hour] = true
		}
	}
	for at := range hours {
		owner, hour, _ := strings.Cut(at, " ")
		_, err := u.Table(t).Get(t.Context(), table.Key{PK: owner + "#H", SK: hour})
		require.NoError(t, err, at)
	}
	u.Maintain(365 * 10)
	u.engine.RequireWhole(t)
}

// TestMaintainLeavesOutWhatNoCallEnds: calls that are cut off within a step, as a Lambda is
// by its time, hold up what is behind the step for four calls: the first finds that it is cut
// off, and three try the step.
func TestMaintainLeavesOutWhatNoCallEnds(t *testing.T) {
	d, point := it.StartBehindGate(t)
	elsewhere := it.NewPeople(d).InNewEvent()
	elsewhere.Delete(200, elsewhere.NewSessions("A")[0])
	now := time.Now()
	store := maintain.Store{Tenancy: tenancy.Store{Table: d.Table(t), Now: func() time.Time { return now }, Region: "us"}, Time: time.Minute}
	_, err := store.Run(t.Context(), maintain.Input{})
	require.NoError(t, err)
	now = now.AddDate(0, 0, 31)
	for call := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		queried := func(keys string) {
			if strings.Contains(keys, fmt.Sprintf("#E#%d#RS ", d.Event)) {
				cancel()
			}
		}
		point.Queried.Store(&queried)
		report, err := store.Run(ctx, maintain.Input{})
		cancel()
		if call < 4 {
			require.ErrorIs(t, err, context.Canceled)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, report.Failed)
		require.EqualValues(t, 1, report.Purged.Sessions)
		require.Nil(t, report.Cursor)
	}
}

// TestMaintainByTheOperatorsFunction: as the schedule invokes it, and from the beginning.
func TestMaintainByTheOperatorsFunction(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	require.EqualValues(t, 0, d.Operator(t, "maintain", object{})["organizations"])
	var done map[string]any
	cursor := any(object{})
	for cursor != nil {
		done = d.Operator(t, "maintain", object{"cursor": cursor})
		require.EqualValues(t, 0, done["failed"])
		cursor = done["cursor"]
	}
	require.Positive(t, done["organizations"])
}
