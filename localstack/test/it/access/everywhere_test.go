package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestEveryOperationIsServed calls every route once, with a token that has its scope. What stands
// between a caller and a function is another in each place where the service runs, and the
// route must be known there.
func TestEveryOperationIsServed(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	for _, op := range it.Operations() {
		asked := it.RequestFor(op, s, it.NewRecord(t, op, s))
		answer := asked.Send(t, it.CallerOf(t, op, s))
		require.Equal(t, it.OutcomeOf(op), answer.Status, "%s: %s", asked, answer.Body)
	}
}
