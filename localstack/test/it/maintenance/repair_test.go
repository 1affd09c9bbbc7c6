package maintenance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/repair"
	"lectern/shared/table"
)

// remove takes an item away past the service.
func remove(e it.Engine, t *testing.T, key table.Key) {
	t.Helper()
	_, err := e.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &e.Table, Key: it.KeyOf(key)})
	require.NoError(t, err)
}

// firstIn is the key of the first item in a partition whose sort key begins with a text.
func firstIn(e it.Engine, t *testing.T, partition, begins string) table.Key {
	t.Helper()
	for _, l := range e.Scan(t) {
		if pk, _ := l["PK"].(string); pk == partition {
			if sk, _ := l["SK"].(string); strings.HasPrefix(sk, begins) {
				return table.Key{PK: pk, SK: sk}
			}
		}
	}
	require.Fail(t, "nothing stands there", "%s %s", partition, begins)
	return table.Key{}
}

// TestShardRepairMendsWhatSearchesRefuse: what a torn restore leaves is mended by the
// operator's command, and a dry run says so before.
func TestShardRepairMendsWhatSearchesRefuse(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	ids := d.NewSessions("A", "B", "C")
	person := d.NewContact("ada@example.org").ID()
	d.NewEntry("tracks", "One")
	owner := table.Event(d.Org, d.Event)
	e.Add(t, firstIn(e, t, owner+"#V", "S#"), "v", 1)
	remove(e, t, firstIn(e, t, owner+"#RS", ""))
	remove(e, t, firstIn(e, t, owner+"#RC", ""))
	e.Add(t, table.Key{PK: owner, SK: "-"}, "sv", 5)
	e.Add(t, table.Key{PK: "N#id", SK: "-"}, "n", -1)
	search := func(status int) {
		t.Helper()
		for _, kind := range []string{"/sessions", "/contacts"} {
			d.Call(t, status, http.MethodPost, d.EventPath(kind), object{})
		}
	}
	search(http.StatusServiceUnavailable)
	in := object{"org_id": d.Org, "ids": append(ids, person)}
	planned := d.Operator(t, "shard-repair", it.Merged(in, object{"dry_run": true}))
	search(http.StatusServiceUnavailable)
	done := d.Operator(t, "shard-repair", in)
	require.Equal(t, len(planned["mended"].([]any)), len(done["mended"].([]any)))
	require.Empty(t, done["unmended"])
	search(http.StatusOK)
	e.RequireWhole(t)
	require.Empty(t, d.Operator(t, "shard-repair", in)["mended"], "all is mended")
	for _, wrong := range []object{
		{"org_id": d.Org + 1000}, {"org_id": d.Org, "event_id": d.Event + 1000}, {"org_id": d.Org, "holds": []string{"O#1"}},
		{"org_id": d.Org, "family": "rows"}, {"org_id": d.Org, "shard": "x"},
	} {
		require.NotEmpty(t, it.RequireOperatorError(t, s, "shard-repair", wrong).Code)
	}
}

// TestALineOfNoOrganization is left out of organization-list, and shard-repair removes it
// as it puts a line that is missing.
func TestALineOfNoOrganization(t *testing.T) {
	stacktest.Everywhere(t)
	s, e := it.StartWithEngine(t, nil)
	other := s.NewOrganization(t)
	key := table.Key{PK: "R#org", SK: "0000000000000000777"}
	require.NoError(t, s.Table(t).Transact(t.Context(), table.Put(table.Item{Key: key, Version: 1, Data: []byte("777")})))
	listed := func() string { return fmt.Sprint(s.Operator(t, "organization-list", object{})["results"]) }
	require.Contains(t, listed(), fmt.Sprintf("id:%d", other.Org))
	remove(e, t, table.Key{PK: "R#org", SK: fmt.Sprintf("%019d", other.Org)})
	require.NotContains(t, listed(), fmt.Sprintf("id:%d", other.Org))
	for _, org := range []int64{777, other.Org} {
		done := s.Operator(t, "shard-repair", object{"org_id": org, "family": "list"})
		require.Len(t, done["mended"], 1)
	}
	require.Contains(t, listed(), fmt.Sprintf("id:%d", other.Org))
	e.RequireWhole(t)
	require.Equal(t, "NOT_FOUND", it.RequireOperatorError(t, s, "shard-repair", object{"org_id": 777, "family": "list"}).Code)
}

// TestShardRepairDropsRowsOfLostRecords only where it is told to.
func TestShardRepairDropsRowsOfLostRecords(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	ids := d.NewSessions("A", "B")
	remove(e, t, table.Key{PK: fmt.Sprintf("%s#S#%s", table.Event(d.Org, d.Event), ids[0]), SK: "B"})
	in := object{"org_id": d.Org, "event_id": d.Event, "family": "session"}
	done := d.Operator(t, "shard-repair", in)
	require.Empty(t, done["mended"])
	require.Contains(t, fmt.Sprint(done["unmended"]), "the record is lost")
	d.Call(t, http.StatusServiceUnavailable, http.MethodPost, d.EventPath("/sessions"), object{})
	done = d.Operator(t, "shard-repair", it.Merged(in, object{"drop_rows": true}))
	require.Contains(t, fmt.Sprint(done["mended"]), "is removed")
	require.Equal(t, []string{ids[1]}, it.Texts(d.Search(object{}).Results, "id"), "also where the row is in memory")
}

// TestShardRepairBesideWriters tears an event while others write it, behind a door that
// shows transactions item by item, and repairs it: in the end all is whole, and every
// write that was acknowledged is there.
func TestShardRepairBesideWriters(t *testing.T) {
	s, e := it.StartWithEngine(t, func(inner table.Client) table.Client {
		return faulty.New(inner, faulty.Config{Seed: 11, Conflict: 0.03, Throttle: 0.02, Torn: 0.5})
	})
	d := &it.Client{Stack: s, T: t}
	ids := d.NewSessions("A", "B", "C", "D", "E", "F")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	last := make([]string, len(ids))
	for i, id := range ids {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				title := fmt.Sprintf("%d of %d", n, i)
				answer, err := s.Send(t, http.MethodPut, s.EventPath("/sessions/"+id), object{"title": title})
				if err == nil && answer.Status == http.StatusOK {
					last[i] = title
				}
			}
		})
	}
	store := repair.Store{Table: s.Table(t), Now: time.Now, Region: "us", Settle: 200 * time.Millisecond}
	in := repair.Input{OrgID: d.Org, EventID: d.Event, Family: repair.Sessions, IDs: ids}
	mended := 0
	for range it.Size(3, 60) {
		e.Add(t, firstIn(e, t, table.Event(d.Org, d.Event)+"#V", "S#"), "v", 1)
		done, err := store.Run(t.Context(), in)
		require.NoError(t, err)
		mended += len(done.Mended)
	}
	close(stop)
	writers.Wait()
	done, err := store.Run(t.Context(), in)
	require.NoError(t, err)
	require.Positive(t, mended+len(done.Mended), "versions were off")
	e.RequireWhole(t)
	found := d.Search(object{})
	for i, id := range ids {
		require.Equal(t, last[i], it.ByID(t, found.Results, id)["title"])
	}
}
