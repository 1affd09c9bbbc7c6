package datarequest

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/wire"
)

// random returns text of a length that hardly gets shorter by gzip.
func random(length int) string {
	var text strings.Builder
	for text.Len() < length {
		text.WriteString(rand.Text())
	}
	return text.String()
}

// TestALongArchiveLeavesOutValuesFirst, and then the earlier changes.
func TestALongArchiveLeavesOutValuesFirst(t *testing.T) {
	archive := func(changes, value, action int) *Collected {
		c := CollectedContact{}
		for range changes {
			c.Changes = append(c.Changes, CollectedChange{ID: rand.Text(), Action: random(action), Values: []OneValue{{New: random(value)}}})
		}
		return &Collected{Contacts: []CollectedContact{c}, Omitted: []string{}}
	}
	for _, c := range []struct {
		changes, value, action int
		omitted                []string
		left                   int
	}{
		{10, 1000, 10, []string{}, 10},
		{80, 100_000, 10, []string{omittedValues}, 80},
		{1500, 1000, 10_000, []string{omittedValues, omittedChanges}, 375},
	} {
		text, err := archive(c.changes, c.value, c.action).encode()
		require.NoError(t, err)
		var got Collected
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, c.omitted, got.Omitted)
		require.Len(t, got.Contacts[0].Changes, c.left)
	}
}

// TestALongArchiveLeavesOutTheLargestPart: long reviews do not cost the submissions and the values of changes.
func TestALongArchiveLeavesOutTheLargestPart(t *testing.T) {
	records := func(number, length int) (all []wire.Raw) {
		for range number {
			all = append(all, wire.Raw{RawMessage: json.RawMessage(strconv.Quote(random(length)))})
		}
		return all
	}
	c := &Collected{
		Contacts:    []CollectedContact{{Changes: []CollectedChange{{Values: []OneValue{{New: "A"}}}}}},
		Submissions: records(10, 10_000), Reviews: records(100, 100_000), Omitted: []string{},
	}
	text, err := c.encode()
	require.NoError(t, err)
	var got Collected
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, []string{omittedReviews}, got.Omitted)
	require.Equal(t, []int{1, 10, 50}, []int{len(got.Contacts[0].Changes[0].Values), len(got.Submissions), len(got.Reviews)})
}
