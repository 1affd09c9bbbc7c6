package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/delivery"
	"lectern/shared/table"
)

// TestForgetPassesExpiredDeliveries: the first day begins with more expired deliveries than a read
// takes. Forget removes the deliveries behind them, and ends.
func TestForgetPassesExpiredDeliveries(t *testing.T) {
	b := start(t)
	for i := range 2*table.MaxWrites + 10 {
		b.add(i)
	}
	late := b.add(2*table.MaxWrites + 20)
	b.now = noon.Add(3 * 24 * time.Hour)
	last := b.add(3 * 24 * 60)
	b.now = noon.Add(delivery.Keep + (2*table.MaxWrites+15)*time.Minute)
	b.work(late)
	b.work(last)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	require.NoError(t, b.Forget(ctx, org, endpoint))
	for _, task := range []delivery.Task{late, last} {
		w, err := b.Open(t.Context(), task)
		require.NoError(t, err)
		require.Nil(t, w)
	}
}
