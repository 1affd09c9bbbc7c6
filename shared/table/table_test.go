package table_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http/httptrace"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/engine"
	"lectern/shared/table"
)

// region is any that there is.
const region = "us-east-1"

// endpoint is the engine of all tests: a child, or the one that
// LECTERN_DYNAMODB_URL names, so that another engine is held to the same suite.
var endpoint string

func TestMain(m *testing.M) {
	e, err := engine.Start(context.Background(), engine.Config{InMemory: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	endpoint = e.URL
	code := m.Run()
	if whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""; whole {
		for _, name := range unmet() {
			fmt.Fprintf(os.Stderr, "no test looks at the known difference %q\n", name)
			code = 1
		}
	}
	if err := e.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// open makes a new table on the engine and gives a client and the table's name.
func open(t *testing.T) (table.Client, string) {
	t.Helper()
	client, err := table.Open(t.Context(), table.Config{Endpoint: endpoint, Region: region})
	require.NoError(t, err)
	name := "test-" + uuid.NewString()
	require.NoError(t, table.Create(t.Context(), client, name))
	return client, name
}

func newTable(t *testing.T) *table.Table {
	t.Helper()
	client, name := open(t)
	return table.New(client, name)
}

func key(sk string) table.Key { return table.Key{PK: "O#1", SK: sk} }

// item is an item of version 3 with some data.
func item(sk string) table.Item {
	return table.Item{Key: key(sk), Version: 3, Data: []byte(`{"name":"` + sk + `"}`)}
}

func insert(t *testing.T, tbl *table.Table, items ...table.Item) {
	t.Helper()
	for _, one := range items {
		require.NoError(t, tbl.Transact(t.Context(), table.Insert(one)))
	}
}

// fill inserts count items 0000, 0001, ... with size bytes of data each, of which the
// table stores at least three quarters.
func fill(t *testing.T, tbl *table.Table, count, size int) (keys []table.Key) {
	t.Helper()
	data := random(size)
	var writes []table.Write
	bytes := 0
	for i := range count {
		one := table.Item{Key: key(fmt.Sprintf("%04d", i)), Version: int64(i), Data: data}
		write := table.Insert(one)
		if len(writes) == table.MaxWrites || bytes+write.Size() > table.MaxBytes {
			require.NoError(t, tbl.Transact(t.Context(), writes...))
			writes, bytes = nil, 0
		}
		writes, bytes, keys = append(writes, write), bytes+write.Size(), append(keys, one.Key)
	}
	require.NoError(t, tbl.Transact(t.Context(), writes...))
	return keys
}

func TestCreateTwiceKeepsTheTable(t *testing.T) {
	client, err := table.Open(t.Context(), table.Config{Endpoint: endpoint, Region: region})
	require.NoError(t, err)
	name := "test-" + uuid.NewString()
	require.NoError(t, table.Create(t.Context(), client, name))
	tbl := table.New(client, name)
	insert(t, tbl, item("a"))
	require.NoError(t, table.Create(t.Context(), client, name))
	got, err := tbl.Get(t.Context(), key("a"))
	require.NoError(t, err)
	require.Equal(t, item("a"), got)
}

func TestOpenIgnoresTheEnvironmentOfALocalEngine(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", "/nowhere/bundle.pem")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
	client, name := open(t)
	insert(t, table.New(client, name), item("a"))
	for _, other := range []string{"", "us"} {
		client, err := table.Open(t.Context(), table.Config{Endpoint: endpoint, Region: other})
		require.NoError(t, err)
		_, err = table.New(client, name).Get(t.Context(), key("a"))
		conforms(t, "another region has other tables", err != nil)
	}
}

// TestOpenTakesTheEnvironmentOfAWS is the way of a Lambda, and of an emulator that
// is named to it by AWS_ENDPOINT_URL. AWS_ENDPOINT_URL_DYNAMODB comes before it.
func TestOpenTakesTheEnvironmentOfAWS(t *testing.T) {
	_, name := open(t)
	t.Setenv("AWS_REGION", region)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	use := func(id string) {
		client, err := table.Open(t.Context(), table.Config{})
		require.NoError(t, err)
		insert(t, table.New(client, name), item(id))
	}
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	use("a")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint)
	use("b")
}

// TestCallsKeepTheirConnection makes calls one after another; each finds the
// connection of the one before.
func TestCallsKeepTheirConnection(t *testing.T) {
	tbl := newTable(t)
	big := item("a")
	big.Data = bytes.Repeat([]byte("x"), 5000)
	insert(t, tbl, big)
	fresh := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if !c.Reused {
			fresh++
		}
	}})
	for range 2000 {
		_, err := tbl.Get(ctx, key("a"))
		require.NoError(t, err)
	}
	conforms(t, "a connection is kept over 2,000 calls", fresh == 0, fresh, " new ones")
}

func TestKeysBeginWithTheirTenant(t *testing.T) {
	require.Equal(t, "O#7", table.Org(7))
	require.Equal(t, "O#7#E#42", table.Event(7, 42))
}

func TestEngineThatDoesNotAnswerIsBusy(t *testing.T) {
	client, err := table.Open(t.Context(), table.Config{Endpoint: "http://127.0.0.1:9", Region: region})
	require.NoError(t, err)
	tbl := table.New(client, "none")
	_, err = tbl.Get(t.Context(), key("a"))
	require.ErrorIs(t, err, table.ErrBusy)
	err = tbl.Transact(t.Context(), table.Put(item("a")))
	require.ErrorIs(t, err, table.ErrBusy)
	require.NotErrorIs(t, err, table.ErrInDoubt, "nothing was sent")
}

func TestCanceledCallEndsAtOnce(t *testing.T) {
	tbl := newTable(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tbl.Get(ctx, key("a"))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, tbl.Transact(ctx, table.Put(item("a"))), context.Canceled)
}

func TestWritesSurviveTheKillOfTheEngine(t *testing.T) {
	t.Setenv(engine.EnvURL, "")
	dir := t.TempDir()
	first, err := engine.Start(t.Context(), engine.Config{Dir: dir})
	require.NoError(t, err)
	client, err := table.Open(t.Context(), table.Config{Endpoint: first.URL, Region: region})
	require.NoError(t, err)
	require.NoError(t, table.Create(t.Context(), client, "lectern"))
	insert(t, table.New(client, "lectern"), item("a"), item("b"))
	require.NoError(t, first.Kill())

	second, err := engine.Start(t.Context(), engine.Config{Dir: dir})
	require.NoError(t, err)
	defer func() { require.NoError(t, second.Stop()) }()
	client, err = table.Open(t.Context(), table.Config{Endpoint: second.URL, Region: region})
	require.NoError(t, err)
	got, err := table.New(client, "lectern").GetMany(t.Context(), []table.Key{key("a"), key("b")})
	require.NoError(t, err)
	require.Len(t, got, 2)
}

// at sets the table's clock to a Unix second.
func at(tbl *table.Table, second int64) { tbl.Now = func() time.Time { return time.Unix(second, 0) } }
