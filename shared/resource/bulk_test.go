package resource_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// withBulk keeps the kinds with a bulk and a unique value.
func withBulk(s subject) bool { return s.bulk && s.unique != "" }

// bulk does operations and returns the answer.
func (d *desk) bulk(operations []object, header ...string) entity {
	d.t.Helper()
	body := stacktest.WithHeaders(object{"operations": operations}, header...)
	return d.Call(d.t, 200, http.MethodPost, d.collection()+"/bulk", body).JSON(d.t)
}

// outcomes returns a word for each result: success, or the code of the error.
func outcomes(answer entity) (words []string) {
	for i, r := range answer.List("results") {
		word := r.Text("status")
		if failed, is := r["error"].(object); is {
			word = failed["code"].(string)
		}
		words = append(words, fmt.Sprint(i, " ", r["action"], " ", word))
	}
	return words
}

func create(data object) object { return object{"action": "create", "data": data} }

// nearLimit does a test also where each operation that changes the number of records waits for the earlier ones.
func nearLimit(test func(*testing.T, *desk)) func(*testing.T, *desk) {
	return func(t *testing.T, d *desk) {
		test(t, d)
		d = d.instance(func(env *api.Env) { env.MostRecords = 10 })
		for _, r := range d.all() {
			d.remove(200, r.ID())
		}
		test(t, d)
	}
}

func TestABulkDoesItsOperationsInOrder(t *testing.T) {
	forKinds(t, withBulk, nearLimit(func(t *testing.T, d *desk) {
		id := d.made("Old")
		unknown := uuid.NewString()
		answer := d.bulk([]object{
			create(d.fresh("A")), create(d.fresh("A")),
			{"action": "update", "id": id, "data": d.change},
			{"action": "delete", "id": id}, {"action": "update", "id": id, "data": d.change}, {"action": "delete", "id": unknown},
			create(object{}), {"action": "move", "id": id}, {"action": "update", "id": id}, {"action": "delete", "id": "x"},
			create(d.fresh("B")),
		})
		taken := "DUPLICATE_" + strings.ToUpper(d.unique)
		require.Equal(t, []string{
			"0 create success", "1 create " + taken, "2 update success", "3 delete success", "4 update NOT_FOUND", "5 delete NOT_FOUND",
			"6 create VALIDATION_ERROR", "7 move VALIDATION_ERROR", "8 update VALIDATION_ERROR", "9 delete VALIDATION_ERROR", "10 create success",
		}, outcomes(answer))
		require.Equal(t, object{"total": 11.0, "succeeded": 4.0, "failed": 7.0}, answer["stats"])
		results := answer.List("results")
		require.ElementsMatch(t, []entity{results[0]["data"].(object), results[10]["data"].(object)}, d.all())
		require.Equal(t, id, results[3].At("data.id"))
		require.NotEmpty(t, results[3].At("data.deleted_at"))
		d.get(404, id)
	}))
}

// TestAUniqueValueMovesWithinABulk, from a record that gives it up earlier.
func TestAUniqueValueMovesWithinABulk(t *testing.T) {
	forKinds(t, func(s subject) bool { return withBulk(s) && s.stands == nil }, nearLimit(func(t *testing.T, d *desk) {
		first, second := d.made("One"), d.made("Two")
		answer := d.bulk([]object{
			{"action": "delete", "id": first}, create(d.fresh("One")),
			{"action": "update", "id": second, "data": d.fresh("Three")}, create(d.fresh("Two")), create(d.fresh("Three")),
		})
		require.Equal(t, 4.0, answer.At("stats.succeeded"), "%v", outcomes(answer))
		require.Contains(t, outcomes(answer)[4], "DUPLICATE")
		require.ElementsMatch(t, []string{"One", "Two", "Three"}, it.Texts(d.all(), d.unique))
	}))
}

// TestABulkKeepsTheLimit exactly, also when a creation follows a deletion, and with updates between.
func TestABulkKeepsTheLimit(t *testing.T) {
	forKinds(t, withBulk, func(t *testing.T, d *desk) {
		d = d.instance(func(env *api.Env) { env.MostRecords = 3 })
		id := d.made("0")
		answer := d.bulk([]object{
			{"action": "update", "id": id, "data": d.change}, create(d.fresh("1")), create(d.fresh("2")), create(d.fresh("3")),
			{"action": "update", "id": id, "data": d.change}, {"action": "delete", "id": id}, {"action": "update", "id": id, "data": d.change},
			create(d.fresh("4")), create(d.fresh("5")),
		})
		require.Equal(t, []string{
			"0 update success", "1 create success", "2 create success", "3 create LIMIT_REACHED", "4 update success", "5 delete success",
			"6 update NOT_FOUND", "7 create success", "8 create LIMIT_REACHED",
		}, outcomes(answer))
		require.Len(t, d.all(), 3)
	})
}

// TestUpdatesAtTheLimitShareTransactions, also beside a deletion and a creation.
func TestUpdatesAtTheLimitShareTransactions(t *testing.T) {
	forKinds(t, func(s subject) bool { return withBulk(s) && s.stands == nil }, func(t *testing.T, d *desk) {
		process, env := it.StartProcess(t, d.Stack, nil, math.MaxInt64)
		d = d.instance(func(e *api.Env) { e.Table, e.MostRecords = env.Table, 20 })
		update := maps.Clone(d.change)
		delete(update, d.unique)
		var operations []object
		for i := range 19 {
			operations = append(operations, object{"action": "update", "id": d.made(fmt.Sprint(i)), "data": update})
		}
		operations = append(operations, object{"action": "delete", "id": d.made("19")}, create(d.fresh("20")))
		before := process.Left()
		require.Equal(t, 21.0, d.bulk(operations).At("stats.succeeded"))
		require.Less(t, before-process.Left(), int64(19), "calls")
		require.Len(t, d.all(), 20)
	})
}

// TestALargeBulkCountsItsRecords: a hundred creations do not fit into a transaction, and change one number.
func TestALargeBulkCountsItsRecords(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.bulk && s.large }, func(t *testing.T, d *desk) {
		answers := together(t, 3, func(client int) (stacktest.Answer, error) {
			var operations []object
			for i := range 100 {
				operations = append(operations, create(d.fresh(fmt.Sprint(client, " ", i))))
			}
			return d.Send(t, http.MethodPost, d.collection()+"/bulk", object{"operations": operations})
		})
		for _, answer := range answers {
			require.Equal(t, 200, answer.Status)
			require.Equal(t, 100.0, entity(answer.JSON(t)).At("stats.succeeded"), string(answer.Body))
		}
		all := d.all()
		require.Len(t, all, 300)
		var operations []object
		for _, r := range all[:100] {
			operations = append(operations, object{"action": "delete", "id": r.ID()})
		}
		require.Equal(t, 100.0, d.bulk(operations).At("stats.succeeded"))
		require.Len(t, d.all(), 200)
	})
}

func TestARepeatedBulkIsDoneOnce(t *testing.T) {
	forKinds(t, withBulk, func(t *testing.T, d *desk) {
		id := d.made("Old")
		operations := []object{create(d.fresh("A")), {"action": "delete", "id": id}, create(d.fresh("A"))}
		first := d.bulk(operations, it.KeyHeader, "k")
		require.Equal(t, first, d.bulk(operations, it.KeyHeader, "k"))
		require.Equal(t, []string{d.value("A")}, it.Texts(d.all(), d.unique))
		d.Call(t, 422, http.MethodPost, d.collection()+"/bulk",
			stacktest.WithHeaders(object{"operations": operations[:1]}, it.KeyHeader, "k"))
	})
}

func TestABulkNeedsItsParent(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.bulk && s.child }, func(t *testing.T, d *desk) {
		body := object{"operations": []object{create(d.fresh("A"))}}
		d.Call(t, 404, http.MethodPost, d.under(uuid.NewString()).collection()+"/bulk", body)
		d.parents().remove(200, d.owner)
		d.Call(t, 404, http.MethodPost, d.collection()+"/bulk", body)
	})
}
