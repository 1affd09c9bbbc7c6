package changes_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	lambda "github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/events/publisher"
	local "lectern/localstack/local/bus"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/webhook"
)

// automations is the name of the rule and of the queue for automations.
const automations = "automations"

// ruled is a bus with the rules of a region and a rule for automations. No worker reads the queues.
type ruled struct {
	places *bus.Places
	log    *stacktest.Log
}

// newRuled starts the bus. Its publisher follows the changes of the service.
func newRuled(t *testing.T, s *stacktest.Stack) *ruled {
	t.Helper()
	rule := events.Rule{
		Name: automations, Queue: automations,
		Pattern: events.Pattern{"source": []string{bus.Source}, "detail-type": []string{bus.FieldsChanged}},
	}
	worker := events.Worker{Name: automations, Memory: 256, Seconds: 30, Source: events.Queue, From: automations, Messages: 10, Instances: 10}
	c := local.Config{
		Region: "us", AWSRegion: "us-east-1", Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Rules: append(slices.Clone(events.Rules), rule), Workers: append(slices.Clone(events.Workers), worker),
	}
	require.NoError(t, events.Check(c.Workers, c.Rules))
	b, err := local.Open(c)
	require.NoError(t, err)
	r := &ruled{bus.Local(local.At(b.URL, c)), &stacktest.Log{}}
	p, err := publisher.Start(r.places, slog.New(slog.NewJSONHandler(r.log, nil)))
	require.NoError(t, err)
	invoke := func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
		var event lambda.DynamoDBEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		answer, err := p.Invoke(ctx, event)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	}
	require.NoError(t, b.Run(local.Sources{
		Table: s.Table(t), Poll: 50 * time.Millisecond, Handlers: map[string]local.Handler{events.Publisher: invoke},
	}))
	t.Cleanup(func() { require.NoError(t, b.Stop()) })
	return r
}

// received returns the messages of a queue.
func (r *ruled) received(t *testing.T, queue string) (all []bus.Message) {
	t.Helper()
	q, err := r.places.Queue(queue)
	require.NoError(t, err)
	for {
		messages, err := q.Receive(t.Context(), 10)
		require.NoError(t, err)
		if len(messages) == 0 {
			return all
		}
		for _, m := range messages {
			got, err := bus.Published(m.Body)
			require.NoError(t, err)
			all = append(all, got)
		}
	}
}

// TestAnUpdateOfAContactIsAnEventForAutomations, with all changed fields, beside the messages for
// webhooks. Other writes make no such event.
func TestAnUpdateOfAContactIsAnEventForAutomations(t *testing.T) {
	s := stacktest.Start(t)
	r := newRuled(t, s)
	c := &it.Contacts{Client: &it.Client{Stack: s, T: t}}
	badge, seat := c.NewField("Badge", "text", it.GlobalScope), c.NewField("Seat", "text")
	id := c.Create(200, object{"email": "ada@x.org", "title": "Countess"}).ID()
	updated := c.Put(200, id, object{"title": "Analyst", "company": "Engines", "custom_fields": object{badge: "B", seat: "1"}})
	c.Put(200, id, object{"title": "Analyst"})
	c.Put(200, id, object{})
	c.Delete(200, id)
	c.Restore(200, id)
	c.InNewEvent().Create(200, object{"email": "ada@x.org", "title": "Speaker"})
	c.Bulk(it.Updating(id, object{"custom_fields": object{seat: nil}}))
	_, messages := kinds(t, s)
	require.Eventually(t, func() bool { return published(r.log) == messages }, soon, 10*time.Millisecond)

	changed := r.received(t, automations)
	slices.SortFunc(changed, func(a, b bus.Message) int { return int(a.Version - b.Version) })
	require.Len(t, changed, 3)
	require.ElementsMatch(t, []string{"company_name", "title", "custom_fields." + badge, "custom_fields." + seat}, changed[0].Fields)
	require.Equal(t, [][]string{{"title"}, {"custom_fields." + seat}}, [][]string{changed[1].Fields, changed[2].Fields})
	for _, m := range changed {
		require.Equal(t, []any{bus.FieldsChanged, "contact", id, s.Org}, []any{m.Kind, m.Type, m.RecordID, m.Org})
		require.Equal(t, []any{change.SourceAPI, change.ActorToken, s.Member}, []any{m.Source, m.Actor.Type, m.Actor.ID})
		require.Zero(t, m.Sequence)
	}
	require.Equal(t, updated["updated_at"], changed[0].At.String())
	require.Equal(t, s.Event, changed[0].Event)

	var sequences []int64
	var beside []string
	for _, m := range r.received(t, events.Webhooks) {
		require.Contains(t, webhook.Kinds, m.Kind)
		sequences = append(sequences, m.Sequence)
		if m.Change == changed[0].Change {
			beside = append(beside, m.Kind)
		}
	}
	require.Equal(t, []string{"contact.updated", "contact.updated"}, beside, "one for standard and one for custom fields")
	slices.Sort(sequences)
	for i, sequence := range sequences {
		require.EqualValues(t, i+1, sequence, "no gap")
	}
	require.Len(t, sequences, messages-len(changed))
}
