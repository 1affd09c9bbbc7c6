package maintenance_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify"
	"lectern/localstack/test/it"
	"lectern/shared/table"
)

// set replaces the data of an item by another attribute, past the service.
func set(e it.Engine, t *testing.T, key table.Key, name string, value attribute.AttributeValue) {
	t.Helper()
	_, err := e.Client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &e.Table, Key: it.KeyOf(key), UpdateExpression: new("SET #a = :v REMOVE d"),
		ExpressionAttributeNames: map[string]string{"#a": name}, ExpressionAttributeValues: it.Attributes{":v": value}})
	require.NoError(t, err)
}

// TestShardRepairLetsAnnouncementsBe: an item without roles announces a write, and is no
// damage where the session has the person.
func TestShardRepairLetsAnnouncementsBe(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	person := d.NewContact("ada@example.org").ID()
	d.Do(200, "POST", "/sessions/create", object{"title": "A", "participants": []any{object{"contact_id": person, "core_role": "speaker"}}})
	item := firstIn(e, t, fmt.Sprintf("%s#C#%s", table.Org(d.Org), person), "S#")
	stored, err := s.Table(t).Get(t.Context(), item)
	require.NoError(t, err)
	require.Contains(t, string(stored.Data), `"r":["`)
	var says map[string]any
	require.NoError(t, json.Unmarshal(stored.Data, &says))
	delete(says, "r")
	stored.Data, err = json.Marshal(says)
	require.NoError(t, err)
	require.NoError(t, s.Table(t).Transact(t.Context(), table.Put(stored)))
	e.RequireWhole(t)
	done := d.Operator(t, "shard-repair", object{"org_id": d.Org, "event_id": d.Event, "family": "session"})
	require.Empty(t, done["mended"])
}

// TestShardRepairGoesOnPastADamagedRecord, which it names, and mends what it can read.
func TestShardRepairGoesOnPastADamagedRecord(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	ids := d.NewSessions("A", "B")
	owner := table.Event(d.Org, d.Event)
	set(e, t, table.Key{PK: owner + "#S#" + ids[0], SK: "B"}, "z", &attribute.AttributeValueMemberB{Value: []byte{1, 2}})
	for _, row := range e.Scan(t) {
		if row["PK"] == owner+"#RS" && fmt.Sprint(row["SK"])[3:] == ids[1] {
			remove(e, t, table.Key{PK: owner + "#RS", SK: fmt.Sprint(row["SK"])})
		}
	}
	done := d.Operator(t, "shard-repair", object{"org_id": d.Org, "ids": ids})
	require.Contains(t, fmt.Sprint(done["unmended"]), "id:"+ids[0]+" what:the session cannot be read")
	require.Contains(t, fmt.Sprint(done["mended"]), "id:"+ids[1]+" what:the row was missing")
}

// TestShardRepairPutsTheItemOfAnHour that verify names.
func TestShardRepairPutsTheItemOfAnHour(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	hour := firstIn(e, t, table.Org(d.Org)+"#H", "")
	remove(e, t, hour)
	done := d.Operator(t, "shard-repair", object{"org_id": d.Org, "family": "list", "ids": []string{"H#" + hour.SK, "H#2020010100"}})
	require.Len(t, done["mended"], 1)
	require.Positive(t, done["looked"])
	e.RequireWhole(t)
}

// TestShardRepairRefusesWhatItWouldNotLookAt: a list of an event, a shard that no family has.
func TestShardRepairRefusesWhatItWouldNotLookAt(t *testing.T) {
	s, _ := it.StartWithEngine(t, nil)
	for _, c := range []struct {
		field string
		in    object
	}{
		{"family", object{"event_id": s.Event, "family": "list"}},
		{"shard", object{"shard": "ff"}},
		{"shard", object{"shard": "04", "family": "account"}},
		{"shard", object{"shard": "00", "family": "settings"}},
	} {
		refused := it.RequireOperatorError(t, s, "shard-repair", it.Merged(c.in, object{"org_id": s.Org}))
		require.Equal(t, c.field, refused.Details["field"], c.in)
	}
	s.Operator(t, "shard-repair", object{"org_id": s.Org, "shard": "3f", "family": "session"})
}

// TestShardRepairCountsAShardWhoseRowsArePurged, which has a number of rows and no version.
func TestShardRepairCountsAShardWhoseRowsArePurged(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	d := &it.Client{Stack: s, T: t}
	d.Delete(200, d.NewSessions("A")[0])
	require.EqualValues(t, 1, d.Maintain(31).Sessions)
	e.RequireWhole(t)
	e.Add(t, firstIn(e, t, table.Event(d.Org, d.Event)+"#V", "S#"), "n", 1)
	report, err := verify.Table(t.Context(), e.Client, e.Table)
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	in := object{"org_id": d.Org, "event_id": d.Event, "family": "session"}
	require.Contains(t, fmt.Sprint(d.Operator(t, "shard-repair", in)["mended"]), "1 rows were counted, there are 0")
	e.RequireWhole(t)
	require.Empty(t, d.Operator(t, "shard-repair", in)["mended"], "all is mended")
}
