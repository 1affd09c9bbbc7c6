package datarequest

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
