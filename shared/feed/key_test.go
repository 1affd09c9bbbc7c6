package feed_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/feed"
)

// TestBoundsLieBetweenMilliseconds: a bound is after all ids of earlier milliseconds, and before
// all of its own.
func TestBoundsLieBetweenMilliseconds(t *testing.T) {
	id := uuid.Must(uuid.NewV7()).String()
	at, ok := feed.Time(id)
	require.True(t, ok)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	require.Less(t, feed.Bound(at), id)
	require.Greater(t, feed.Bound(at.Add(time.Millisecond)), id)
	for _, at := range []time.Time{time.UnixMilli(0), time.UnixMilli(1), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		back, ok := feed.Time(feed.Bound(at))
		require.True(t, ok)
		require.True(t, at.Equal(back), at)
	}
	require.Equal(t, feed.Bound(time.UnixMilli(0)), feed.Bound(time.Time{}), "nothing is older")
}

func TestOtherTextsHaveNoTime(t *testing.T) {
	for _, text := range []string{"", "0", "01234567-89a", "0123456789abc", "0123456x-89ab", "01234567-89AB", "+1234567-89ab", "01234567_89ab"} {
		_, ok := feed.Time(text)
		require.False(t, ok, text)
	}
}
