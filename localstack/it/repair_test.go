package it_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/repair"
	"lectern/shared/table"
	"lectern/shared/table/faulty"
)

// add adds to a number of an item past the service.
func (e engine) add(t *testing.T, key table.Key, name string, by int) {
	t.Helper()
	_, err := e.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &e.name, Key: keyOf(key), UpdateExpression: new("ADD #a :n"),
		ExpressionAttributeNames:  map[string]string{"#a": name},
		ExpressionAttributeValues: attributes{":n": &attribute.AttributeValueMemberN{Value: strconv.Itoa(by)}}})
	require.NoError(t, err)
}

// remove takes an item away past the service.
func (e engine) remove(t *testing.T, key table.Key) {
	t.Helper()
	_, err := e.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &e.name, Key: keyOf(key)})
	require.NoError(t, err)
}

func keyOf(key table.Key) attributes {
	return attributes{"PK": &attribute.AttributeValueMemberS{Value: key.PK}, "SK": &attribute.AttributeValueMemberS{Value: key.SK}}
}

// firstIn is the key of the first item in a partition whose sort key begins with a text.
func (e engine) firstIn(t *testing.T, partition, begins string) table.Key {
	t.Helper()
	for _, l := range e.scan(t) {
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
	s, e := startOpen(t, nil)
	d := &desk{s, t}
	ids := d.titled("A", "B", "C")
	person := d.person("ada@example.org").id()
	d.entry("tracks", "One")
	owner := table.Event(d.Org, d.Event)
	e.add(t, e.firstIn(t, owner+"#V", "S#"), "v", 1)
	e.remove(t, e.firstIn(t, owner+"#RS", ""))
	e.remove(t, e.firstIn(t, owner+"#RC", ""))
	e.add(t, table.Key{PK: owner, SK: "-"}, "sv", 5)
	e.add(t, table.Key{PK: "N#id", SK: "-"}, "n", -1)
	search := func(status int) {
		t.Helper()
		for _, kind := range []string{"/sessions", "/contacts"} {
			d.Call(t, status, http.MethodPost, d.EventPath(kind), object{})
		}
	}
	search(http.StatusServiceUnavailable)
	in := object{"org_id": d.Org, "ids": append(ids, person)}
	planned := d.Operator(t, "shard-repair", merged(in, object{"dry_run": true}))
	search(http.StatusServiceUnavailable)
	done := d.Operator(t, "shard-repair", in)
	require.Equal(t, len(planned["mended"].([]any)), len(done["mended"].([]any)))
	require.Empty(t, done["unmended"])
	search(http.StatusOK)
	e.whole(t)
	require.Empty(t, d.Operator(t, "shard-repair", in)["mended"], "all is mended")
	for _, wrong := range []object{
		{"org_id": d.Org + 1000}, {"org_id": d.Org, "event_id": d.Event + 1000}, {"org_id": d.Org, "holds": []string{"O#1"}},
		{"org_id": d.Org, "family": "rows"}, {"org_id": d.Org, "shard": "x"},
	} {
		require.NotEmpty(t, operatorRefuses(t, s, "shard-repair", wrong).Code)
	}
}

// TestALineOfNoOrganization is left out of organization-list, and shard-repair removes it
// as it puts a line that is missing.
func TestALineOfNoOrganization(t *testing.T) {
	s, e := startOpen(t, nil)
	other := s.NewOrganization(t)
	key := table.Key{PK: "R#org", SK: "0000000000000000777"}
	require.NoError(t, s.Table(t).Transact(t.Context(), table.Put(table.Item{Key: key, Version: 1, Data: []byte("777")})))
	listed := func() string { return fmt.Sprint(s.Operator(t, "organization-list", object{})["results"]) }
	require.Contains(t, listed(), fmt.Sprintf("id:%d", other.Org))
	e.remove(t, table.Key{PK: "R#org", SK: fmt.Sprintf("%019d", other.Org)})
	require.NotContains(t, listed(), fmt.Sprintf("id:%d", other.Org))
	for _, org := range []int64{777, other.Org} {
		done := s.Operator(t, "shard-repair", object{"org_id": org, "family": "list"})
		require.Len(t, done["mended"], 1)
	}
	require.Contains(t, listed(), fmt.Sprintf("id:%d", other.Org))
	e.whole(t)
	require.Equal(t, "NOT_FOUND", operatorRefuses(t, s, "shard-repair", object{"org_id": 777, "family": "list"}).Code)
}

// TestShardRepairDropsRowsOfLostRecords only where it is told to.
func TestShardRepairDropsRowsOfLostRecords(t *testing.T) {
	s, e := startOpen(t, nil)
	d := &desk{s, t}
	ids := d.titled("A", "B")
	e.remove(t, table.Key{PK: fmt.Sprintf("%s#S#%s", table.Event(d.Org, d.Event), ids[0]), SK: "B"})
	in := object{"org_id": d.Org, "event_id": d.Event, "family": "session"}
	done := d.Operator(t, "shard-repair", in)
	require.Empty(t, done["mended"])
	require.Contains(t, fmt.Sprint(done["unmended"]), "the record is lost")
	d.Call(t, http.StatusServiceUnavailable, http.MethodPost, d.EventPath("/sessions"), object{})
	done = d.Operator(t, "shard-repair", merged(in, object{"drop_rows": true}))
	require.Contains(t, fmt.Sprint(done["mended"]), "is removed")
	require.Equal(t, []string{ids[1]}, texts(d.search(object{}).Results, "id"), "also where the row is in memory")
}

// TestShardRepairBesideWriters tears an event while others write it, behind a door that
// shows transactions item by item, and repairs it: in the end all is whole, and every
// write that was acknowledged is there.
func TestShardRepairBesideWriters(t *testing.T) {
	s, e := startOpen(t, func(inner table.Client) table.Client {
		return faulty.New(inner, faulty.Config{Seed: 11, Conflict: 0.03, Throttle: 0.02, Torn: 0.5})
	})
	d := &desk{s, t}
	ids := d.titled("A", "B", "C", "D", "E", "F")
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
	for range sized(6, 60) {
		e.add(t, e.firstIn(t, table.Event(d.Org, d.Event)+"#V", "S#"), "v", 1)
		done, err := store.Run(t.Context(), in)
		require.NoError(t, err)
		mended += len(done.Mended)
	}
	close(stop)
	writers.Wait()
	done, err := store.Run(t.Context(), in)
	require.NoError(t, err)
	require.Positive(t, mended+len(done.Mended), "versions were off")
	e.whole(t)
	found := d.search(object{})
	for i, id := range ids {
		require.Equal(t, last[i], byID(t, found.Results, id)["title"])
	}
}
