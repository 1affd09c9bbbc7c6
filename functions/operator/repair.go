package operator

import (
	"context"
	"time"

	"lectern/shared/repair"
)

// settle is how long damage must stay unchanged before the repair, since a transaction becomes
// visible within milliseconds.
const settle = 2 * time.Second

// repairShards mends the damage of a torn restore (docs/operations.md).
func (s *Service) repairShards(ctx context.Context, in *repair.Input) (*repair.Report, error) {
	return repair.Store{Table: s.env.Table, Now: s.env.Now, Region: s.env.Region, Settle: settle}.Run(ctx, *in)
}
