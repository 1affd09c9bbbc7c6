package tenancy_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// TestOldOrganizationsAreAdopted: those made before there was a list enter it once.
func TestOldOrganizationsAreAdopted(t *testing.T) {
	s, _ := newStore(t, "eu")
	var want []int64
	for range 5 {
		o := organization(t, s)
		member(t, s, o.ID)
		want = append(want, o.ID)
	}
	all := func(after int64) (ids []int64) {
		for id, err := range s.AllOrganizations(t.Context(), after) {
			require.NoError(t, err)
			ids = append(ids, id)
		}
		return ids
	}
	require.Equal(t, want, all(0))
	require.Equal(t, want[3:], all(want[2]))
	for _, id := range want[1:4] {
		require.NoError(t, s.Table.Transact(t.Context(), table.Remove(table.Key{PK: "R#org", SK: fmt.Sprintf("%019d", id)}, 1)))
	}
	require.Len(t, all(0), 2)
	for _, missing := range []int{3, 0} {
		next, added, err := s.Adopt(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, []int64{0, int64(missing)}, []int64{next, int64(added)})
		require.Equal(t, want, all(0))
	}
	next, added, err := s.Adopt(t.Context(), want[4]+100)
	require.NoError(t, err)
	require.Zero(t, next)
	require.Zero(t, added)
}

// TestAdoptionGoesOnInParts: a region of many ids is walked in several calls.
func TestAdoptionGoesOnInParts(t *testing.T) {
	s, _ := newStore(t, "us")
	first := organization(t, s)
	_, err := s.Table.Add(t.Context(), table.Key{PK: "N#id", SK: "-"}, 10_500)
	require.NoError(t, err)
	last := organization(t, s)
	for _, id := range []int64{first.ID, last.ID} {
		require.NoError(t, s.Table.Transact(t.Context(), table.Remove(table.Key{PK: "R#org", SK: fmt.Sprintf("%019d", id)}, 1)))
	}
	next, added, err := s.Adopt(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, []int64{10_000, 1}, []int64{next, int64(added)})
	next, added, err = s.Adopt(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1}, []int64{next, int64(added)})
}

// TestSecurityEvents: what changes who may call is told in a feed of its own, without values.
func TestSecurityEvents(t *testing.T) {
	s, c := newStore(t, "us")
	m := member(t, s, organization(t, s).ID)
	told := 0
	expect := func(of string, actions ...string) {
		t.Helper()
		var got []string
		n := 0
		for item, err := range s.Table.Between(t.Context(), tenancy.SecurityPartition(m.OrgID, c.at), "0", "~") {
			require.NoError(t, err)
			if n++; n <= told {
				continue
			}
			var e tenancy.SecurityEvent
			require.NoError(t, json.Unmarshal(item.Data, &e))
			require.Equal(t, item.Key, e.Key())
			require.Equal(t, []any{m.OrgID, of}, []any{e.Org, e.Type})
			require.NotContains(t, string(item.Data), "hash")
			require.NotContains(t, string(item.Data), m.Email)
			got = append(got, e.Action)
		}
		told = n
		require.ElementsMatch(t, actions, got)
		c.at = c.at.Add(time.Second)
	}
	become := func(edit func(*tenancy.Member)) {
		_, err := tenancy.Members.Update(t.Context(), s, tenancy.MemberPK(m.OrgID, m.ID), func(m *tenancy.Member) error { edit(m); return nil })
		require.NoError(t, err)
	}
	expect("")
	token := tenancy.Token{OrgID: m.OrgID, UserID: m.ID, Name: "CI", Kind: tenancy.KindLegacy, SecretHash: []byte("hash")}
	require.NoError(t, s.CreateToken(t.Context(), &token))
	expect("token", tenancy.TokenCreated)
	change := func(edit func(*tenancy.Token)) {
		_, err := tenancy.Tokens.Update(t.Context(), s, tenancy.TokenPK(m.OrgID, token.ID), func(k *tenancy.Token) error { edit(k); return nil })
		require.NoError(t, err)
	}
	change(func(k *tenancy.Token) { k.Name = "CD" })
	expect("token", tenancy.TokenUpdated)
	at := wire.At(c.at)
	for _, actions := range [][]string{{tenancy.TokenRevoked}, nil} {
		change(func(k *tenancy.Token) { k.RevokedAt = &at })
		expect("token", actions...)
	}
	become(func(m *tenancy.Member) { m.Name = "Ada L." })
	expect("member")
	become(func(m *tenancy.Member) { m.Role = tenancy.RoleAdmin })
	expect("member", tenancy.RoleChanged)
	become(func(m *tenancy.Member) { m.Active = false })
	expect("member", tenancy.ActivityChanged, tenancy.OwnerInactive)
	become(func(m *tenancy.Member) { m.RemovedAt = &at })
	expect("member")
	become(func(m *tenancy.Member) { m.Active, m.RemovedAt, m.ManageUsers = true, nil, true })
	expect("member", tenancy.RoleChanged, tenancy.ActivityChanged)
}
