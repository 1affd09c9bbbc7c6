package write

import (
	"context"
	"slices"

	"lectern/shared/table"
)

// Together returns the operation that does several in one transaction. Its answer is the answer of the first. The
// operations write different items, and each sees the items that all have read.
func Together(ops ...Op) Op { return together(ops) }

type together []Op

func (all together) Reads() (keys []table.Key) {
	for _, op := range all {
		keys = append(keys, op.Reads()...)
	}
	return keys
}

func (all together) More(got Items) (keys []table.Key) {
	for _, op := range all {
		keys = append(keys, op.More(got)...)
	}
	return keys
}

// Touches returns nil, so that the operation waits for others that read the same.
func (all together) Touches(Items) []string { return nil }

func (all together) Plan(ctx context.Context, got Items) (*Plan, error) {
	whole := &Plan{}
	for i, op := range all {
		plan, err := op.Plan(ctx, got)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			whole.Answer = plan.Answer
		}
		whole.Writes = slices.Concat(whole.Writes, plan.Writes)
	}
	return whole, nil
}
