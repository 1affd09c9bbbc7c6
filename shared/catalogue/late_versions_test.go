package catalogue_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/catalogue"
	"lectern/shared/metering"
	"lectern/shared/table"
)

// lateVersions withholds the answer of one Query of versions from its caller.
type lateVersions struct {
	table.Client
	hold             atomic.Bool
	answered, resume chan struct{}
}

func (l *lateVersions) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	pk, _ := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS)
	held := strings.HasSuffix(pk.Value, "#V") && l.hold.CompareAndSwap(true, false)
	out, err := l.Client.Query(ctx, in, o...)
	if held {
		close(l.answered)
		<-l.resume
	}
	return out, err
}

// seen is what a View has returned.
type seen struct {
	view  *catalogue.View[talkRow]
	err   error
	calls int
}

// viewLate calls View, and meanwhile once its versions are read.
func viewLate(t *testing.T, l *lateVersions, c *memory, meanwhile func()) seen {
	t.Helper()
	l.answered, l.resume = make(chan struct{}), make(chan struct{})
	l.hold.Store(true)
	ctx, meter := metering.Measured(t.Context())
	done := make(chan seen)
	go func() {
		view, err := c.View(ctx, source)
		done <- seen{view, err, callsOf(meter)}
	}()
	<-l.answered
	meanwhile()
	close(l.resume)
	return <-done
}

// TestALateCallerTakesWhatWasProvenMeanwhile, and reads nothing for it.
func TestALateCallerTakesWhatWasProvenMeanwhile(t *testing.T) {
	late := &lateVersions{}
	to := tabletest.Behind(t, func(c table.Client) table.Client { late.Client = c; return late })
	id := neighbours()[0]
	create(t, to, &talk{ID: id, Title: "old", Version: 1})
	c := newCatalogue(to)
	cost(t, c)
	got := viewLate(t, late, c, func() {
		require.NoError(t, to.Transact(t.Context(), writes(t, &talk{ID: id, Title: "new", Version: 2})...))
		cost(t, c)
	})
	require.NoError(t, got.err)
	row, _ := got.view.Get(id)
	require.Equal(t, "new", row.Title)
	require.Equal(t, 1, got.calls, "the versions")
}

// TestALateCallerTakesNoHalfOfATransaction: one caller proves a shard, and another
// one then reads half of a transaction into it.
func TestALateCallerTakesNoHalfOfATransaction(t *testing.T) {
	late := &lateVersions{}
	to := tabletest.Behind(t, func(c table.Client) table.Client { late.Client = c; return late })
	near := neighbours()
	create(t, to, &talk{ID: near[0], Title: "old", Version: 1}, &talk{ID: near[1], Title: "old", Version: 1})
	c := newCatalogue(to)
	cost(t, c)
	got := viewLate(t, late, c, func() {
		require.NoError(t, to.Transact(t.Context(), writes(t, &talk{ID: near[0], Title: "newer", Version: 2})...))
		cost(t, c)
		first, second := writes(t, &talk{ID: near[0], Title: "newest", Version: 3}), writes(t, &talk{ID: near[1], Title: "newest", Version: 2})
		both, ok := first[2].Merge(second[2])
		require.True(t, ok)
		require.NoError(t, to.Transact(t.Context(), first[0], first[1], both), "its second row is not visible yet")
		_, err := c.PartialView(t.Context(), source)
		require.NoError(t, err)
	})
	requireUnavailable(t, got.err)
}
