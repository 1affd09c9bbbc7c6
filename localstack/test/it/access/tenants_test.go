package access_test

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/table"
)

// tenant is an event with a record for each operation that needs a record.
type tenant struct {
	*stacktest.Stack
	records map[string]string // by the operation's id
}

func populated(t *testing.T, s *stacktest.Stack) tenant {
	t.Helper()
	p := tenant{s, map[string]string{}}
	for _, op := range it.Operations() {
		p.records[op.ID] = it.NewRecord(t, op, s)
	}
	return p
}

// strangersTo are, for each collection, records of the place's other collections:
// a contact among sponsors, a sponsor among exhibitors.
func strangersTo(p tenant) map[string][]string {
	samples, strangers := map[string]string{}, map[string][]string{}
	for _, op := range it.Operations() {
		if op.Method == http.MethodPut && samples[it.CollectionOf(op)] == "" {
			samples[it.CollectionOf(op)] = p.records[op.ID]
		}
	}
	for _, op := range it.Operations() {
		own := it.CollectionOf(op)
		if !it.OnRecord(op) || strangers[own] != nil {
			continue
		}
		for _, collection := range slices.Sorted(maps.Keys(samples)) {
			if collection != own && !it.IsBelow(own, collection) {
				strangers[own] = append(strangers[own], samples[collection])
			}
		}
	}
	return strangers
}

// TestTenantMatrix calls every route with ids that belong to somebody else, as
// such and mixed with own ones, and with ids of own records of another kind. Each answer must be that of unknown ids, byte for
// byte, and nobody's items may change.
func TestTenantMatrix(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil, stacktest.Features("sessions_2_0", "translated_fields"))
	foreign := populated(t, s.NewOrganization(t, "sessions_2_0", "translated_fields"))
	elsewhere := populated(t, s.In(s.NewEvent(t, "sessions_2_0", "translated_fields")))
	own := populated(t, s)
	strangers := strangersTo(own)
	before := engine.Dump(t)
	calls := 0
	same := func(op api.Operation, at *stacktest.Stack, record string, unknown it.Request) {
		t.Helper()
		asked := it.RequestFor(op, at, record)
		asked.Body = unknown.Body
		for _, header := range [][]string{nil, {"Idempotency-Key", uuid.NewString()}} {
			want := unknown.Send(t, s, header...)
			require.Equal(t, http.StatusNotFound, want.Status, "%s: %s", unknown, want.Body)
			require.Equal(t, it.Stable(want), it.Stable(asked.Send(t, s, header...)), "%s", asked)
			calls += 2
		}
	}
	for _, op := range it.Operations() {
		if it.NamesOwner(op) {
			nowhere := it.AtUnknownEvent(s)
			unknown := it.RequestFor(op, nowhere, it.UnknownID)
			same(op, foreign.Stack, foreign.records[op.ID], unknown)
			same(op, foreign.Stack, own.records[op.ID], unknown)
			same(op, nowhere, own.records[op.ID], unknown)
		}
		if own.records[op.ID] == "" {
			continue
		}
		same(op, s, foreign.records[op.ID], it.RequestFor(op, s, it.UnknownID))
		if !it.OfOrganization(op) {
			same(op, s, elsewhere.records[op.ID], it.RequestFor(op, s, it.UnknownID))
			same(op, elsewhere.Stack, own.records[op.ID], it.RequestFor(op, elsewhere.Stack, it.UnknownID))
		}
		for _, stranger := range strangers[it.CollectionOf(op)] {
			same(op, s, stranger, it.RequestFor(op, s, it.UnknownID))
		}
	}
	after := engine.Dump(t)
	require.Equal(t, before.Below(table.Org(foreign.Org)), after.Below(table.Org(foreign.Org)), "the other organization changed")
	require.Equal(t, before.Below(table.Org(s.Org)), after.Below(table.Org(s.Org)), "a refused call changed something")
	t.Logf("%d routes, %d calls", len(it.Operations()), calls)
}

// TestNothingLeaks reads everything there is to read on one event and looks for
// what stands on others.
func TestNothingLeaks(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil)
	foreign := populated(t, s.NewOrganization(t))
	elsewhere := populated(t, s.In(s.NewEvent(t)))
	own := populated(t, s)
	secrets := map[string]*stacktest.Stack{}
	pattern := regexp.MustCompile(`Sample [0-9a-f-]{36}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	all := engine.Dump(t)
	find := func(part it.Dump, owner *stacktest.Stack) {
		for key, item := range part {
			for _, found := range pattern.FindAllString(key.PK+" "+key.SK+" "+item.Data, -1) {
				secrets[found] = owner
			}
		}
	}
	find(all.Below(table.Org(foreign.Org)), foreign.Stack)
	find(all.Below(table.Event(elsewhere.Org, elsewhere.Event)), elsewhere.Stack)
	secretCount := len(secrets)
	find(all.Below(table.Event(own.Org, own.Event)), s)
	require.Greater(t, secretCount, 50)
	ordered := it.Operations()
	slices.SortStableFunc(ordered, func(a, b api.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	for _, op := range ordered {
		asked := it.RequestFor(op, s, own.records[op.ID])
		got := asked.Send(t, it.CallerOf(t, op, s))
		require.True(t, rank(op) > 0 || got.Status < 300 || got.Status == it.OutcomeOf(op), "%s: %d", asked, got.Status)
		for _, found := range pattern.FindAllString(string(got.Body), -1) {
			owner := secrets[found]
			open := owner == nil || owner == s || it.OfOrganization(op) && owner.Org == s.Org
			require.True(t, open, "%s shows %s", asked, found)
		}
	}
}

// rank puts what only reads before what writes and may take away what is read.
func rank(op api.Operation) int {
	if len(op.Scopes) > 0 && strings.HasPrefix(string(op.Scopes[0]), "read:") {
		return 0
	}
	return 1
}

// TestIdempotencyKeysOfTenants: a key means nothing to another organization, to
// another token, or on another event.
func TestIdempotencyKeysOfTenants(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	callers := []*stacktest.Stack{s, s.NewOrganization(t), s.As(s.NewToken(t, stacktest.Scopes...)), s.In(s.NewEvent(t))}
	ids := map[any]int{} // the caller that made each
	for range 2 {
		for i, caller := range callers {
			a := caller.Call(t, 200, "POST", caller.EventPath("/sessions/create"), stacktest.WithHeaders(map[string]any{"title": "The same"}, "Idempotency-Key", "one key"))
			id := a.JSON(t)["id"]
			if by, ok := ids[id]; ok {
				require.Equal(t, by, i, "a caller got another's answer")
			}
			ids[id] = i
		}
	}
	require.Len(t, ids, len(callers))
}
