package scan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/blob"
	"lectern/shared/scan"
)

func TestASettingChoosesTheScanner(t *testing.T) {
	none, err := scan.Parse("")
	require.NoError(t, err)
	require.Equal(t, scan.None{}, none)
	amazon, err := scan.Parse("guardduty")
	require.NoError(t, err)
	require.Equal(t, scan.GuardDuty{Wait: 12 * time.Second}, amazon)
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
		"clamd://host:3310?x=1", "clamd:///socket?x=1", "clamd://host:port", "tcp://host:3310", "http://host:3310", "GuardDuty", " clamd://host:3310", "none",
	} {
		_, err := scan.Parse(setting)
		require.ErrorContains(t, err, "must be clamd://HOST:PORT, clamd:///SOCKET or, on AWS, guardduty", setting)
	}
}

// TestAFileThatIsTooLargeIsNotScanned by clamd, which is not asked.
func TestAFileThatIsTooLargeIsNotScanned(t *testing.T) {
	verdict, err := scan.NewClamd("tcp", "127.0.0.1:9").Scan(t.Context(), scan.Object{Key: "k", Size: 500<<20 + 1})
	require.NoError(t, err)
	require.Equal(t, scan.NotScanned, verdict)
}

// TestGuardDutyIsAskedForSomeTime: a bucket that does not answer, and an object without a tag, have no verdict.
func TestGuardDutyIsAskedForSomeTime(t *testing.T) {
	s := newStore(t)
	o := s.put(t, "film", "film")
	_, err := scan.GuardDuty{Wait: time.Second}.Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
	require.ErrorContains(t, err, "GuardDuty has not scanned the object")
	_, err = scan.GuardDuty{Wait: time.Nanosecond}.Scan(t.Context(), o)
	require.EqualError(t, err, "scan: the scanner gave no verdict: GuardDuty has not scanned the object")
	o.Key = "absent"
	_, err = scan.GuardDuty{Wait: time.Minute}.Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
	require.ErrorIs(t, err, blob.ErrAbsent)
}
