package maintenance_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/repair"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/write"
)

// TestShardRepairMendsNumbersOfRecords: how many records there are, what records add to others, and running numbers.
func TestShardRepairMendsNumbersOfRecords(t *testing.T) {
	d, e, of, _ := repairOfAwards(t, 1)
	sums, count, serial := firstIn(e, t, of.Partition(), "S#"), of.CountKey("award_submission"), firstIn(e, t, table.Org(d.Org)+"#F", "C#")
	right, err := d.Table(t).Get(t.Context(), sums)
	require.NoError(t, err)
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Put(table.Item{Key: sums, Version: 7, Data: []byte(`{"submissions":4,"x":1}`)})))
	remove(e, t, count)
	remove(e, t, serial)
	in := object{"org_id": d.Org, "family": "record"}
	require.Empty(t, d.Operator(t, "shard-repair", it.Merged(in, object{"ids": []string{uuid.NewString()}}))["mended"], "another program")
	require.Len(t, d.Operator(t, "shard-repair", it.Merged(in, object{"dry_run": true}))["mended"], 3)
	run := func(left time.Duration) *repair.Report {
		ctx, cancel := context.WithTimeout(t.Context(), write.LastStep+left)
		defer cancel()
		of := repair.Store{Table: d.Table(t), Now: time.Now, Settle: 3 * time.Second}
		done, err := of.Run(ctx, repair.Input{OrgID: d.Org, Family: repair.Records})
		require.NoError(t, err)
		return done
	}
	none := run(-time.Second)
	require.Equal(t, []any{0, 0, 2}, []any{len(none.Rest), len(none.Mended), len(none.Unmended)}, "the organization and its event")
	late := run(time.Second)
	require.Equal(t, []string{of.Parent}, late.Rest)
	require.Len(t, late.Mended, 1, "the running number, up to the submissions that were read")
	done := d.Operator(t, "shard-repair", it.Merged(in, object{"ids": late.Rest}))
	require.Len(t, done["mended"], 2)
	require.Empty(t, done["unmended"])
	e.RequireWhole(t)
	mended, err := d.Table(t).Get(t.Context(), sums)
	require.NoError(t, err)
	require.JSONEq(t, string(right.Data), string(mended.Data))
	require.Empty(t, d.Operator(t, "shard-repair", object{"org_id": d.Org})["mended"])
}

// repairOfAwards returns a client of a service that has an award program with some submissions, and the owner of these.
func repairOfAwards(t *testing.T, n int) (d *it.Client, e it.Engine, of resource.Owner, submissions []string) {
	t.Helper()
	s, e := it.StartWithEngine(t, nil)
	d = &it.Client{Stack: s, T: t}
	programs := fmt.Sprintf("/v1/organization/%d/awards/programs", d.Org)
	of = resource.Owner{Org: d.Org}
	of.Parent = it.Entity(d.Call(t, 200, http.MethodPost, programs, object{"name": "Best", "status": "open"}).JSON(t)).ID()
	for range n {
		send := object{"org_id": d.Org, "program_id": of.Parent, "submitter": object{"name": "Ada", "email": "ada@example.org"}}
		submissions = append(submissions, it.Entity(d.Operator(t, "award-submit", send)).ID())
	}
	return d, e, of, submissions
}

// pathOf returns the path of the award program of an owner.
func pathOf(of resource.Owner) string {
	return fmt.Sprintf("/v1/organization/%d/awards/programs/%s", of.Org, of.Parent)
}

// given returns the last running number of the submissions of an organization.
func given(t *testing.T, d *it.Client, e it.Engine) string {
	t.Helper()
	counter, err := d.Table(t).Get(t.Context(), firstIn(e, t, table.Org(d.Org)+"#F", "C#"))
	require.NoError(t, err)
	return string(counter.Data)
}

// damage makes an item unreadable, and returns what it was.
func damage(t *testing.T, d *it.Client, key table.Key) table.Item {
	t.Helper()
	stored, err := d.Table(t).Get(t.Context(), key)
	require.NoError(t, err)
	damaged := stored
	damaged.Data = []byte("{")
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Put(damaged)))
	return stored
}

// TestARunningNumberBesideADamagedRecord is raised to the highest that can be read. The report says that it may be too low
// still.
func TestARunningNumberBesideADamagedRecord(t *testing.T) {
	for unread := range 2 {
		d, e, of, submissions := repairOfAwards(t, 2)
		remove(e, t, firstIn(e, t, table.Org(d.Org)+"#F", "C#"))
		stored := damage(t, d, of.Key("award_submission", submissions[unread]))
		done := d.Operator(t, "shard-repair", object{"org_id": d.Org, "family": "record"})
		require.Contains(t, fmt.Sprint(done["mended"]), "the running number was below")
		require.Contains(t, fmt.Sprint(done["unmended"]), "repair again before the next running number")
		require.Equal(t, fmt.Sprint(2-unread), given(t, d, e))
		require.NoError(t, d.Table(t).Transact(t.Context(), table.Put(stored)))
		done = d.Operator(t, "shard-repair", object{"org_id": d.Org, "family": "record"})
		require.Len(t, done["mended"], unread)
		require.Empty(t, done["unmended"])
		e.RequireWhole(t)
		require.Equal(t, "2", given(t, d, e))
	}
}

// TestADamagedDeletedRecordIsPassedOver by the repair of the numbers of the others.
func TestADamagedDeletedRecordIsPassedOver(t *testing.T) {
	d, e, of, submissions := repairOfAwards(t, 2)
	top := resource.Owner{Org: d.Org}
	d.Call(t, 200, http.MethodDelete, pathOf(of)+"/submissions/"+submissions[0], nil)
	damage(t, d, top.DeletedKey("award_submission", submissions[0]))
	remove(e, t, top.CountKey("award_program"))
	done := d.Operator(t, "shard-repair", object{"org_id": d.Org, "family": "record"})
	require.Contains(t, fmt.Sprint(done["unmended"]), submissions[0]+" what:the record cannot be read")
	require.Len(t, done["mended"], 1)
	require.Contains(t, fmt.Sprint(done["mended"]), top.CountKey("award_program").SK)
}

// TestARunningNumberOfADeletedProgram is read from its submissions, also while a purge takes them away. The other numbers
// of the program are left alone then.
func TestARunningNumberOfADeletedProgram(t *testing.T) {
	d, e, of, _ := repairOfAwards(t, 2)
	d.Call(t, 200, http.MethodDelete, pathOf(of)+"?force=true", nil)
	remove(e, t, firstIn(e, t, table.Org(d.Org)+"#F", "C#"))
	remove(e, t, of.CountKey("award_submission"))
	later := func() time.Time { return time.Now().Add(resource.Keep) }
	done, err := repair.Store{Table: d.Table(t), Now: later}.Run(t.Context(), repair.Input{OrgID: d.Org, Family: repair.Records})
	require.NoError(t, err)
	require.Len(t, done.Mended, 1)
	require.Equal(t, "2", given(t, d, e))
	now := d.Operator(t, "shard-repair", object{"org_id": d.Org, "family": "record"})
	require.Len(t, now["mended"], 1, "the number of submissions")
}
