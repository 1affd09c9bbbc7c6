package sweeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	org    = 7
	large  = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30"
	small  = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e40"
	person = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31"
)

var noon = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)

// bench is a sweeper on a new table, with a clock and a queue that can fail.
type bench struct {
	*testing.T
	*Sweeper
	now   time.Time
	log   bytes.Buffer
	sends [][]delivery.Task
	added int
	// fails is the group whose posts fail. Of one invocation, after most sends the time is over.
	fails string
	most  int
	sweep *sweep
}

func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, now: noon}
	clock := func() time.Time { return b.now }
	tbl := tabletest.Start(t)
	tbl.Now = clock
	b.Sweeper = New(tbl, clock, api.NewLog(&b.log), b)
	return b
}

// Send records the tasks of posts.
func (b *bench) Send(_ context.Context, posts ...bus.Post) error {
	var tasks []delivery.Task
	for _, p := range posts {
		if p.Group == b.fails {
			return errors.New("the queue refuses " + p.Group)
		}
		var t delivery.Task
		require.NoError(b, json.Unmarshal(p.Body, &t))
		tasks = append(tasks, t)
	}
	b.sends = append(b.sends, tasks)
	if len(b.sends) == b.most {
		b.sweep.until = time.Now()
	}
	return nil
}

// Render renders a body without content.
func (b *bench) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"metadata":{` + delivery.Place), nil
}

// add adds n deliveries to an endpoint, and returns their ids.
func (b *bench) add(endpoint string, n int) (ids []string) {
	b.Helper()
	for range n {
		b.added++
		m := bus.Message{
			Change: uuid.NewString(), At: wire.At(noon), Org: org, Kind: "contact.updated", Sequence: int64(b.added), Type: "contact", RecordID: person,
		}
		added, err := b.store.Add(b.Context(), m, []delivery.Target{{Endpoint: endpoint, Form: "thin"}}, b)
		require.NoError(b, err)
		ids = append(ids, added.Tasks[0].ID)
	}
	return ids
}

// redeliver makes deliveries due now.
func (b *bench) redeliver(endpoint string, ids []string) {
	b.Helper()
	for _, id := range ids {
		_, err := b.store.Redeliver(b.Context(), org, endpoint, id)
		require.NoError(b, err)
	}
}

// replay makes a replay of all deliveries of an endpoint due now.
func (b *bench) replay(endpoint string) {
	b.Helper()
	f := delivery.Filter{Since: noon.Add(-time.Hour), Until: noon.Add(time.Hour)}
	require.NoError(b, b.store.Replay(b.Context(), org, endpoint, f))
}

// invoke makes an invocation whose time is over after most sends; 0 is never. It returns the tasks
// of each send.
func (b *bench) invoke(most int) (sends [][]delivery.Task, err error) {
	b.Helper()
	b.sends, b.most, b.sweep = nil, most, b.begin(time.Now().Add(time.Minute))
	b.log.Reset()
	b.sweep.run(b.Context())
	b.sweep.note(b.Context())
	for _, tasks := range b.sends {
		if len(tasks) > 0 {
			sends = append(sends, tasks)
		}
	}
	return sends, b.sweep.failed
}

// mark returns the minute after noon with which the next invocation begins.
func (b *bench) mark() int64 {
	b.Helper()
	p, _, err := b.store.Begin(b.Context())
	require.NoError(b, err)
	return p.Minute - noon.Unix()/60
}

// shape returns the mode, the endpoint and the number of the tasks of each send.
func shape(sends [][]delivery.Task) (all []string) {
	names := map[string]string{large: "large", small: "small"}
	for _, tasks := range sends {
		all = append(all, fmt.Sprintf("%s %s %d", tasks[0].Mode, names[tasks[0].Endpoint], len(tasks)))
	}
	return all
}

// TestAReplayDelaysNoTask, and no other replay: the tasks of all minutes come first, and then one
// part of each replay in rotation.
func TestAReplayDelaysNoTask(t *testing.T) {
	b := start(t)
	b.add(large, 250)
	ids := b.add(small, 10)
	b.replay(large)
	b.redeliver(small, ids[:2])
	b.now = noon.Add(time.Minute)
	b.replay(small)
	b.redeliver(small, ids[2:5])
	b.now = noon.Add(10 * time.Minute)
	sends, err := b.invoke(5)
	require.NoError(t, err)
	require.Equal(t, []string{"redelivery small 2", "redelivery small 3", "replay large 100", "replay small 10", "replay large 100"}, shape(sends))
	require.EqualValues(t, 8, b.mark(), "each replay went on to the minute of now")
	sends, err = b.invoke(0)
	require.NoError(t, err)
	require.Equal(t, []string{"replay large 50"}, shape(sends))
	sends, err = b.invoke(0)
	require.NoError(t, err)
	require.Empty(t, sends)
	require.Empty(t, b.log.String())
}

// TestAReplayWithoutATurn keeps its minute.
func TestAReplayWithoutATurn(t *testing.T) {
	b := start(t)
	b.redeliver(small, b.add(small, 3))
	b.replay(small)
	b.now = noon.Add(10 * time.Minute)
	sends, err := b.invoke(1)
	require.NoError(t, err)
	require.Equal(t, []string{"redelivery small 3"}, shape(sends))
	require.LessOrEqual(t, b.mark(), int64(0))
	sends, err = b.invoke(0)
	require.NoError(t, err)
	require.Equal(t, []string{"replay small 3"}, shape(sends))
	require.EqualValues(t, 8, b.mark())
}

// TestTheProgressOfAMinuteIsKept: an invocation without time for all tasks removes the due items of
// the tasks that it sent, and does not mark the minute.
func TestTheProgressOfAMinuteIsKept(t *testing.T) {
	b := start(t)
	b.redeliver(large, b.add(large, 250))
	b.now = noon.Add(10 * time.Minute)
	found := map[string]int{}
	for _, c := range []struct {
		most int
		want []string
		mark int64
	}{
		{1, []string{"redelivery large 100"}, 0},
		{1, []string{"redelivery large 100"}, 0},
		{0, []string{"redelivery large 50"}, 8},
	} {
		sends, err := b.invoke(c.most)
		require.NoError(t, err)
		require.Equal(t, c.want, shape(sends))
		require.Equal(t, c.mark, b.mark())
		for _, task := range sends[0] {
			found[task.ID]++
		}
	}
	require.Len(t, found, 250)
}

// TestAFailedReplay keeps no task and no other replay from being sent, and keeps its minute.
func TestAFailedReplay(t *testing.T) {
	b := start(t)
	b.add(large, 3)
	ids := b.add(small, 3)
	b.replay(large)
	b.replay(small)
	b.redeliver(small, ids)
	b.now = noon.Add(10 * time.Minute)
	b.fails = large
	sends, err := b.invoke(0)
	require.ErrorContains(t, err, "the queue refuses")
	require.Equal(t, []string{"redelivery small 3", "replay small 3"}, shape(sends))
	require.Contains(t, b.log.String(), `"metric":"sweep_failed"`)
	require.EqualValues(t, 0, b.mark())
	b.fails = ""
	sends, err = b.invoke(0)
	require.NoError(t, err)
	require.Equal(t, []string{"replay large 3"}, shape(sends))
	require.EqualValues(t, 8, b.mark())
}

// TestDamagedItems are counted in the log, and keep neither their minute nor other items.
func TestDamagedItems(t *testing.T) {
	b := start(t)
	ids := b.add(small, 5)
	b.redeliver(small, ids[:2])
	b.replay(small)
	for _, key := range []table.Key{
		{PK: fmt.Sprintf("D#%d#3", noon.Unix()/60), SK: "0#1"},
		{PK: table.Org(org) + "#W#" + small + "#20270501", SK: ids[4]},
	} {
		require.NoError(t, b.store.Table.Transact(t.Context(), table.Put(table.Item{Key: key, Version: 1, Data: []byte("{")})))
	}
	b.now = noon.Add(10 * time.Minute)
	sends, err := b.invoke(0)
	require.NoError(t, err)
	require.Equal(t, []string{"redelivery small 2", "replay small 4"}, shape(sends))
	require.EqualValues(t, 8, b.mark())
	require.Contains(t, b.log.String(), `"damaged":2`)
	require.Contains(t, b.log.String(), `"metric":"sweep_failed"`)
	require.Contains(t, b.log.String(), "0#1")
	sends, err = b.invoke(0)
	require.NoError(t, err)
	require.Empty(t, sends)
	require.Empty(t, b.log.String())
}
