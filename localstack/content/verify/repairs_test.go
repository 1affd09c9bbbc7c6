package verify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/repair"
)

// TestRepairsAreAsShortAsTheCommandTakes: a repair of many records is written in several lines.
func TestRepairsAreAsShortAsTheCommandTakes(t *testing.T) {
	o := NewOrganization(1)
	for i := range 2*repair.MaxNames + 1 {
		o.addRepair("O#1#E#3", repair.Sessions, fmt.Sprint(i))
	}
	in := o.repairOf("O#1#E#3", repair.Sessions)
	for i := range repair.MaxNames + 1 {
		in.Holds = append(in.Holds, fmt.Sprint("O#1#Q#", i))
	}
	o.addRepair("O#1", repair.Settings)
	o.tenancy["organization 1"] = tenancyRecord{}
	o.Check()
	ids, holds := 0, 0
	require.Len(t, o.Repairs, 4)
	for _, in := range o.Repairs {
		require.LessOrEqual(t, max(len(in.IDs), len(in.Holds)), repair.MaxNames)
		ids, holds = ids+len(in.IDs), holds+len(in.Holds)
	}
	require.Equal(t, []int{2*repair.MaxNames + 1, repair.MaxNames + 1}, []int{ids, holds})
}
