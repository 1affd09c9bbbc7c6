package it_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestBulkOfContactsMixesOperationsInOrder(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	elsewhere := there.addressed("known@x.org")[0]
	ids := p.addressed("a@x.org", "b@x.org", "c@x.org")
	o := p.bulk(
		creating(object{"email": "new1@x.org", "company": "N"}),
		updating(ids[0], object{"title": "A2"}),
		deleting(ids[1]),
		updating(uuid.NewString(), object{"title": "nobody"}),
		creating(object{"title": "no address"}),
		creating(object{"email": "Known@x.org", "title": "Boss"}),
		creating(object{"email": "new2@x.org"}),
		creating(object{"email": "C@x.org"}),
		updating(ids[2], object{"photo_url": "x"}),
		deleting(ids[1]),
	)
	made := o.data(t, 0)
	require.Equal(t, made, p.get(200, made.id()), "the data is what the single operation would answer")
	require.Equal(t, "N", made["company_name"])
	require.Equal(t, "A2", o.data(t, 1)["title"])
	require.NotNil(t, o.data(t, 2)["deleted_at"])
	require.Equal(t, elsewhere, o.data(t, 5).id(), "the entry has the id of the contact that it associates")
	require.Equal(t, "Boss", o.data(t, 5)["title"])
	require.Equal(t, "Boss", there.get(200, elsewhere)["title"])
	for i, id := range map[int]any{3: o.Results[3]["id"], 4: nil, 7: nil, 8: ids[2], 9: ids[1]} {
		o.plain(t, i)
		require.Equal(t, id, o.Results[i]["id"], "%d", i)
	}
	require.Contains(t, o.plain(t, 4), "email")
	require.Contains(t, o.plain(t, 8), "photo_url")
	require.ElementsMatch(t, []string{"a@x.org", "c@x.org", "new1@x.org", "Known@x.org", "new2@x.org"}, texts(p.search(object{}).Results, "email"))
}

// TestBulkOperationsSeeEarlierOnesOfAnAddress: who takes and who leaves one.
func TestBulkOperationsSeeEarlierOnesOfAnAddress(t *testing.T) {
	p := newPeople(t)
	ids := p.addressed("a@x.org", "b@x.org", "c@x.org", "d@x.org")
	o := p.bulk(
		creating(object{"email": "new@x.org"}), creating(object{"email": "NEW@x.org"}),
		updating(ids[0], object{"email": "a2@x.org"}), creating(object{"email": "a@x.org"}), updating(ids[0], object{"email": "a@x.org"}),
		deleting(ids[1]), creating(object{"email": "b@x.org"}), updating(ids[2], object{"email": "b@x.org"}),
		updating(ids[2], object{"email": "swap@x.org"}), updating(ids[3], object{"email": "c@x.org"}), updating(ids[2], object{"email": "d@x.org"}),
		creating(object{"email": "swap@x.org"}),
	)
	for _, i := range []int{0, 2, 3, 5, 8, 9, 10, 11} {
		o.data(t, i)
	}
	for _, i := range []int{1, 4, 6, 7} {
		o.plain(t, i)
	}
	require.Contains(t, o.plain(t, 6), "Restore", "who was deleted by an earlier operation")
	require.Equal(t, []string{"a2@x.org", "d@x.org", "c@x.org"}, []string{
		p.get(200, ids[0]).text("email"), p.get(200, ids[2]).text("email"), p.get(200, ids[3]).text("email"),
	})
	for email, id := range map[string]string{
		"new@x.org": o.data(t, 0).id(), "a@x.org": o.data(t, 3).id(), "a2@x.org": ids[0], "d@x.org": ids[2], "c@x.org": ids[3], "swap@x.org": o.data(t, 11).id(),
	} {
		isTakenBy(t, p.create(409, object{"email": email}), object{"id": id})
	}
	require.Equal(t, 6, p.search(object{}).Pagination.TotalResults)
	require.Equal(t, 7, p.searchAll(object{}).Pagination.TotalResults)
}

func TestBulkOperationsSeeEarlierOnesOfAContact(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	id := there.addressed("a@x.org")[0]
	before := there.get(200, id)
	o := p.bulk(
		updating(id, object{"title": "too early"}), creating(object{"email": "a@x.org", "title": "1"}), updating(id, object{"company": "C"}),
		updating(id, object{"title": "2", "updated_at": before["updated_at"]}), creating(object{"email": "a@x.org"}), deleting(id),
		updating(id, object{"title": "3"}), deleting(id), creating(object{"email": "a@x.org"}),
	)
	for _, i := range []int{0, 3, 4, 6, 7, 8} {
		o.plain(t, i)
	}
	last := o.data(t, 5)
	require.Equal(t, []any{"1", "C"}, []any{last["title"], last["company_name"]})
	require.IsIncreasing(t, []string{o.data(t, 1).text("updated_at"), o.data(t, 2).text("updated_at"), last.text("updated_at")})
	require.Equal(t, []any{"1", "C"}, []any{there.get(200, id)["title"], there.get(200, id)["company_name"]})
	p.get(404, id)
}

func TestBulkOfContactsTakesOneToAHundred(t *testing.T) {
	p := newPeople(t)
	operations := make([]object, 101)
	for i := range operations {
		operations[i] = creating(object{"email": fmt.Sprintf("%03d@x.org", i)})
	}
	for _, bad := range []any{operations, []object{}, nil, object{}} {
		isInvalid(t, p.write(400, "POST", "/bulk", object{"operations": bad}).JSON(t), "operations")
	}
	isInvalid(t, p.write(400, "POST", "/bulk", object{}).JSON(t), "operations")
	require.Zero(t, p.searchAll(object{}).Pagination.TotalResults)
	o := p.bulk(operations[:100]...)
	for i := range 100 {
		require.Equal(t, fmt.Sprintf("%03d@x.org", i), o.data(t, i)["email"])
		require.Equal(t, fmt.Sprintf("CONT-%d", i+1), o.data(t, i)["friendly_id"], "numbers follow the order of the request")
	}
	there := p.elsewhere()
	moved := there.bulk(operations[:100]...)
	deletions := make([]object, 100)
	for i := range 100 {
		require.Equal(t, o.data(t, i).id(), moved.data(t, i).id())
		deletions[i] = deleting(o.data(t, i).id())
	}
	require.Equal(t, 100, p.bulk(deletions...).Stats.Succeeded)
	require.Zero(t, p.search(object{}).Pagination.TotalResults)
	require.Equal(t, 100, there.search(object{}).Pagination.TotalResults)
	require.Equal(t, 100, p.searchAll(object{}).Pagination.TotalResults)
	require.Equal(t, 1, there.bulk(operations[100]).Stats.Succeeded)
}
