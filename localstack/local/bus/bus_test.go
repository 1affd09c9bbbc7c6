package bus_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	workers "lectern/events"
	"lectern/localstack/local/bus"
	shared "lectern/shared/bus"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// soon is the longest wait for what happens at once.
const soon = 10 * time.Second

// clock is the real clock, moved ahead.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// bench is a local bus with the clients of AWS.
type bench struct {
	*bus.Bus
	*clock
	places *shared.Places
	sqs    *sqs.Client
	config bus.Config
}

// open opens a bus on a folder; an empty one keeps all in memory.
func open(t *testing.T, dir string) bench {
	t.Helper()
	moved := &clock{}
	return openWith(t, bus.Config{
		Region: "us", AWSRegion: "us-east-1", Dir: dir, Rules: workers.Rules, Workers: workers.Workers,
		Log: slog.New(slog.DiscardHandler), Now: moved.now,
	}, moved)
}

func openWith(t *testing.T, c bus.Config, moved *clock) bench {
	t.Helper()
	b, err := bus.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Stop()) })
	client := sqs.New(sqs.Options{
		BaseEndpoint: &b.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: table.HTTPClient(nil),
	})
	return bench{b, moved, shared.Local(bus.At(b.URL, c)), client, c}
}

// url returns the URL of a queue as the service gives it.
func (b bench) url(t *testing.T, name string) *string {
	t.Helper()
	answer, err := b.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("lectern-us-" + name)})
	require.NoError(t, err)
	return answer.QueueUrl
}

// send sends posts through the service's own client.
func (b bench) send(t *testing.T, queue string, posts ...shared.Post) {
	t.Helper()
	q, err := b.places.Queue(queue)
	require.NoError(t, err)
	require.NoError(t, q.Send(t.Context(), posts...))
}

// receive returns up to ten messages.
func (b bench) receive(t *testing.T, queue string) []types.Message {
	t.Helper()
	answer, err := b.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: b.url(t, queue), MaxNumberOfMessages: 10, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	require.NoError(t, err)
	return answer.Messages
}

// drop deletes a message.
func (b bench) drop(t *testing.T, queue string, m types.Message) {
	t.Helper()
	_, err := b.sqs.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: b.url(t, queue), ReceiptHandle: m.ReceiptHandle})
	require.NoError(t, err)
}

// counts returns the numbers of messages that are ready, in flight and delayed.
func (b bench) counts(t *testing.T, queue string) [3]string {
	t.Helper()
	answer, err := b.sqs.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: b.url(t, queue), AttributeNames: []types.QueueAttributeName{"All"},
	})
	require.NoError(t, err)
	a := answer.Attributes
	return [3]string{a["ApproximateNumberOfMessages"], a["ApproximateNumberOfMessagesNotVisible"], a["ApproximateNumberOfMessagesDelayed"]}
}

func posts(group string, bodies ...string) (all []shared.Post) {
	for _, b := range bodies {
		all = append(all, shared.Post{Body: []byte(b), Group: group})
	}
	return all
}

func bodies(messages []types.Message) (all []string) {
	for _, m := range messages {
		all = append(all, *m.Body)
	}
	return all
}

// TestAMessageIsDelayedAndHidden: it is handed out again, with a new receipt, until it is deleted.
func TestAMessageIsDelayedAndHidden(t *testing.T) {
	b := open(t, "")
	b.send(t, "deliveries", shared.Post{Body: []byte("later"), Delay: 5 * time.Second})
	require.Empty(t, b.receive(t, "deliveries"))
	require.Equal(t, [3]string{"0", "0", "1"}, b.counts(t, "deliveries"))
	b.advance(5 * time.Second)
	first := b.receive(t, "deliveries")
	require.Equal(t, []string{"later"}, bodies(first))
	require.Equal(t, [3]string{"0", "1", "0"}, b.counts(t, "deliveries"))
	b.advance(6*time.Minute - 5*time.Second)
	require.Empty(t, b.receive(t, "deliveries"))
	b.advance(5 * time.Second)
	again := b.receive(t, "deliveries")
	require.Equal(t, []string{"later"}, bodies(again))
	require.Equal(t, "2", again[0].Attributes["ApproximateReceiveCount"])
	b.drop(t, "deliveries", first[0])
	require.Equal(t, [3]string{"0", "1", "0"}, b.counts(t, "deliveries"), "an old receipt deletes nothing")
	b.drop(t, "deliveries", again[0])
	require.Equal(t, [3]string{"0", "0", "0"}, b.counts(t, "deliveries"))
}

func TestAMessageGoesToTheDeadLettersAfterFiveReceives(t *testing.T) {
	b := open(t, t.TempDir())
	b.send(t, "webhooks", posts("g", "bad")...)
	for range 5 {
		require.Len(t, b.receive(t, "webhooks"), 1)
		b.advance(3 * time.Minute)
	}
	require.Empty(t, b.receive(t, "webhooks"))
	require.Equal(t, [3]string{"1", "0", "0"}, b.counts(t, "webhooks-dead"))
	dead := openWith(t, b.config, b.clock).receive(t, "webhooks-dead")
	require.Equal(t, []string{"bad"}, bodies(dead))
	require.Equal(t, "g", dead[0].Attributes["MessageGroupId"])
}

// TestTheGroupWithTheFewestInFlightComesFirst, and a group has ten in flight while another waits.
func TestTheGroupWithTheFewestInFlightComesFirst(t *testing.T) {
	b := open(t, "")
	loud := make([]string, 40)
	for i := range loud {
		loud[i] = "loud"
	}
	b.send(t, "deliveries", posts("loud", loud...)...)
	require.Len(t, b.receive(t, "deliveries"), 10)
	b.send(t, "deliveries", posts("quiet", "quiet")...)
	b.send(t, "deliveries", posts("calm", "calm")...)
	require.ElementsMatch(t, []string{"quiet", "calm"}, bodies(b.receive(t, "deliveries"))[:2])
	b.send(t, "deliveries", posts("quiet", make20("quiet")...)...)
	require.Equal(t, make20("quiet")[:9], bodies(b.receive(t, "deliveries"))[:9], "loud has more in flight")
}

func make20(text string) []string {
	return strings.Split(strings.TrimSpace(strings.Repeat(text+" ", 20)), " ")
}

// TestAHungReceiverLeavesRoom: consumers that hang with messages of some groups do not hold up a
// new group.
func TestAHungReceiverLeavesRoom(t *testing.T) {
	b := open(t, "")
	release, handled := make(chan struct{}), make(chan string, 1000)
	var hung, most atomic.Int64
	handler := func(_ context.Context, payload json.RawMessage) (json.RawMessage, error) {
		var event events.SQSEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		for _, m := range event.Records {
			handled <- m.Body
		}
		if event.Records[0].Body == "hangs" {
			if n := hung.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-release
			hung.Add(-1)
		}
		return json.RawMessage(`{}`), nil
	}
	require.NoError(t, b.Run(bus.Sources{Handlers: map[string]bus.Handler{workers.Deliverer: handler}}))
	defer close(release)
	for range 12 {
		for _, group := range []string{"a", "b", "c", "d", "e", "f"} {
			// One by one, so that each invocation gets a message and hangs with it.
			before := hung.Load()
			b.send(t, "deliveries", posts(group, "hangs")...)
			require.Eventually(t, func() bool { return hung.Load() > before || hung.Load() >= 40 }, soon, time.Millisecond)
		}
	}
	require.LessOrEqual(t, most.Load(), int64(40), "a fifth of 50 invocations is kept")
	for len(handled) > 0 {
		<-handled
	}
	for _, group := range []string{"new", "newer", "newest"} {
		b.send(t, "deliveries", posts(group, group)...)
		select {
		case got := <-handled:
			require.Equal(t, group, got)
		case <-time.After(soon):
			require.Fail(t, "the new group waits for the hung ones")
		}
	}
}

// TestWhatAWorkerReportsIsHandedOutAgain, and the rest of the batch is deleted.
func TestWhatAWorkerReportsIsHandedOutAgain(t *testing.T) {
	b := open(t, "")
	var mu sync.Mutex
	seen := map[string]int{}
	handler := func(_ context.Context, payload json.RawMessage) (json.RawMessage, error) {
		var event events.SQSEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		var answer events.SQSEventResponse
		mu.Lock()
		defer mu.Unlock()
		for _, m := range event.Records {
			if seen[m.Body]++; m.Body == "bad" {
				answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
			if m.Body == "panics" {
				panic("a bug")
			}
		}
		return json.Marshal(answer)
	}
	require.NoError(t, b.Run(bus.Sources{Handlers: map[string]bus.Handler{workers.Matcher: handler}}))
	b.send(t, "webhooks", posts("", "bad", "good", "fine")...)
	b.send(t, "webhooks", posts("other", "panics")...)
	require.Eventually(t, func() bool {
		b.advance(6 * time.Second)
		b.send(t, "webhooks", posts("wakes the consumer", "fine")...)
		return b.counts(t, "webhooks-dead")[0] == "2"
	}, soon, 20*time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 5, seen["bad"])
	require.Equal(t, 5, seen["panics"])
	require.Equal(t, 1, seen["good"])
}

func TestTheScheduleInvokesEachSecond(t *testing.T) {
	b := open(t, "")
	ticks := make(chan time.Time, 10)
	require.NoError(t, b.Run(bus.Sources{Handlers: map[string]bus.Handler{
		workers.Sweeper: func(context.Context, json.RawMessage) (json.RawMessage, error) { ticks <- time.Now(); return nil, nil },
	}}))
	first, second := <-ticks, <-ticks
	require.InDelta(t, 1, second.Sub(first).Seconds(), 0.9)
}

// TestAKillLosesNothing: the first bus is dropped without a stop.
func TestAKillLosesNothing(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.send(t, "deliveries", posts("a", "1", "2", "3")...)
	b.send(t, "deliveries", shared.Post{Body: []byte("later"), Group: "b", Delay: 10 * time.Minute})
	b.send(t, "webhooks", posts("", "other queue")...)
	got := b.receive(t, "deliveries")
	require.Len(t, got, 3)
	b.drop(t, "deliveries", got[1])

	// The kill also cuts the line of a message whose call was not answered.
	file, err := os.OpenFile(filepath.Join(dir, "queues.journal"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"queue":"deliveries","message":{"id":"cut`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	again := open(t, dir)
	require.Equal(t, [3]string{"2", "0", "1"}, again.counts(t, "deliveries"))
	left := again.receive(t, "deliveries")
	require.ElementsMatch(t, []string{*got[0].Body, *got[2].Body}, bodies(left))
	require.Equal(t, "2", left[0].Attributes["ApproximateReceiveCount"], "a message that ends the process goes to the dead letters too")
	require.Equal(t, []string{"other queue"}, bodies(again.receive(t, "webhooks")))
	again.advance(10 * time.Minute)
	require.Contains(t, bodies(again.receive(t, "deliveries")), "later")
}

func TestADamagedJournalIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queues.journal"), []byte("{}\nno line\n"), 0o600))
	_, err := bus.Open(bus.Config{Region: "us", Dir: dir, Workers: workers.Workers, Now: time.Now})
	require.ErrorContains(t, err, "queues.journal: line 2 is damaged")
}

// TestTheJournalStaysSmall: what has left the queues leaves the file.
func TestTheJournalStaysSmall(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.send(t, "deliveries", shared.Post{Body: []byte("stays"), Delay: time.Minute})
	long := strings.Repeat("x", 100<<10)
	for range 30 {
		b.send(t, "deliveries", posts("", long, long, long)...)
		for _, m := range b.receive(t, "deliveries") {
			b.drop(t, "deliveries", m)
		}
	}
	require.Equal(t, [3]string{"0", "0", "1"}, b.counts(t, "deliveries"))
	info, err := os.Stat(filepath.Join(dir, "queues.journal"))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(5<<20))
	again := open(t, dir)
	require.Equal(t, [3]string{"0", "0", "1"}, again.counts(t, "deliveries"))
	info, err = os.Stat(filepath.Join(dir, "queues.journal"))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(1<<10))
}

// message returns a message of a kind.
func message(kind string) shared.Message {
	return shared.Message{Change: "c", At: wire.At(time.Now()), Org: 1 << 60, Kind: kind, Sequence: 3, Type: "session", RecordID: "s", Version: 7}
}

// TestRulesSendTheirKinds: an event of another kind goes nowhere. The reader gets the message as it
// was sent.
func TestRulesSendTheirKinds(t *testing.T) {
	b := open(t, "")
	to, err := b.places.Bus()
	require.NoError(t, err)
	var messages []shared.Message
	for range 12 {
		messages = append(messages, message("session.updated"), message("rule.updated"))
	}
	refused, err := to.Publish(t.Context(), messages)
	require.NoError(t, err)
	require.Empty(t, refused)
	require.Equal(t, [3]string{"12", "0", "0"}, b.counts(t, "webhooks"))
	for _, m := range b.receive(t, "webhooks") {
		got, err := shared.Published([]byte(*m.Body))
		require.NoError(t, err)
		require.Equal(t, "session.updated", got.Kind)
		require.Equal(t, int64(1<<60), got.Org)
	}
}

// TestRefusedEntriesAreReportedByIndex, and hold up no other.
func TestRefusedEntriesAreReportedByIndex(t *testing.T) {
	b := open(t, "")
	to, err := b.places.Bus()
	require.NoError(t, err)
	messages := make([]shared.Message, 13)
	for i := range messages {
		messages[i] = message("session.updated")
	}
	messages[3].Kind, messages[12].Kind = "", ""
	refused, err := to.Publish(t.Context(), messages)
	require.ErrorContains(t, err, "InvalidArgument")
	require.Equal(t, []int{3, 12}, refused)
	require.Equal(t, [3]string{"11", "0", "0"}, b.counts(t, "webhooks"))

	gone := bus.At(b.URL, b.config)
	gone.Bus = "another"
	to, err = shared.Local(gone).Bus()
	require.NoError(t, err)
	refused, err = to.Publish(t.Context(), messages[:2])
	require.ErrorContains(t, err, `there is no bus "another"`)
	require.Equal(t, []int{0, 1}, refused)
}

func TestMistakesOfCallers(t *testing.T) {
	b := open(t, "")
	_, err := b.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("lectern-us-none")})
	require.ErrorAs(t, err, new(*types.QueueDoesNotExist))
	_, err = b.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: b.url(t, "webhooks"), MessageBody: aws.String("x"), DelaySeconds: 901})
	require.ErrorContains(t, err, "the delay is from 0 to 900 seconds")
	_, err = b.sqs.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: b.url(t, "webhooks")})
	require.ErrorContains(t, err, "is no call of the local bus")
	q, err := b.places.Queue("webhooks")
	require.NoError(t, err)
	require.ErrorIs(t, q.Send(t.Context(), shared.Post{}), shared.ErrPermanent)
	_, err = b.places.Queue("none")
	require.ErrorIs(t, err, shared.ErrUnnamed)
	require.Equal(t, []string{"deliveries", "webhooks", "work"}, b.places.Redrivable())
}

// TestLongMessagesAreSentInSeveralCalls: a call has at most 1 MB and ten messages.
func TestLongMessagesAreSentInSeveralCalls(t *testing.T) {
	b := open(t, "")
	long := strings.Repeat("x", 400<<10)
	b.send(t, "webhooks", posts("", long, long, long, "short", long)...)
	b.send(t, "webhooks", posts("", make20("short")...)...)
	require.Equal(t, [3]string{"25", "0", "0"}, b.counts(t, "webhooks"))
}

// TestTheMasterKeyStays, and only its owner may read the file.
func TestTheMasterKeyStays(t *testing.T) {
	dir := t.TempDir()
	load := func() string {
		b := open(t, dir)
		t.Setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", b.URL)
		t.Setenv("AWS_REGION", "us-east-1")
		t.Setenv("AWS_ACCESS_KEY_ID", "local")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "local")
		key, err := (&secret.Manager{Secret: bus.Secret("us")}).Load(t.Context())
		require.NoError(t, err)
		_, err = (&secret.Manager{Secret: "lectern/eu/keys"}).Load(t.Context())
		require.ErrorContains(t, err, "ResourceNotFoundException")
		return string(key)
	}
	key := load()
	require.Len(t, key, 64)
	require.Equal(t, key, load())
	info, err := os.Stat(filepath.Join(dir, "master.key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	other, err := bus.MasterKey(t.TempDir())
	require.NoError(t, err)
	require.NotEqual(t, key, other)
	_, err = (&secret.Manager{}).Load(t.Context())
	require.ErrorIs(t, err, secret.ErrUnnamed)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "master.key"), []byte("short"), 0o600))
	_, err = bus.MasterKey(dir)
	require.ErrorContains(t, err, "has 5 bytes")
}
