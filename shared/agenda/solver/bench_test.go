package solver_test

import (
	"math"
	"testing"
	"time"

	"lectern/shared/agenda/solver"
	"lectern/tools/judge/instance"
)

func BenchmarkSteps(b *testing.B) {
	p, _ := instance.Draw(150, 1).Problem()
	p.Steps, p.Seed = 50_000, 1
	_ = time.Now
	_ = math.MaxInt
	for b.Loop() {
		solver.Solve(p)
	}
}
