package people_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestBulkOfContactsMixesOperationsInOrder(t *testing.T) {
	stacktest.Everywhere(t)
	p := NewContacts(t)
	there := p.InNewEvent()
	elsewhere := there.WithAddresses("known@x.org")[0]
	ids := p.WithAddresses("a@x.org", "b@x.org", "c@x.org")
	o := p.Bulk(
		it.Creating(object{"email": "new1@x.org", "company": "N"}),
		it.Updating(ids[0], object{"title": "A2"}),
		it.Deleting(ids[1]),
		it.Updating(uuid.NewString(), object{"title": "nobody"}),
		it.Creating(object{"title": "no address"}),
		it.Creating(object{"email": "Known@x.org", "title": "Boss"}),
		it.Creating(object{"email": "new2@x.org"}),
		it.Creating(object{"email": "C@x.org"}),
		it.Updating(ids[2], object{"photo_url": "x"}),
		it.Deleting(ids[1]),
	)
	made := o.Data(t, 0)
	require.Equal(t, made, p.Get(200, made.ID()), "the data is what the single operation would answer")
	require.Equal(t, "N", made["company_name"])
	require.Equal(t, "A2", o.Data(t, 1)["title"])
	require.NotNil(t, o.Data(t, 2)["deleted_at"])
	require.Equal(t, elsewhere, o.Data(t, 5).ID(), "the entry has the id of the contact that it associates")
	require.Equal(t, "Boss", o.Data(t, 5)["title"])
	require.Equal(t, "Boss", there.Get(200, elsewhere)["title"])
	for i, id := range map[int]any{3: o.Results[3]["id"], 4: nil, 7: nil, 8: ids[2], 9: ids[1]} {
		o.PlainError(t, i)
		require.Equal(t, id, o.Results[i]["id"], "%d", i)
	}
	require.Contains(t, o.PlainError(t, 4), "email")
	require.Contains(t, o.PlainError(t, 8), "photo_url")
	require.ElementsMatch(t, []string{"a@x.org", "c@x.org", "new1@x.org", "Known@x.org", "new2@x.org"}, it.Texts(p.Search(object{}).Results, "email"))
}

// TestBulkOperationsSeeEarlierOnesOfAnAddress: who takes and who leaves one.
func TestBulkOperationsSeeEarlierOnesOfAnAddress(t *testing.T) {
	stacktest.Everywhere(t)
	p := NewContacts(t)
	ids := p.WithAddresses("a@x.org", "b@x.org", "c@x.org", "d@x.org")
	o := p.Bulk(
		it.Creating(object{"email": "new@x.org"}), it.Creating(object{"email": "NEW@x.org"}),
		it.Updating(ids[0], object{"email": "a2@x.org"}), it.Creating(object{"email": "a@x.org"}), it.Updating(ids[0], object{"email": "a@x.org"}),
		it.Deleting(ids[1]), it.Creating(object{"email": "b@x.org"}), it.Updating(ids[2], object{"email": "b@x.org"}),
		it.Updating(ids[2], object{"email": "swap@x.org"}), it.Updating(ids[3], object{"email": "c@x.org"}), it.Updating(ids[2], object{"email": "d@x.org"}),
		it.Creating(object{"email": "swap@x.org"}),
	)
	for _, i := range []int{0, 2, 3, 5, 8, 9, 10, 11} {
		o.Data(t, i)
	}
	for _, i := range []int{1, 4, 6, 7} {
		o.PlainError(t, i)
	}
	require.Contains(t, o.PlainError(t, 6), "Restore", "who was deleted by an earlier operation")
	require.Equal(t, []string{"a2@x.org", "d@x.org", "c@x.org"}, []string{
		p.Get(200, ids[0]).Text("email"), p.Get(200, ids[2]).Text("email"), p.Get(200, ids[3]).Text("email"),
	})
	for email, id := range map[string]string{
		"new@x.org": o.Data(t, 0).ID(), "a@x.org": o.Data(t, 3).ID(), "a2@x.org": ids[0], "d@x.org": ids[2], "c@x.org": ids[3], "swap@x.org": o.Data(t, 11).ID(),
	} {
		isTakenBy(t, p.Create(409, object{"email": email}), object{"id": id})
	}
	require.Equal(t, 6, p.Search(object{}).Pagination.TotalResults)
	require.Equal(t, 7, p.SearchOrganization(object{}).Pagination.TotalResults)
}

func TestBulkOperationsSeeEarlierOnesOfAContact(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	id := there.WithAddresses("a@x.org")[0]
	before := there.Get(200, id)
	o := p.Bulk(
		it.Updating(id, object{"title": "too early"}), it.Creating(object{"email": "a@x.org", "title": "1"}), it.Updating(id, object{"company": "C"}),
		it.Updating(id, object{"title": "2", "updated_at": before["updated_at"]}), it.Creating(object{"email": "a@x.org"}), it.Deleting(id),
		it.Updating(id, object{"title": "3"}), it.Deleting(id), it.Creating(object{"email": "a@x.org"}),
	)
	for _, i := range []int{0, 3, 4, 6, 7, 8} {
		o.PlainError(t, i)
	}
	last := o.Data(t, 5)
	require.Equal(t, []any{"1", "C"}, []any{last["title"], last["company_name"]})
	require.IsIncreasing(t, []string{o.Data(t, 1).Text("updated_at"), o.Data(t, 2).Text("updated_at"), last.Text("updated_at")})
	require.Equal(t, []any{"1", "C"}, []any{there.Get(200, id)["title"], there.Get(200, id)["company_name"]})
	p.Get(404, id)
}

func TestBulkOfContactsTakesOneToAHundred(t *testing.T) {
	p := NewContacts(t)
	operations := make([]object, 101)
	for i := range operations {
		operations[i] = it.Creating(object{"email": fmt.Sprintf("%03d@x.org", i)})
	}
	for _, bad := range []any{operations, []object{}, nil, object{}} {
		it.RequireInvalid(t, p.CallContacts(400, "POST", "/bulk", object{"operations": bad}).JSON(t), "operations")
	}
	it.RequireInvalid(t, p.CallContacts(400, "POST", "/bulk", object{}).JSON(t), "operations")
	require.Zero(t, p.SearchOrganization(object{}).Pagination.TotalResults)
	o := p.Bulk(operations[:100]...)
	for i := range 100 {
		require.Equal(t, fmt.Sprintf("%03d@x.org", i), o.Data(t, i)["email"])
		require.Equal(t, fmt.Sprintf("CONT-%d", i+1), o.Data(t, i)["friendly_id"], "numbers follow the order of the request")
	}
	there := p.InNewEvent()
	moved := there.Bulk(operations[:100]...)
	deletions := make([]object, 100)
	for i := range 100 {
		require.Equal(t, o.Data(t, i).ID(), moved.Data(t, i).ID())
		deletions[i] = it.Deleting(o.Data(t, i).ID())
	}
	require.Equal(t, 100, p.Bulk(deletions...).Stats.Succeeded)
	require.Zero(t, p.Search(object{}).Pagination.TotalResults)
	require.Equal(t, 100, there.Search(object{}).Pagination.TotalResults)
	require.Equal(t, 100, p.SearchOrganization(object{}).Pagination.TotalResults)
	require.Equal(t, 1, there.Bulk(operations[100]).Stats.Succeeded)
}
