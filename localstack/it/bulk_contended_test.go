package it_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestATriedAgainAnswerTakesItsRoomOnce: another writer comes between again and again, and
// the answers of the bulk are as long as without.
func TestATriedAgainAnswerTakesItsRoomOnce(t *testing.T) {
	d, c := startCheckpoint(t)
	s := newTroupe(d)
	people := s.crew(7, object{"custom_fields": s.heavyFields()})
	var operations []object
	for i, id := range s.titled("A", "B", "C") {
		operations = append(operations, updating(id, object{"title": fmt.Sprint(i), "participants": people}))
	}
	other, id := &desk{d.Instance(t), t}, operations[0]["id"].(string)
	var left atomic.Int64
	var busy atomic.Bool
	left.Store(70)
	meddle := func(int) {
		if left.Add(-1) >= 0 && busy.CompareAndSwap(false, true) {
			other.write(200, http.MethodPut, id, object{"title": "Y"})
			busy.Store(false)
		}
	}
	c.writing.Store(&meddle)
	made := s.bulk(operations...)
	require.Negative(t, left.Load())
	for i := range operations {
		require.Len(t, made.data(t, i).list("participants"), 7)
	}
}

// TestPacksThatAreRefusedAreDoneSideBySide, each operation of them with its answer.
func TestPacksThatAreRefusedAreDoneSideBySide(t *testing.T) {
	d, c := startCheckpoint(t)
	ids := d.titled(slices.Repeat([]string{"A"}, 100)...)
	var operations []object
	for i, id := range ids {
		operations = append(operations, updating(id, object{"title": fmt.Sprint(i)}))
	}
	other := &desk{d.Instance(t), t}
	change := sync.OnceFunc(func() {
		for _, id := range ids {
			other.write(200, http.MethodPut, id, object{"capacity": 1})
		}
	})
	meddle := func(items int) {
		if items > 20 {
			change()
		}
	}
	c.writing.Store(&meddle)
	made := d.bulk(operations...)
	for i := range operations {
		require.Equal(t, fmt.Sprint(i), made.data(t, i)["title"])
		require.EqualValues(t, 1, made.data(t, i)["capacity"])
	}
}
