package gdpr_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/datarequest"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// emptied fails an erasure that has emptied the contact and nothing else, and gives the contact to
// somebody else. It returns the id of the request, and its message.
func (b *bench) emptied() (string, []byte) {
	b.T.Helper()
	id, body := b.asked("erasure")
	stored := func(where string) bool {
		return strings.Contains(where, "#C#"+b.id+" ") && !strings.Contains(where, " H#")
	}
	for calls := int64(1); slices.ContainsFunc(found(it.EngineOf(b.T, b.Stack).Dump(b.T)), stored); calls++ {
		w, _ := b.worker(calls)
		_, err := w.Invoke(b.T.Context(), message(body, 5))
		require.NoError(b.T, err)
	}
	require.Equal(b.T, "failed", b.request(id)["status"])
	require.NotEmpty(b.T, found(it.EngineOf(b.T, b.Stack).Dump(b.T)))
	b.Put(200, b.id, object{"email": "new@example.org", "first_name": "New"})
	_, b.next = b.shelf.Add(assigned(b.id))
	return id, body
}

// requireNew requires that the contact is that of somebody else, and that nothing is left of the person.
func (b *bench) requireNew() {
	b.T.Helper()
	require.Equal(b.T, "New", b.Get(200, b.id)["first_name"])
	require.Equal(b.T, []string{b.next}, b.shelf.Remaining(append(b.keys, b.next)...))
	require.Empty(b.T, found(it.EngineOf(b.T, b.Stack).Dump(b.T)))
	kept := false
	for item, err := range b.Table(b.T).Between(b.T.Context(), contact.Kind.PK(b.Org, b.id), "H#", "H#~") {
		require.NoError(b.T, err)
		kept = kept || strings.Contains(string(item.Data), `"New"`)
	}
	require.True(b.T, kept, "the changes of somebody else keep their values")
}

// TestAnErasureThatEndedBetweenTwoEvents goes on, although somebody has given the contact another address
// and other values on the event that was not emptied.
func TestAnErasureThatEndedBetweenTwoEvents(t *testing.T) {
	b := newBench(t)
	other := b.second.NewField("Other", "text")
	id, body := b.asked("erasure")
	for calls := int64(1); b.Get(200, b.id)["email"] != nil; calls++ {
		w, _ := b.worker(calls)
		_, err := w.Invoke(t.Context(), message(body, 5))
		require.NoError(t, err)
	}
	b.second.Put(200, b.id, object{"email": "new@example.org", "custom_fields": object{other: "new"}})
	require.Contains(t, string(it.Encode(t, b.second.Get(200, b.id))), canary, "the second event was not emptied")
	require.Zero(t, b.invoke(body, 1))
	require.Zero(t, b.invoke(b.posts[len(b.posts)-1].Body, 1))
	require.Equal(t, "completed", b.request(id)["status"])
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}

// TestASecondErasureDoesTheRestOfAFailedOne: the first has emptied the contact, and nothing else. Its
// values belong to somebody else by then.
func TestASecondErasureDoesTheRestOfAFailedOne(t *testing.T) {
	b := newBench(t)
	_, body := b.emptied()
	second, again := b.asked("erasure")
	require.Zero(t, b.invoke(again, 1))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, "completed", b.request(second)["status"])
	require.Zero(t, b.invoke(body, 1))
	b.requireNew()
}

// TestARedriveSparesWhoHasTheContactNow: the message of a failed erasure comes again without a second
// request.
func TestARedriveSparesWhoHasTheContactNow(t *testing.T) {
	b := newBench(t)
	first, body := b.emptied()
	require.Zero(t, b.invoke(body, 1))
	require.Zero(t, b.invoke(b.posts[len(b.posts)-1].Body, 1))
	require.Equal(t, "completed", b.request(first)["status"])
	b.requireNew()
}

// TestAThirdErasureSparesWhoHasTheContactNow: the second has taken the contact over from the first, and
// has failed too.
func TestAThirdErasureSparesWhoHasTheContactNow(t *testing.T) {
	b := newBench(t)
	b.emptied()
	second, again := b.asked("erasure")
	b.fault = it.ErrEnded
	require.Equal(t, 1, b.invoke(again, 5))
	require.Equal(t, "failed", b.request(second)["status"])
	b.fault = nil
	third, last := b.asked("erasure")
	require.Zero(t, b.invoke(last, 1))
	require.Zero(t, b.invoke(b.posts[len(b.posts)-1].Body, 1))
	require.Equal(t, "completed", b.request(third)["status"])
	b.requireNew()
}

// TestARepeatSparesWhoHasTheContactNow: the failed erasure is listed, and finds the contact by its id
// alone. Once a second erasure has done the rest, the failed one is not listed either.
func TestARepeatSparesWhoHasTheContactNow(t *testing.T) {
	b := newBench(t)
	first, _ := b.emptied()
	list := func() entity {
		since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		return entity(b.Operator(t, "erasure-list", object{"org_id": b.Org, "since": since}))
	}
	listed := list()
	require.Equal(t, []any{first}, it.Column(listed.List("results"), "request"))
	repeated := b.Operator(t, "erasure-repeat", object{"org_id": b.Org, "erasures": listed["results"]})
	require.Empty(t, repeated["results"])
	second, again := b.asked("erasure")
	require.Zero(t, b.invoke(again, 1))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, []any{second}, it.Column(list().List("results"), "request"))
	b.requireNew()
}

// TestASecondErasureFindsAMovedPerson: the first has done nothing, and the person has another address since.
func TestASecondErasureFindsAMovedPerson(t *testing.T) {
	b := newBench(t)
	first, body := b.asked("erasure")
	for calls := int64(1); b.request(first)["status"] != "failed"; calls++ {
		w, _ := b.worker(calls)
		_, err := w.Invoke(t.Context(), message(body, 5))
		require.NoError(t, err)
	}
	b.Put(200, b.id, object{"email": "moved." + canary + "@example.org"})
	second, again := b.asked("erasure")
	require.Zero(t, b.invoke(again, 1))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, "completed", b.request(second)["status"])
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}

// TestAChangeOfTheAddressDoesNotEvadeAnErasure, before its work begins.
func TestAChangeOfTheAddressDoesNotEvadeAnErasure(t *testing.T) {
	b := newBench(t)
	id, body := b.asked("erasure")
	b.Put(200, b.id, object{"email": "moved@example.org"})
	other := b.Create(200, object{"email": address, "first_name": "Other"}).ID()
	require.Zero(t, b.invoke(body, 1))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, "completed", b.request(id)["status"])
	require.Nil(t, b.Get(200, b.id)["email"])
	require.Equal(t, "Other", b.Get(200, other)["first_name"])
}

// TestWhoComesBeforeTheWorkIsErased: the creation found nobody with the address.
func TestWhoComesBeforeTheWorkIsErased(t *testing.T) {
	b := newBench(t)
	asked := b.Call(t, 201, http.MethodPost, collection, asking("erasure", "late@example.org")).JSON(t)
	late := b.Create(200, object{"email": "late@example.org"}).ID()
	body := it.Encode(t, object{"detail": object{"org": b.Org, "record_id": asked["id"], "kind": datarequest.KindCreated}})
	require.Zero(t, b.invoke(body, 1))
	require.Nil(t, b.Get(200, late)["email"])
}

// withoutFeed is a client of the table that cannot read the list of the hours with changes.
type withoutFeed struct {
	table.Client
	root string
}

func (c withoutFeed) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if pk, _ := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); pk.Value == c.root {
		return nil, it.ErrEnded
	}
	return c.Client.Query(ctx, in, o...)
}

// TestTheSearchForFormerSessionsComesLast: the person, the changes, the webhooks and the archive are
// erased although the search fails.
func TestTheSearchForFormerSessionsComesLast(t *testing.T) {
	b := newBench(t)
	access, collect := b.asked("access")
	require.Zero(t, b.invoke(collect, 1))
	_, body := b.asked("erasure")
	w := b.workerOf(func(client table.Client) table.Client { return withoutFeed{client, change.Root(b.Org)} })
	answer, err := w.Invoke(t.Context(), message(body, 1))
	require.NoError(t, err)
	require.Len(t, answer.BatchItemFailures, 1)
	require.Equal(t, "A***@e***.org", b.request(access)["identity_value"])
	for _, where := range found(it.EngineOf(t, b.Stack).Dump(t)) {
		require.Regexp(t, "#B#session#|#W#|R#data_request#", where)
	}
}

// TestALongSearchGoesOnInTheNextMessage: an invocation that soon ends sends the rest of the search to the
// queue, in each round, and finds the session that the person left last.
func TestALongSearchGoesOnInTheNextMessage(t *testing.T) {
	b := newBench(t)
	for range 6 {
		operations := make([]object, 100)
		for i := range operations {
			operations[i] = it.Creating(object{"title": "A talk of others"})
		}
		b.Client.Bulk(operations...)
	}
	left := b.Client.Create(200, object{"title": "The last", "participants": []any{object{"contact_id": b.id, "core_role": "speaker"}}}).ID()
	b.Client.Put(200, left, object{"participants": []any{}})
	b.deliver(left)
	require.GreaterOrEqual(t, b.eraseInParts(), 4, "two rounds of at least two parts")
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}

// TestValuesOnAnEventThatIsGone keep an erasure from its end.
func TestValuesOnAnEventThatIsGone(t *testing.T) {
	b := newBench(t)
	events, err := datarequest.NewStore(b.Env(t)).Events(t.Context(), b.Org, b.id)
	require.NoError(t, err)
	key := table.Key{PK: table.Event(b.Org, events[1]), SK: "-"}
	require.NoError(t, b.Table(t).Transact(t.Context(), table.Delete(key)))
	id, body := b.asked("erasure")
	require.Equal(t, 1, b.invoke(body, 1))
	require.Equal(t, "processing", b.request(id)["status"])
	require.Empty(t, b.posts)
}

// TestChangesOfAnEarlyReleaseLoseTheirValues: they are in the feed, and the contact has references to them.
func TestChangesOfAnEarlyReleaseLoseTheirValues(t *testing.T) {
	b := newBench(t)
	at := time.Now().Add(-time.Hour)
	early := feed.Bound(at) + uuid.NewString()[len(feed.Bound(at)):]
	data, err := json.Marshal(change.Record{
		ID: early, At: wire.At(at), Org: b.Org, Action: "contact.updated", Type: "contact", RecordID: b.id, Version: 2,
		Values: []change.Value{{Field: "about", Old: canary, New: "of " + canary}},
	})
	require.NoError(t, err)
	key := feed.Key(change.Root(b.Org), early, at)
	require.NoError(t, b.Table(t).Transact(t.Context(),
		table.Insert(table.Item{Key: key, Version: 1, Data: data}),
		table.Insert(table.Item{Key: change.PersonalKey(contact.Kind.PK(b.Org, b.id), early), Version: 1, Data: []byte(`{"sha256":"00"}`)}),
		table.Insert(table.Item{Key: feed.HourOf(key), Version: 1, Data: []byte(`{}`)}),
	))
	_, body := b.asked("erasure")
	require.Zero(t, b.invoke(body, 1))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
	kept, err := change.Find(t.Context(), b.Table(t), b.Org, early)
	require.NoError(t, err)
	require.Equal(t, []change.Value{{Field: "about"}}, kept.Values)
}

// told returns the events of the published updates of a contact.
func (b *bench) told() (events []int64) {
	b.T.Helper()
	for _, c := range it.ChangesOf(b.T, b.Stack) {
		for _, m := range bus.Messages(c) {
			if m.RecordID == b.id && m.Kind == "contact.updated" && c.Source == change.SourceService {
				events = append(events, m.Event)
			}
		}
	}
	return events
}

// TestEveryEventIsToldOfAnErasure on which the contact is, in the first round, also where no value was left.
func TestEveryEventIsToldOfAnErasure(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		b := &bench{Contacts: &it.Contacts{Client: it.NewClient(t)}}
		b.id = b.Create(200, object{"email": address}).ID()
		second := b.InNewEvent()
		second.Create(200, object{"email": address})
		want := []int64{b.Event, second.Event}
		if deleted {
			b.Delete(200, b.id)
			want = want[1:]
		}
		_, body := b.asked("erasure")
		require.Zero(t, b.invoke(body, 1))
		require.ElementsMatch(t, want, b.told(), "deleted from the first event: %v", deleted)
		require.Zero(t, b.invoke(b.posts[0].Body, 1))
		require.Len(t, b.told(), len(want), "the second round finds nothing")
		for _, c := range it.ChangesOf(t, b.Stack) {
			require.False(t, strings.Contains(c.Action, "erased") && tells(string(it.Encode(t, c))))
		}
	}
}
