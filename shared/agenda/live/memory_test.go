package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/agenda/conflict"
	"lectern/shared/api"
	"lectern/shared/catalogue"
)

// TestTheMemoryIsBounded: the bookings of the event that was read last stay, whatever their size.
func TestTheMemoryIsBounded(t *testing.T) {
	m := NewMemory(api.Env{})
	events := []catalogue.Source{{Rows: "first"}, {Rows: "second"}, {Rows: "third"}}
	large := func(bytes int) bookings {
		return bookings{"id": &booking{session: conflict.Session{Title: strings.Repeat("a", bytes)}}}
	}
	known := func() (names []string) {
		for _, e := range events {
			if m.known(e) != nil {
				names = append(names, e.Rows)
			}
		}
		return names
	}
	m.keep(events[0], large(maxMemory/2-1000))
	m.keep(events[1], large(maxMemory/2-1000))
	require.Equal(t, []string{"first", "second"}, known())
	m.keep(events[2], large(1000))
	require.Equal(t, []string{"second", "third"}, known(), "the event that was read longest ago goes first")
	m.keep(events[0], large(maxMemory+1))
	require.Equal(t, []string{"first"}, known())
}
