package sessions_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestATriedAgainAnswerTakesItsRoomOnce: another writer comes between again and again, and
// the answers of the bulk are as long as without.
func TestATriedAgainAnswerTakesItsRoomOnce(t *testing.T) {
	d, c := it.StartBehindGate(t)
	s := it.NewPeople(d)
	people := s.AddHeavyPeople(7, object{"custom_fields": s.AddHeavyFields()})
	var operations []object
	for i, id := range s.NewSessions("A", "B", "C") {
		operations = append(operations, it.Updating(id, object{"title": fmt.Sprint(i), "participants": people}))
	}
	other, id := &it.Client{Stack: d.Instance(t), T: t}, operations[0]["id"].(string)
	var left atomic.Int64
	var busy atomic.Bool
	left.Store(70)
	meddle := func(int) {
		if left.Add(-1) >= 0 && busy.CompareAndSwap(false, true) {
			other.CallSession(200, http.MethodPut, id, object{"title": "Y"})
			busy.Store(false)
		}
	}
	c.Writing.Store(&meddle)
	made := s.Bulk(operations...)
	require.Negative(t, left.Load())
	for i := range operations {
		require.Len(t, made.Data(t, i).List("participants"), 7)
	}
}

// TestPacksThatAreRefusedAreDoneSideBySide, each operation of them with its answer.
func TestPacksThatAreRefusedAreDoneSideBySide(t *testing.T) {
	d, c := it.StartBehindGate(t)
	ids := d.NewSessions(slices.Repeat([]string{"A"}, 100)...)
	var operations []object
	for i, id := range ids {
		operations = append(operations, it.Updating(id, object{"title": fmt.Sprint(i)}))
	}
	other := &it.Client{Stack: d.Instance(t), T: t}
	change := sync.OnceFunc(func() {
		for _, id := range ids {
			other.CallSession(200, http.MethodPut, id, object{"capacity": 1})
		}
	})
	meddle := func(items int) {
		if items > 20 {
			change()
		}
	}
	c.Writing.Store(&meddle)
	made := d.Bulk(operations...)
	for i := range operations {
		require.Equal(t, fmt.Sprint(i), made.Data(t, i)["title"])
		require.EqualValues(t, 1, made.Data(t, i)["capacity"])
	}
}
