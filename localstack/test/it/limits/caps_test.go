package limits_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/functions/contactwrites"
	"lectern/functions/exhibitorwrites"
	"lectern/functions/operator"
	"lectern/functions/sessionwrites"
	"lectern/functions/sponsorwrites"
	"lectern/localstack/content/verify"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/apierr"
	rowset "lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/session"
	"lectern/shared/table"
)

// writeGroups are the groups that create records.
var writeGroups = map[string]api.Group{
	"sessions": sessionwrites.Group, "contacts": contactwrites.Group, "sponsors": sponsorwrites.Group, "exhibitors": exhibitorwrites.Group,
}

// capped is the kind of record as a cap names it.
func (w *kindClient) capped() string {
	if w.Module == "account" {
		return "accounts"
	}
	return w.Collection
}

// upTo returns the client of a process that allows so many records.
func (w *kindClient) upTo(most int64) *kindClient {
	return &kindClient{w.ServeGroup(writeGroups[w.Collection], func(env *api.Env) { env.MostRecords = most }), w.Kind}
}

// rows returns the partition of the rows that the cap of the kind counts.
func (w *kindClient) rows() rowset.Source {
	switch w.capped() {
	case "sessions":
		return session.Of(w.Org, w.Event).Rows()
	case "contacts":
		return contact.Kind.Rows(w.Org, 0)
	}
	return account.Kind.Rows(w.Org, 0)
}

// counted is how many rows the versions of the shards count.
func (w *kindClient) counted() int {
	w.T.Helper()
	rows, err := rowset.Rows(w.T.Context(), w.Table(w.T), w.rows())
	require.NoError(w.T, err)
	return int(rows)
}

// isFull checks the 409 of a cap, which names it.
func (w *kindClient) isFull(refused entity, there, most int) {
	w.T.Helper()
	require.Equal(w.T, entity{
		"name": "ConflictError", "error": "ConflictError", "code": "LIMIT_REACHED",
		"message": fmt.Sprintf("There are %d %s already, which is the limit. Deleted ones count until they are purged.", there, w.capped()),
		"details": object{"limit": w.capped(), "maximum": float64(most)},
	}, refused)
}

// TestTheNumberOfRecordsIsLimited: at the cap all is done but creations, and a deletion
// makes no room.
func TestTheNumberOfRecordsIsLimited(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		few := w.upTo(3)
		first, last := few.one("A"), w.Draft("C")
		few.one("B")
		replayed := few.Do(200, http.MethodPost, w.CreatePath(), last, it.KeyHeader, "last")
		few.isFull(few.create(409, w.Draft("D")), 3, 3)
		require.Equal(t, []int{3, 3}, []int{w.counted(), w.count()})
		again := few.Call(t, 200, http.MethodPost, w.EventPath(w.CreatePath()), stacktest.WithHeaders(last, it.KeyHeader, "last"))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, replayed.ID(), entity(again.JSON(t)).ID())
		require.Equal(t, "E", few.Do(200, http.MethodPut, w.Path(first), w.WithText("E"))[w.TextField])
		few.remove(200, first)
		few.isFull(few.create(409, w.Draft("D")), 3, 3)
		few.RestoreRecord(w.Collection, first)
		require.Equal(t, []int{3, 3}, []int{w.counted(), w.count()})
		w.upTo(4).one("D")
		few.isFull(few.create(409, w.Draft("F")), 4, 3)
	})
}

// TestABulkIsDoneUpToTheCap: what is over it is refused by itself, and again when the
// bulk is repeated.
func TestABulkIsDoneUpToTheCap(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		few := w.upTo(4)
		id := few.one("A")
		operations := append([]object{it.Updating(id, w.WithText("B"))}, w.news(6, "New")...)
		operations = append(operations, it.Updating(id, w.WithText("C")), it.Deleting(id))
		for _, key := range []string{"bulk", "bulk", "another"} {
			refused := 0
			o := few.bulkUnder(key, operations[:len(operations)-1]...)
			for i, r := range o.Results {
				if r["status"] == "error" {
					require.Equal(t, "create", r["action"])
					failure := w.refuses(o, i, "LIMIT_REACHED", "")
					require.Nil(t, r["id"])
					if !w.PlainErrors {
						require.Equal(t, object{"limit": w.capped(), "maximum": 4.0}, failure["details"])
					}
					refused++
				}
			}
			require.Equal(t, map[string]int{"bulk": 3, "another": 6}[key], refused)
		}
		require.Equal(t, []int{4, 4}, []int{w.counted(), w.count()})
		require.Equal(t, "C", w.get(200, id)[w.TextField])
		few.bulk(operations[len(operations)-1])
		few.isFull(few.create(409, w.Draft("D")), 4, 4)
	})
}

// TestAtTheCapARecordMayTakeMore: a contact comes to another event, and an account takes
// another role, without a new record; a session takes no subsession.
func TestAtTheCapARecordMayTakeMore(t *testing.T) {
	region := stacktest.Start(t)
	at := func(kind int) (w, few *kindClient) {
		w = &kindClient{&it.Client{Stack: region.NewOrganization(t), T: t}, it.Kinds[kind]}
		return w, w.upTo(1)
	}
	_, people := at(1)
	known := people.Draft("A")
	id := people.create(200, known).ID()
	there := &kindClient{&it.Client{Stack: people.In(people.NewEvent(t)), T: t}, people.Kind}
	require.Equal(t, id, there.create(200, known).ID())
	there.isFull(there.create(409, there.Draft("B")), 1, 1)

	companies, few := at(2)
	id = few.one("A")
	require.Equal(t, id, (&kindClient{companies.Client, it.Kinds[3]}).upTo(1).create(200, object{"account_id": id}).ID())

	all, talks := at(0)
	id = talks.one("A")
	talks.isFull(talks.create(409, object{"title": "Part", "parent_session_id": id}), 1, 1)
	require.Nil(t, talks.CallSession(200, "PUT", id, object{"title": "Still"}).JSON(t)["deleted_at"])
	require.Empty(t, all.get(200, id)["subsessions"])
	talks.isFull(talks.create(409, object{"title": "B"}), 1, 1)
	require.Equal(t, 1, talks.counted())
}

// TestRecordsAreCountedBesideWriters: what is created and counted at the same time is
// counted right, and what a release before did not count is counted then.
func TestRecordsAreCountedBesideWriters(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	w := &kindClient{&it.Client{Stack: s, T: t}, it.Kinds[0]}
	w.bulk(w.news(40, "Old")...)
	for _, l := range e.Scan(t) {
		if pk, _ := l["PK"].(string); pk == w.rows().Versions && l["n"] != nil {
			key := table.Key{PK: pk, SK: l["SK"].(string)}
			e.Add(t, key, "n", 5)
		}
	}
	require.Greater(t, w.counted(), 40)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				answer, err := w.Send(t, http.MethodPost, w.EventPath(w.CreatePath()), w.Draft("New"))
				if err != nil || answer.Status != http.StatusOK {
					t.Errorf("status %d, %v", answer.Status, err)
				}
			}
		})
	}
	for range 3 {
		require.NoError(t, rowset.Recount(t.Context(), w.Table(t), w.rows()))
	}
	all.Wait()
	require.Equal(t, 80, w.counted())
	require.Equal(t, 80, w.count())
	e.RequireWhole(t)
}

// late hides the last row of the next Query of rows that finds any, as a transaction does
// of which a reader sees the version of the shard and not the row yet.
type late struct {
	table.Client
	due atomic.Bool
}

func (l *late) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := l.Client.Query(ctx, in, o...)
	if err == nil && len(out.Items) > 0 && strings.Contains(it.StringsOf(in.ExpressionAttributeValues), "#RS ") && l.due.CompareAndSwap(true, false) {
		out.Items = out.Items[:len(out.Items)-1]
	}
	return out, err
}

// TestARowThatIsNotVisibleYetIsCounted: its shard is counted once more.
func TestARowThatIsNotVisibleYetIsCounted(t *testing.T) {
	hidden := &late{}
	s, e := it.StartWithEngine(t, func(inner table.Client) table.Client {
		hidden.Client = inner
		return hidden
	})
	w := &kindClient{&it.Client{Stack: s, T: t}, it.Kinds[0]}
	w.bulk(w.news(5, "Late")...)
	hidden.due.Store(true)
	require.NoError(t, rowset.Recount(t.Context(), w.Table(t), w.rows()))
	require.False(t, hidden.due.Load())
	require.Equal(t, 5, w.counted())
	e.RequireWhole(t)
}

// TestACopyOfASessionCountsAgainstTheCap, and takes no number where it is refused.
func TestACopyOfASessionCountsAgainstTheCap(t *testing.T) {
	w := &kindClient{&it.Client{Stack: stacktest.Start(t).NewOrganization(t), T: t}, it.Kinds[0]}
	id := w.one("A")
	env := w.Env(t)
	env.Memory, env.MostRecords = new(api.Memory), 2
	few := operator.New(env)
	in := it.Encode(t, object{"org_id": w.Org, "event_id": w.Event, "session_id": id})
	_, err := few.Do(t.Context(), "session-duplicate", in)
	require.NoError(t, err)
	_, err = few.Do(t.Context(), "session-duplicate", in)
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusConflict, refused.Status)
	require.Equal(t, "LIMIT_REACHED", refused.Code)
	require.Equal(t, map[string]any{"limit": "sessions", "maximum": int64(2)}, refused.Details)
	require.Equal(t, 2, w.counted())
	require.Equal(t, "SESS-3", w.get(200, w.one("B"))["friendly_id"])
}

// TestAPurgedRecordMakesRoom: its row is taken away, and what its shard counts of it.
func TestAPurgedRecordMakesRoom(t *testing.T) {
	s, e := it.StartWithEngine(t, nil)
	w := &kindClient{&it.Client{Stack: s, T: t}, it.Kinds[0]}
	few := w.upTo(2)
	kept, gone := few.one("A"), few.one("B")
	few.isFull(few.create(409, few.Draft("C")), 2, 2)
	body := session.Of(few.Org, few.Event).Body(gone)
	require.NoError(t, few.Table(t).Transact(t.Context(), rowset.Remove(few.rows(), gone, body, 1)...))
	few.one("C")
	few.isFull(few.create(409, few.Draft("D")), 2, 2)
	require.Equal(t, 2, w.count())
	require.Equal(t, "A", w.get(200, kept)["title"])
	report, err := verify.Table(t.Context(), e.Client, e.Table)
	require.NoError(t, err)
	require.NotContains(t, strings.Join(report.Problems, " "), "#V")
}
