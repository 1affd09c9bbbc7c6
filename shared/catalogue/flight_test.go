package catalogue_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// asked is an empty table of which the test makes the queries.
type asked struct {
	table.Client
	query func(context.Context) error
}

func (q *asked) Query(ctx context.Context, _ *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{}, q.query(ctx)
}

func fine(context.Context) error { return nil }

// viewing is a call of View that sends what came of it.
func viewing(c *catalogue.Catalogue[talkRow, *talk]) (views chan error, view func(context.Context)) {
	views = make(chan error)
	return views, func(ctx context.Context) {
		_, err := c.View(ctx, source)
		views <- err
	}
}

// TestFlightEndsWhenNobodyWaits has the readings hang. The first caller leaves, a
// second one has come for the next flight and gets it.
func TestFlightEndsWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 2)
		client := &asked{query: func(ctx context.Context) error {
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}}
		c := newCatalogue(table.New(client, "none"))
		views, view := viewing(c)
		first, leave := context.WithCancel(t.Context())
		go view(first)
		synctest.Wait()
		second, leaveNext := context.WithCancel(t.Context())
		go view(second)
		synctest.Wait()
		leaveNext()
		require.ErrorIs(t, <-views, context.Canceled)
		require.Empty(t, ended, "one still waits for the flight")

		go view(t.Context())
		synctest.Wait()
		client.query = fine
		leave()
		require.ErrorIs(t, <-views, context.Canceled)
		require.NoError(t, <-views)
		require.ErrorIs(t, <-ended, context.Canceled, "ended by the leaving, not by its time")
	})
}

// TestFlightGoesOnForThoseWhoWait: it was started by one who leaves.
func TestFlightGoesOnForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		landing := make(chan struct{})
		client := &asked{query: func(ctx context.Context) error {
			select {
			case <-landing:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		c := newCatalogue(table.New(client, "none"))
		views, view := viewing(c)
		gone, leave := context.WithCancel(t.Context())
		go view(t.Context())
		synctest.Wait()
		go view(gone) // starts the next flight, which another one boards
		synctest.Wait()
		go view(t.Context())
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-views, context.Canceled)
		close(landing)
		require.NoError(t, <-views)
		require.NoError(t, <-views)
	})
}

func TestFlightThatPanicsIsAnError(t *testing.T) {
	client := &asked{query: func(context.Context) error { panic("cause") }}
	c := newCatalogue(table.New(client, "none"))
	_, err := c.View(t.Context(), source)
	require.ErrorContains(t, err, "cause")
	client.query = fine
	_, err = c.View(t.Context(), catalogue.Source{Rows: source.Rows, Versions: source.Versions, Family: source.Family, Shards: shards})
	require.NoError(t, err)
}
