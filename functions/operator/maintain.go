package operator

import (
	"context"
	"time"

	"lectern/shared/maintain"
)

// Maintain is the command that goes on where its answer's cursor says.
const Maintain = "maintain"

// maintainTime is about how long a call of maintain takes: less than makes an invocation
// slow (infra/observe/alarms.go), the reading of a large event included.
const maintainTime = 20 * time.Second

// maintain purges and fills in (docs/operations.md).
func (s *Service) maintain(ctx context.Context, in *maintain.Input) (*maintain.Report, error) {
	return maintain.Store{Tenancy: s.tenancy, Time: maintainTime}.Run(ctx, *in)
}
