package scan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/scan"
)

func TestASettingChoosesTheScanner(t *testing.T) {
	none, err := scan.Parse("")
	require.NoError(t, err)
	require.Equal(t, scan.None{}, none)
	for setting, want := range map[string][]string{
		"clamd://127.0.0.1:3310":        {"tcp", "127.0.0.1:3310"},
		"clamd://[::1]:3310":            {"tcp", "[::1]:3310"},
		"clamd:///run/clamav/clamd.ctl": {"unix", "/run/clamav/clamd.ctl"},
	} {
		got, err := scan.Parse(setting)
		require.NoError(t, err, setting)
		require.Equal(t, want, []string{got.(*scan.Clamd).Network, got.(*scan.Clamd).Address})
	}
	for _, setting := range []string{
		"clamd", "clamd:", "clamd://", "clamd://host", "clamd://host:", "clamd://:3310", "clamd://host:3310/path", "clamd://me@host:3310",
		"clamd://host:3310?x=1", "clamd:///socket?x=1", "clamd://host:port", "tcp://host:3310", "http://host:3310", "guardduty", " clamd://host:3310", "none",
	} {
		_, err := scan.Parse(setting)
		require.ErrorContains(t, err, "must be clamd://HOST:PORT or clamd:///SOCKET", setting)
	}
}

// TestAFileThatIsTooLargeIsNotScanned by clamd, which is not asked.
func TestAFileThatIsTooLargeIsNotScanned(t *testing.T) {
	verdict, err := scan.NewClamd("tcp", "127.0.0.1:9").Scan(t.Context(), scan.Object{Key: "k", Size: 500<<20 + 1})
	require.NoError(t, err)
	require.Equal(t, scan.NotScanned, verdict)
}
