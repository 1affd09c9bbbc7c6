package batteries_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// rivals holds the next two transactions until both are planned. It then does the one
// and loses the first try of the other before that is done.
type rivals struct {
	table.Client
	mu      sync.Mutex
	waiting int
	both    chan struct{}
	done    chan struct{}
}

func (r *rivals) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r.mu.Lock()
	if r.waiting == 0 {
		r.mu.Unlock()
		return r.Client.TransactWriteItems(ctx, in, o...)
	}
	r.waiting--
	first := r.waiting == 1
	r.mu.Unlock()
	if first {
		<-r.both
		defer close(r.done)
		return r.Client.TransactWriteItems(ctx, in, o...)
	}
	close(r.both)
	<-r.done
	return nil, &attribute.InternalServerError{}
}

// TestALostTryIsNotTakenForItsRivals: two equal requests with one X-Request-Id are
// planned in the same millisecond, and the first try of the one is lost before it is
// done. Each of the two versions is acknowledged once.
func TestALostTryIsNotTakenForItsRivals(t *testing.T) {
	r := &rivals{}
	d := &it.Client{Stack: stacktest.Start(t, stacktest.WithClient(func(inner table.Client) table.Client {
		r.Client = inner
		return r
	})), T: t}
	p := &it.Contacts{Client: d}
	for path, id := range map[string]string{"/sessions/": d.NewSessions("A")[0], "/contacts/": p.WithAddresses("ada@x.org")[0]} {
		key := table.Key{PK: table.Event(d.Org, d.Event) + "#S#" + id, SK: "B"}
		if path == "/contacts/" {
			key.PK = table.Org(d.Org) + "#C#" + id
		}
		postdate(t, d, key)
		r.mu.Lock()
		r.waiting, r.both, r.done = 2, make(chan struct{}), make(chan struct{})
		r.mu.Unlock()
		var all sync.WaitGroup
		versions := make([]string, 2)
		for i := range versions {
			all.Go(func() {
				answer := d.TrySend(t, http.MethodPut, d.EventPath(path+id), stacktest.WithHeaders(object{"title": "B"}, "X-Request-Id", "one-and-the-same"))
				versions[i], _, _ = strings.Cut(strings.Trim(answer.Header.Get("ETag"), `"`), ".")
			})
		}
		all.Wait()
		require.ElementsMatch(t, []string{"2", "3"}, versions, path)
	}
}

// postdate has a record written last in the future: the time of its next version then
// follows from it alone.
func postdate(t *testing.T, d *it.Client, key table.Key) {
	t.Helper()
	item, err := d.Table(t).Get(t.Context(), key)
	require.NoError(t, err)
	item.Data = regexp.MustCompile(`"(updated|written)_at":"20..`).ReplaceAll(item.Data, []byte(`"${1}_at":"2090`))
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Put(item)))
}
