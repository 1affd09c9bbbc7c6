package ratelimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/ratelimit"
)

func TestABudgetIsGivenBackByTime(t *testing.T) {
	c := &clock{at: start}
	b := ratelimit.NewBudget(600, c.now)
	require.Zero(t, b.Wait(1))
	b.Charge(1, 599)
	require.Zero(t, b.Wait(1))
	b.Charge(1, 301) // 300 over: half a minute
	require.Equal(t, 30*time.Second, b.Wait(1))
	require.Zero(t, b.Wait(2), "another organization")
	c.pass(29 * time.Second)
	require.Equal(t, time.Second, b.Wait(1))
	c.pass(2 * time.Second)
	require.Zero(t, b.Wait(1))
	c.pass(time.Hour)
	b.Charge(1, 600)
	require.Equal(t, time.Second, b.Wait(1), "no more than a minute is saved up")
}

func TestWithoutABudgetNothingIsBound(t *testing.T) {
	b := ratelimit.NewBudget(0, time.Now)
	b.Charge(1, 1e12)
	require.Zero(t, b.Wait(1))
}

// TestABudgetKeepsAccountOfMany: of any number of organizations, in bounded memory.
func TestABudgetKeepsAccountOfMany(t *testing.T) {
	c := &clock{at: start}
	b := ratelimit.NewBudget(60, c.now)
	for org := range int64(9_999) {
		b.Charge(org, 1)
	}
	c.pass(time.Minute)
	b.Charge(100_000, 600)
	b.Charge(100_001, 600)
	require.Positive(t, b.Wait(100_000), "those that owe nothing are forgotten first")
}
