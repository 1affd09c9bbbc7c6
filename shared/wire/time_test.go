package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/wire"
)

func TestTimesAreRFC3339(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-21T09:30:00Z":          "2026-11-21T09:30:00.000Z",
		"2026-11-21t09:30:00.123987z":   "2026-11-21T09:30:00.123Z",
		"2026-11-21T09:30:00.5+05:30":   "2026-11-21T04:00:00.500Z",
		"2026-11-21T09:30:00-23:59":     "2026-11-22T09:29:00.000Z",
		"0000-01-01T00:00:00Z":          "0000-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999+00:00": "9999-12-31T23:59:59.999Z",
	} {
		got, err := wire.ParseTime(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String())
	}
	for _, text := range []string{
		"", "2026-11-21", "2026-11-21T09:30:00", "2026-11-21 09:30:00Z", "2026-11-21T09:30Z",
		"2026-11-21T09:30:00,5Z", "2026-11-21T9:30:00Z", "2026-11-21T09:30:00.Z", "2026-11-21T09:30:00+24:00",
		"2026-11-21T09:30:00+05:60", "2026-11-21T24:00:00Z", "2026-02-30T00:00:00Z", "2026-11-21T09:30:60Z",
		"0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "12026-11-21T09:30:00Z", "2026-11-21T09:30:00Z ",
	} {
		_, err := wire.ParseTime(text)
		require.Error(t, err, text)
	}
}

func TestAChangeIsLaterThanTheLast(t *testing.T) {
	last, err := wire.ParseTime("2026-11-21T09:30:00.500Z")
	require.NoError(t, err)
	for now, want := range map[string]string{
		"2026-11-21T09:30:01Z":        "2026-11-21T09:30:01.000Z",
		"2026-11-21T09:30:00.500999Z": "2026-11-21T09:30:00.501Z",
		"2026-11-21T09:00:00Z":        "2026-11-21T09:30:00.501Z",
	} {
		at, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		require.Equal(t, want, wire.After(last, at).String(), now)
	}
}
