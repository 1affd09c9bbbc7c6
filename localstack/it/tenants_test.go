package it_test

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

	"lectern/localstack/stacktest"
	"lectern/shared/api"
	"lectern/shared/table"
)

// unknown is an id that nothing has.
const (
	unknownEvent = 999_999_999
	unknownID    = "00000000-0000-4000-8000-000000000000"
)

// place is an event with a record for each operation that is done on one.
type place struct {
	*stacktest.Stack
	records map[string]string // by the operation's id
}

func populated(t *testing.T, s *stacktest.Stack) place {
	t.Helper()
	p := place{s, map[string]string{}}
	for _, op := range operations() {
		p.records[op.ID] = record(t, op, s)
	}
	return p
}

// nobodys is the caller at an event and an organization that nobody has.
func nobodys(s *stacktest.Stack) *stacktest.Stack {
	other := *s
	other.Event, other.Org = unknownEvent, unknownEvent
	return &other
}

// strangersTo are, for each collection, records of the place's other collections:
// a contact among sponsors, a sponsor among exhibitors.
func strangersTo(p place) map[string][]string {
	samples, strangers := map[string]string{}, map[string][]string{}
	for _, op := range operations() {
		if op.Method == http.MethodPut && samples[collectionOf(op)] == "" {
			samples[collectionOf(op)] = p.records[op.ID]
		}
	}
	for _, op := range operations() {
		own := collectionOf(op)
		if !onARecord(op) || strangers[own] != nil {
			continue
		}
		for _, collection := range slices.Sorted(maps.Keys(samples)) {
			if collection != own {
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
	s, engine := startOpen(t, nil, stacktest.Features("sessions_2_0", "translated_fields"))
	foreign := populated(t, s.NewOrganization(t, "sessions_2_0", "translated_fields"))
	elsewhere := populated(t, s.In(s.NewEvent(t, "sessions_2_0", "translated_fields")))
	own := populated(t, s)
	strangers := strangersTo(own)
	before := engine.dump(t)
	calls := 0
	same := func(op api.Operation, at *stacktest.Stack, record string, unknown request) {
		t.Helper()
		asked := on(op, at, record)
		asked.body = unknown.body
		for _, header := range [][]string{nil, {"Idempotency-Key", uuid.NewString()}} {
			want := unknown.send(t, s, header...)
			require.Equal(t, http.StatusNotFound, want.Status, "%s: %s", unknown, want.Body)
			require.Equal(t, plain(want), plain(asked.send(t, s, header...)), "%s", asked)
			calls += 2
		}
	}
	for _, op := range operations() {
		if strings.Contains(op.Path, "{") {
			nowhere := nobodys(s)
			unknown := on(op, nowhere, unknownID)
			same(op, foreign.Stack, foreign.records[op.ID], unknown)
			same(op, foreign.Stack, own.records[op.ID], unknown)
			same(op, nowhere, own.records[op.ID], unknown)
		}
		if own.records[op.ID] == "" {
			continue
		}
		same(op, s, foreign.records[op.ID], on(op, s, unknownID))
		if !ofOrganization(op) {
			same(op, s, elsewhere.records[op.ID], on(op, s, unknownID))
			same(op, elsewhere.Stack, own.records[op.ID], on(op, elsewhere.Stack, unknownID))
		}
		for _, stranger := range strangers[collectionOf(op)] {
			same(op, s, stranger, on(op, s, unknownID))
		}
	}
	after := engine.dump(t)
	require.Equal(t, before.below(table.Org(foreign.Org)), after.below(table.Org(foreign.Org)), "the other organization changed")
	require.Equal(t, before.below(table.Org(s.Org)), after.below(table.Org(s.Org)), "a refused call changed something")
	t.Logf("%d routes, %d calls", len(operations()), calls)
}

// TestNothingLeaks reads everything there is to read on one event and looks for
// what stands on others.
func TestNothingLeaks(t *testing.T) {
	s, engine := startOpen(t, nil)
	foreign := populated(t, s.NewOrganization(t))
	elsewhere := populated(t, s.In(s.NewEvent(t)))
	own := populated(t, s)
	secrets := map[string]*stacktest.Stack{}
	pattern := regexp.MustCompile(`Sample [0-9a-f-]{36}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	all := engine.dump(t)
	find := func(part dump, owner *stacktest.Stack) {
		for key, item := range part {
			for _, found := range pattern.FindAllString(key.PK+" "+key.SK+" "+item.data, -1) {
				secrets[found] = owner
			}
		}
	}
	find(all.below(table.Org(foreign.Org)), foreign.Stack)
	find(all.below(table.Event(elsewhere.Org, elsewhere.Event)), elsewhere.Stack)
	secretCount := len(secrets)
	find(all.below(table.Event(own.Org, own.Event)), s)
	require.Greater(t, secretCount, 50)
	ordered := operations()
	slices.SortStableFunc(ordered, func(a, b api.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	for _, op := range ordered {
		asked := on(op, s, own.records[op.ID])
		got := asked.send(t, s)
		require.True(t, rank(op) > 0 || got.Status < 300, "%s: %d", asked, got.Status)
		for _, found := range pattern.FindAllString(string(got.Body), -1) {
			owner := secrets[found]
			open := owner == nil || owner == s || ofOrganization(op) && owner.Org == s.Org
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
	s := stacktest.Start(t)
	callers := []*stacktest.Stack{s, s.NewOrganization(t), s.As(s.NewToken(t, stacktest.Scopes...)), s.In(s.NewEvent(t))}
	ids := map[any]int{} // the caller that made each
	for range 2 {
		for i, caller := range callers {
			a := caller.Call(t, 200, "POST", caller.EventPath("/sessions/create"), map[string]any{"title": "The same"}, "Idempotency-Key", "one key")
			id := a.JSON(t)["id"]
			if by, ok := ids[id]; ok {
				require.Equal(t, by, i, "a caller got another's answer")
			}
			ids[id] = i
		}
	}
	require.Len(t, ids, len(callers))
}
