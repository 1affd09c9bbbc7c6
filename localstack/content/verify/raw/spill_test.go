package raw

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOrganizationsAreSpreadOverTheFiles although they have ids of one remainder.
func TestOrganizationsAreSpreadOverTheFiles(t *testing.T) {
	used := map[int]int{}
	for org := int64(1); org < 64_000; org += 64 {
		used[fileOf(org)]++
	}
	require.Greater(t, len(used), Files*9/10)
}

// TestNothingIsLeftOnDisk, not even while the files are in use.
func TestNothingIsLeftOnDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	spill, err := NewSpill()
	require.NoError(t, err)
	defer spill.Close()
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
}
