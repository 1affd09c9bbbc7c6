package aws_test

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lectern/shared/table"
)

// away makes the calls of a run in virtual time. The connections to the engine wait for
// the network, which would stop that time: other goroutines make the calls in real time,
// while the virtual one stands still, and callTime passes for each.
type away struct {
	inner table.Client
	free  chan *courier
}

// courier is a goroutine of the real time.
type courier struct {
	do   chan func()
	done chan struct{}
}

// couriers is how many calls are made at a time.
const couriers = 32

func newAway(inner table.Client) *away {
	a := &away{inner, make(chan *courier, couriers)}
	for range couriers {
		c := &courier{make(chan func()), make(chan struct{})}
		go func() {
			for do := range c.do {
				do()
				c.done <- struct{}{}
			}
		}()
		a.free <- c
	}
	return a
}

// stop ends the goroutines.
func (a *away) stop() {
	for range couriers {
		close((<-a.free).do)
	}
}

type option = func(*dynamodb.Options)

// through makes one call.
func through[I, O any](ctx context.Context, a *away, call func(context.Context, I, ...option) (O, error), in I) (out O, err error) {
	time.Sleep(callTime)
	c := <-a.free
	c.do <- func() { out, err = call(context.WithoutCancel(ctx), in) }
	<-c.done
	a.free <- c
	return out, err
}

func (a *away) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...option) (*dynamodb.GetItemOutput, error) {
	return through(ctx, a, a.inner.GetItem, in)
}

func (a *away) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...option) (*dynamodb.BatchGetItemOutput, error) {
	return through(ctx, a, a.inner.BatchGetItem, in)
}

func (a *away) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...option) (*dynamodb.QueryOutput, error) {
	return through(ctx, a, a.inner.Query, in)
}

func (a *away) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...option) (*dynamodb.UpdateItemOutput, error) {
	return through(ctx, a, a.inner.UpdateItem, in)
}

func (a *away) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, _ ...option,
) (*dynamodb.TransactGetItemsOutput, error) {
	return through(ctx, a, a.inner.TransactGetItems, in)
}

func (a *away) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...option,
) (*dynamodb.TransactWriteItemsOutput, error) {
	return through(ctx, a, a.inner.TransactWriteItems, in)
}
