package solver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/agenda/solver"
	"lectern/tools/judge/instance"
)

// BenchmarkSolve searches 20,000 moves for 150 sessions.
func BenchmarkSolve(b *testing.B) {
	p, err := instance.Draw(150, 1).Problem()
	require.NoError(b, err)
	p.Steps, p.Seed = 20_000, 1
	for b.Loop() {
		solver.Solve(p)
	}
}
