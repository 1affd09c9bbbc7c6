package recorder_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/engine"
	"lectern/localstack/local/recorder"
	"lectern/shared/table"
)

const region = "us-east-1"

// start starts an engine with a door of a recorder in front, and gives a table as the
// function of a group calls it.
func start(t *testing.T, r *recorder.Recorder) *table.Table {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	direct, err := table.Open(t.Context(), table.Config{Endpoint: e.URL, Region: region})
	require.NoError(t, err)
	require.NoError(t, table.Create(t.Context(), direct, "lectern"))
	door, err := r.Open(e.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, door.Close()) })
	client, err := table.Open(t.Context(), table.Config{Endpoint: door.Address("talks"), Region: region})
	require.NoError(t, err)
	return table.New(client, "lectern")
}

func at(pk string) table.Key { return table.Key{PK: pk, SK: "-"} }

// use makes every kind of call.
func use(t *testing.T, to *table.Table) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, to.Transact(ctx, table.Insert(table.Item{Key: at("O#1"), Version: 1, Data: []byte(`{"a":"é"}`)}), table.Bump(at("N#id"), 1)))
	require.NoError(t, to.Transact(ctx, table.Version(at("O#1"), 1), table.Put(table.Item{Key: at("plain"), Version: 1, Data: []byte("{}")})))
	require.NoError(t, to.Transact(ctx, table.Remove(at("plain"), 1)))
	item, err := to.Get(ctx, at("O#1"))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":"é"}`, string(item.Data))
	found, err := to.GetMany(ctx, []table.Key{at("O#1"), at("E#1#x")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	count, ok, err := to.AddWithin(ctx, at("L#1"), 1, 5, 4_000_000_000)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 1, count)
	versions, err := to.Versions(ctx, "Q#1", "-", "~")
	require.NoError(t, err)
	require.Empty(t, versions)
}

// used are the lines of what use needs.
var used = []string{
	"talks\tdynamodb:BatchGetItem\tE#*", "talks\tdynamodb:BatchGetItem\tO#*", "talks\tdynamodb:ConditionCheckItem\tO#*",
	"talks\tdynamodb:DeleteItem\tplain*", "talks\tdynamodb:GetItem\tO#*", "talks\tdynamodb:PutItem\tO#*", "talks\tdynamodb:Query\tQ#*",
	"talks\tdynamodb:UpdateItem\tL#*", "talks\tdynamodb:UpdateItem\tN#*", "talks\tdynamodb:UpdateItem\tplain*",
}

func lines(r *recorder.Recorder) (all []string) {
	for _, p := range r.Used() {
		all = append(all, p.String())
	}
	return all
}

func TestEveryCallIsNotedAndDone(t *testing.T) {
	r := recorder.New(nil)
	use(t, start(t, r))
	require.Equal(t, used, lines(r))
}

// TestARefusedPermission: calls that need it are answered as AWS does and not done,
// each part of a transaction counts, and others go on.
func TestARefusedPermission(t *testing.T) {
	refused, ok := recorder.Parse("talks\tdynamodb:PutItem\tO#*")
	require.True(t, ok)
	r := recorder.New(&refused)
	to := start(t, r)
	err := to.Transact(t.Context(), table.Bump(at("O#2"), 1), table.Insert(table.Item{Key: at("O#1"), Version: 1, Data: []byte("{}")}))
	require.ErrorContains(t, err, "AccessDeniedException")
	_, err = to.Get(t.Context(), at("O#2"))
	require.ErrorIs(t, err, table.ErrNotFound)
	require.Equal(t, 1, r.Refusals())
	require.Equal(t, []string{"talks\tdynamodb:GetItem\tO#*"}, lines(r))
}

// TestWhatIsKeptInAFile is the union of what stood there and what was noted, in order.
func TestWhatIsKeptInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "permissions")
	require.NoError(t, recorder.New(nil).Keep(path))
	kept, err := recorder.Read(path)
	require.NoError(t, err)
	require.Empty(t, kept)
	require.NoError(t, os.WriteFile(path, []byte("zebra\tdynamodb:Query\tO#*\n"+used[4]+"\n"), 0o600))
	r := recorder.New(nil)
	use(t, start(t, r))
	require.NoError(t, r.Keep(path))
	require.NoError(t, r.Keep(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Join(used, "\n")+"\nzebra\tdynamodb:Query\tO#*\n", string(text))
	require.NoError(t, os.WriteFile(path, []byte("no permission\n"), 0o600))
	require.ErrorContains(t, r.Keep(path), "no permission")
}

// TestTheWireStaysAsItWas: the engine is sent, and the function gets, the same bytes.
func TestTheWireStaysAsItWas(t *testing.T) {
	const sent, answer = `{"TableName": "t",  "Key": {"PK": {"S": "O#1"}}}`, `{"Item" : {}}`
	const signed = "AWS4-HMAC-SHA256 Credential=key/20270501/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // What is missing is seen below.
		if string(body) != sent || r.URL.Path != "/" || r.Header.Get("Authorization") != signed || r.Header.Get("X-Forwarded-For") != "" {
			w.WriteHeader(http.StatusTeapot)
		}
		w.Header().Set("X-Amz-Crc32", "7")
		_, _ = io.WriteString(w, answer) // What is missing is seen below.
	}))
	door, err := recorder.New(nil).Open(far.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, door.Close()) })
	call := func() (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, door.Address("talks")+"/", strings.NewReader(sent))
		require.NoError(t, err)
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
		request.Header.Set("Authorization", signed)
		return http.DefaultClient.Do(request)
	}
	got, err := call()
	require.NoError(t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, answer, string(text))
	require.Equal(t, "7", got.Header.Get("X-Amz-Crc32"))
	far.Close()
	lost, err := call()
	if err == nil {
		_ = lost.Body.Close() // It is what fails the test.
	}
	require.Error(t, err, "an engine that is gone does not answer")
}
