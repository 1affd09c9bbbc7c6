package gdpr_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/dataworker"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/datarequest"
	"lectern/shared/delivery"
	"lectern/shared/feed"
	"lectern/shared/payload"
	"lectern/shared/stores"
	"lectern/shared/table"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

// bench has a person whose requests are done by workers that end, and what the worker has sent.
type bench struct {
	*it.Contacts
	// shelf has a file of the person with a replacement for Bob. keys name the bytes of both, and next those of
	// the next person of the contact.
	shelf it.Shelf
	keys  []string
	next  string
	// id is the person, bob another one, and hook the endpoint.
	id, bob, hook string
	// second has the contact on a second event.
	second *it.Contacts
	posts  []bus.Post
	// fault is the error of the queue.
	fault error
}

func (b *bench) Send(_ context.Context, posts ...bus.Post) error {
	b.posts = append(b.posts, posts...)
	return b.fault
}

// request returns a request as the list shows it.
func (b *bench) request(id string) entity {
	b.T.Helper()
	return it.ByID(b.T, stacktest.Call[it.Page](b.Stack, http.StatusOK, http.MethodGet, collection, nil).Results, id)
}

// invoke invokes a worker that does not end, and returns the number of messages that failed.
func (b *bench) invoke(body []byte, receives int) int {
	b.T.Helper()
	w, _ := b.worker(1_000_000)
	answer, err := w.Invoke(b.T.Context(), message(body, receives))
	require.NoError(b.T, err)
	return len(answer.BatchItemFailures)
}

// worker returns a worker whose process ends at a call of the table.
func (b *bench) worker(calls int64) (w *dataworker.Worker, end *it.Process) {
	b.T.Helper()
	w = b.workerOf(func(client table.Client) table.Client {
		end = it.NewProcess(client, calls)
		return end
	})
	return w, end
}

// workerOf returns a worker with a client of the table.
func (b *bench) workerOf(wrap func(table.Client) table.Client) *dataworker.Worker {
	b.T.Helper()
	url, name := b.Engine(b.T)
	client, err := table.Open(b.T.Context(), table.Config{Endpoint: url})
	require.NoError(b.T, err)
	env := b.Env(b.T)
	env.Table, env.Memory, env.Log = table.New(wrap(client), name), new(api.Memory), api.NewLog(b.T.Output())
	return dataworker.New(dataworker.Config{
		Table: env.Table, Now: env.Now, Log: env.Log, Requests: datarequest.NewStore(env), Contacts: stores.Contacts(env),
		Files: stores.SessionFiles(env), Slides: stores.Slides(env), Receivers: webhook.NewReceivers(env), Renderer: payload.New(env, ""), Work: b, Settling: time.Second,
	})
}

// do invokes workers with a message, each of which ends one call later than the one before, until
// one is done. It returns the number of workers that ended.
func (b *bench) do(body []byte) (ended int) {
	b.T.Helper()
	for calls := int64(1); ; calls++ {
		w, end := b.worker(calls)
		answer, err := w.Invoke(b.T.Context(), message(body, 1))
		require.NoError(b.T, err)
		if len(answer.BatchItemFailures) == 0 {
			require.GreaterOrEqual(b.T, end.Left(), int64(0))
			return ended
		}
		require.Negative(b.T, end.Left())
		ended++
	}
}

func message(body []byte, receives int) events.SQSEvent {
	return events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "1", Body: string(body), Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(receives)},
	}}}
}

// asked opens a request of a type for the person, and returns its id and the message about it.
func (b *bench) asked(kind string) (id string, body []byte) {
	b.T.Helper()
	return b.askedFor(kind, address)
}

// askedFor does asked for another address.
func (b *bench) askedFor(kind, address string) (id string, body []byte) {
	b.T.Helper()
	id = b.Call(b.T, 201, http.MethodPost, collection, asking(kind, address)).JSON(b.T)["id"].(string)
	body, err := json.Marshal(map[string]any{"detail": bus.Message{
		Org: b.Org, Kind: datarequest.KindCreated, RecordID: id, At: wire.At(time.Now()), Change: "any",
	}})
	require.NoError(b.T, err)
	return id, body
}

// eraseInParts erases the person by invocations whose time soon ends, and returns the number of messages.
func (b *bench) eraseInParts() (messages int) {
	b.T.Helper()
	id, body := b.asked("erasure")
	require.Nil(b.T, b.follow(body))
	require.Equal(b.T, "completed", b.request(id)["status"])
	return len(b.posts) + 1
}

// follow does a message and those that come of it, by invocations whose time soon ends. It returns the message that fails,
// or nil.
func (b *bench) follow(body []byte) (failed []byte) {
	b.T.Helper()
	ends, cancel := context.WithTimeout(b.T.Context(), 50*time.Second)
	defer cancel()
	for next := len(b.posts); ; next++ {
		w, _ := b.worker(1_000_000)
		answer, err := w.Invoke(ends, message(body, 1))
		require.NoError(b.T, err)
		if len(answer.BatchItemFailures) > 0 {
			return body
		}
		if next == len(b.posts) {
			return nil
		}
		body = b.posts[next].Body
	}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Contacts: &it.Contacts{Client: it.NewClient(t)}}
	id := b.Create(200, it.Merged(texts())).ID()
	b.Put(200, id, object{"about": "About " + canary})
	second := b.InNewEvent()
	row := second.NewField("Row", "text")
	second.Create(200, object{"email": address, "custom_fields": object{row: canary}})
	b.bob = b.Create(200, object{"email": "bob@example.org"}).ID()
	talk := b.Client.Create(200, object{"title": "A talk", "participants": []any{
		object{"contact_id": id, "core_role": "speaker"}, object{"contact_id": b.bob, "core_role": "speaker"},
	}}).ID()
	b.shelf = it.Shelf{Client: b.Client, Session: talk}
	file, key := b.shelf.Add(named)
	b.Do(200, http.MethodPut, b.shelf.Path("/"+file), assigned(id))
	_, next := b.shelf.Begin("/"+file+"/replace", 200, assigned(b.bob))
	b.keys = []string{key, next}
	b.id, b.second = id, second
	b.hook = b.Call(t, 200, http.MethodPost, "/v1/webhooks/create", object{"url": "https://hooks.invalid/", "events": []any{"contact.updated"}}).JSON(t)["id"].(string)
	b.deliver("")
	lost := uuid.Must(uuid.NewV7()).String()
	at, _ := feed.Time(lost)      // The id of a change has its time.
	b.deliverMessage(bus.Message{ // Its change is not in the feed.
		Org: b.Org, Type: "contact", RecordID: id, Change: lost, At: wire.At(at), Kind: "contact.updated", Sequence: 1,
	}, blank{})
	return b
}

// blank renders a body with the person's text.
type blank struct{}

func (blank) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"data":"` + canary + `","metadata":{` + delivery.Place), nil
}

// deliver delivers the changes of contacts and sessions, or of a single record, to an endpoint that repeats
// the body.
func (b *bench) deliver(id string) {
	b.T.Helper()
	for _, c := range it.ChangesOf(b.T, b.Stack) {
		for _, m := range bus.Messages(c) {
			of := m.Type == "contact" || m.Type == "session"
			if of && m.RecordID != b.bob && m.Kind != bus.FieldsChanged && (id == "" || m.RecordID == id) {
				b.deliverMessage(m, payload.New(b.Env(b.T), ""))
			}
		}
	}
}

// deliverMessage delivers a message.
func (b *bench) deliverMessage(m bus.Message, r delivery.Renderer) {
	b.T.Helper()
	store := delivery.Store{Table: b.Table(b.T), Now: time.Now}
	added, err := store.Add(b.T.Context(), m, []delivery.Target{{Endpoint: b.hook, Form: webhook.PayloadFull}}, r)
	require.NoError(b.T, err)
	w, err := store.Open(b.T.Context(), added.Tasks[0])
	require.NoError(b.T, err)
	_, err = store.Record(b.T.Context(), w, added.Tasks[0], delivery.Outcome{At: time.Now(), Status: 500, Response: "refused: " + canary})
	require.NoError(b.T, err)
}

// TestRequestsGoOnAfterAnyEnd: the worker ends at every call, and the next goes on. Afterwards
// nothing is left of the person, each request is completed once, and a message that comes again changes
// nothing.
func TestRequestsGoOnAfterAnyEnd(t *testing.T) {
	b := newBench(t)
	engine := it.EngineOf(t, b.Stack)
	access, body := b.asked("access")
	require.Greater(t, b.do(body), 5)
	archived := b.Call(t, 200, http.MethodGet, collection+"/"+access+"/archive", nil).JSON(t)
	require.Len(t, entity(archived).List("contacts"), 1)

	erasure, body := b.asked("erasure")
	require.Greater(t, b.do(body), 10)
	require.NotEmpty(t, b.posts)
	require.Equal(t, time.Second, b.posts[0].Delay)
	require.Greater(t, b.do(b.posts[0].Body), 5)
	require.Empty(t, found(engine.Dump(t)))
	require.Empty(t, b.shelf.Remaining(b.keys...))
	require.Equal(t, "completed", b.request(erasure)["status"])
	require.Equal(t, "A***@e***.org", b.request(access)["identity_value"])

	before := engine.Dump(t)
	require.Zero(t, b.invoke(body, 1))
	require.Equal(t, before, engine.Dump(t))
	completed := 0
	for _, item := range before {
		if strings.Contains(item.Data, `"action":"data_request.completed"`) {
			completed++
		}
	}
	require.Equal(t, 2, completed)
}

// TestARequestIsFailedAfterTheLastTry, and a message that an operator moves back goes on with it.
func TestARequestIsFailedAfterTheLastTry(t *testing.T) {
	b := newBench(t)
	id, body := b.asked("erasure")
	b.fault = it.ErrEnded
	require.Equal(t, 1, b.invoke(body, 1))
	require.Equal(t, "processing", b.request(id)["status"])
	require.Equal(t, 1, b.invoke(body, 5))
	require.Equal(t, "failed", b.request(id)["status"])
	again, second := b.asked("erasure")
	require.NotEqual(t, id, again, "a failed request is not open")
	require.Equal(t, []any{b.id}, b.request(again).At("response.contact_records"), "the address is gone, and the rest may not be")
	b.fault = nil
	require.Zero(t, b.invoke(body, 1))
	require.Equal(t, "failed", b.request(id)["status"], "another request is open")
	require.Zero(t, b.invoke(second, 1))
	require.Zero(t, b.invoke(b.posts[len(b.posts)-1].Body, 1))
	require.Equal(t, "completed", b.request(again)["status"])
	require.Equal(t, "failed", b.request(id)["status"])
	require.Equal(t, "A***@e***.org", b.request(id)["identity_value"])
	b.Put(200, b.id, object{"email": "new@example.org", "first_name": "New"})
	require.Zero(t, b.invoke(body, 1), "nothing is left to do")
	require.Equal(t, "New", b.Get(200, b.id)["first_name"])
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
	for _, bad := range []string{`{`, `{}`, `{"detail":{"org":1}}`, `{"detail":{"org":1,"record_id":"x","kind":"recording.received"}}`} {
		require.Equal(t, 1, b.invoke([]byte(bad), 1), bad)
	}
}
