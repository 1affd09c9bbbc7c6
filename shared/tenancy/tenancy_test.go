package tenancy_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// clock is a time that only a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newStore(t *testing.T, region string) (tenancy.Store, *clock) {
	t.Helper()
	c := &clock{time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	return tenancy.Store{Table: tabletest.Start(t), Now: c.now, Region: region}, c
}

func organization(t *testing.T, s tenancy.Store) *tenancy.Organization {
	t.Helper()
	o := &tenancy.Organization{Name: "Acme"}
	require.NoError(t, tenancy.Organizations.Create(t.Context(), s, o))
	return o
}

func member(t *testing.T, s tenancy.Store, org int64) *tenancy.Member {
	t.Helper()
	m := &tenancy.Member{OrgID: org, Name: "Ada", Email: "ada@example.com", Role: tenancy.RoleMember, Active: true}
	require.NoError(t, tenancy.Members.Create(t.Context(), s, m))
	return m
}

// fieldOf is the field that a 400 names.
func fieldOf(t *testing.T, err error) any {
	t.Helper()
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 400, refused.Status)
	return refused.Details["field"]
}

// TestAnIDInTheListIsTaken, also without its organization: a restore may have lost that.
func TestAnIDInTheListIsTaken(t *testing.T) {
	s, _ := newStore(t, "us")
	require.NoError(t, s.Table.Transact(t.Context(), table.Insert(tenancy.ListLine(1))))
	require.Equal(t, int64(2), organization(t, s).ID)
}

func TestRegionsGiveDifferentIDs(t *testing.T) {
	us, _ := newStore(t, "us")
	eu, _ := newStore(t, "eu")
	require.Equal(t, int64(1), organization(t, us).ID)
	require.Equal(t, int64(1_000_000_001), organization(t, eu).ID)
	mars := tenancy.Store{Table: us.Table, Now: us.Now, Region: "mars"}
	require.ErrorContains(t, tenancy.Organizations.Create(t.Context(), mars, &tenancy.Organization{Name: "X"}), "mars")
}

func TestACounterSetBackGivesNoIDTwice(t *testing.T) {
	s, _ := newStore(t, "us")
	first, second := organization(t, s), organization(t, s)
	_, err := s.Table.Add(t.Context(), table.Key{PK: "N#id", SK: "-"}, -2)
	require.NoError(t, err)
	third := organization(t, s)
	require.Equal(t, []int64{1, 2, 3}, []int64{first.ID, second.ID, third.ID})
}

func TestCreateStoresRecordAndChange(t *testing.T) {
	s, c := newStore(t, "us")
	o := organization(t, s)
	m := member(t, s, o.ID)
	got, err := tenancy.Members.Get(t.Context(), s, tenancy.MemberPK(o.ID, m.ID))
	require.NoError(t, err)
	require.Equal(t, m, got)
	require.Equal(t, int64(1), got.Version)
	require.True(t, got.CreatedAt.Equal(c.at))
	require.Len(t, changes(t, s, o.ID, c.at), 2, "of the organization and the member")
}

func changes(t *testing.T, s tenancy.Store, org int64, at time.Time) (all []table.Item) {
	t.Helper()
	for bucket := range change.Buckets {
		for item, err := range s.Table.Between(t.Context(), change.Partition(org, at, bucket), "0", "~") {
			require.NoError(t, err)
			all = append(all, item)
		}
	}
	return all
}

func TestUpdateMovesVersionAndTime(t *testing.T) {
	s, c := newStore(t, "us")
	o := organization(t, s)
	c.at = c.at.Add(-time.Hour) // a clock that is behind
	got, err := tenancy.Organizations.Update(t.Context(), s, table.Org(o.ID), func(o *tenancy.Organization) error {
		o.Disabled = true
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, int64(2), got.Version)
	require.Equal(t, o.UpdatedAt.Add(time.Millisecond), got.UpdatedAt.Time)
	require.Equal(t, o.CreatedAt, got.CreatedAt)

	refusal := errors.New("no")
	_, err = tenancy.Organizations.Update(t.Context(), s, table.Org(o.ID), func(*tenancy.Organization) error { return refusal })
	require.ErrorIs(t, err, refusal)
	_, err = tenancy.Organizations.Update(t.Context(), s, table.Org(99), func(*tenancy.Organization) error { return nil })
	var missing *apierr.Error
	require.ErrorAs(t, err, &missing)
	require.Equal(t, "Organization not found", missing.Message)
}

func TestUpdateLeavesTheSettingsVersion(t *testing.T) {
	s, _ := newStore(t, "us")
	o := organization(t, s)
	key := table.Key{PK: table.Org(o.ID), SK: "-"}
	require.NoError(t, s.Table.Transact(t.Context(), table.BumpSettings(key, 5)))
	_, err := tenancy.Organizations.Update(t.Context(), s, key.PK, func(o *tenancy.Organization) error {
		o.Name = "Acme II"
		return nil
	})
	require.NoError(t, err)
	got, err := tenancy.Organizations.Get(t.Context(), s, key.PK)
	require.NoError(t, err)
	require.Equal(t, int64(5), got.Settings)
	require.Equal(t, "Acme II", got.Name)
}

func TestParallelUpdatesAllCount(t *testing.T) {
	s, _ := newStore(t, "us")
	m := member(t, s, organization(t, s).ID)
	const writers = 8
	var group sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		group.Go(func() {
			_, errs[i] = tenancy.Members.Update(t.Context(), s, tenancy.MemberPK(m.OrgID, m.ID), func(m *tenancy.Member) error {
				m.Name += "!"
				return nil
			})
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
	got, err := tenancy.Members.Get(t.Context(), s, tenancy.MemberPK(m.OrgID, m.ID))
	require.NoError(t, err)
	require.Equal(t, "Ada!!!!!!!!", got.Name)
	require.Equal(t, int64(1+writers), got.Version)
}

func TestListsAreOldestFirst(t *testing.T) {
	s, c := newStore(t, "us")
	o := organization(t, s)
	var want []int64
	for range 3 { // at the same time: by id
		want = append(want, member(t, s, o.ID).ID)
	}
	c.at = c.at.Add(-time.Hour)
	want = append([]int64{member(t, s, o.ID).ID}, want...)
	got, err := tenancy.Members.IDs(t.Context(), s, o.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)

	all, err := tenancy.Members.Many(t.Context(), s, []string{tenancy.MemberPK(o.ID, want[2]), tenancy.MemberPK(o.ID, want[0])})
	require.NoError(t, err)
	require.Equal(t, []int64{want[2], want[0]}, []int64{all[0].ID, all[1].ID})
	_, err = tenancy.Members.Many(t.Context(), s, []string{tenancy.MemberPK(o.ID, 77)})
	require.ErrorIs(t, err, table.ErrBusy, "a line of a list without its record")
}

// leaving is a caller who goes away once records were read for them.
type leaving struct {
	table.Client
	leave func()
}

func (l leaving) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	defer l.leave()
	return l.Client.BatchGetItem(ctx, in, o...)
}

func TestACallerWhoLeavesIsNotReadForAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := tenancy.Store{Table: tabletest.Behind(t, func(c table.Client) table.Client { return leaving{c, cancel} })}
	_, err := tenancy.Members.Many(ctx, s, []string{tenancy.MemberPK(1, 77)})
	require.ErrorIs(t, err, context.Canceled)
}

func TestMembersThatBreakARule(t *testing.T) {
	s, _ := newStore(t, "us")
	for field, broken := range map[string]tenancy.Member{
		"name":      {Name: " Ada", Email: "a@b.c", Role: tenancy.RoleMember},
		"email":     {Name: "Ada", Email: "Ada <a@b.c>", Role: tenancy.RoleMember},
		"role":      {Name: "Ada", Email: "a@b.c", Role: "owner"},
		"event_ids": {Name: "Ada", Email: "a@b.c", Role: tenancy.RoleEventOnly, EventIDs: []int64{1, 1}},
	} {
		require.Equal(t, field, fieldOf(t, tenancy.Members.Create(t.Context(), s, &broken)))
	}
	everywhere := tenancy.Member{Name: "Ada", Email: "a@b.c", Role: tenancy.RoleAdmin, EventIDs: []int64{1}}
	require.Equal(t, "event_ids", fieldOf(t, tenancy.Members.Create(t.Context(), s, &everywhere)))
}

func TestTokensThatBreakARule(t *testing.T) {
	s, _ := newStore(t, "us")
	m := member(t, s, organization(t, s).ID)
	good := tenancy.Token{OrgID: m.OrgID, UserID: m.ID, Name: "CI", Kind: tenancy.KindAPI, Scopes: []tenancy.Scope{"read:events"}}
	for name, c := range map[string]struct {
		field string
		spoil func(*tenancy.Token)
	}{
		"no name":                  {"name", func(t *tenancy.Token) { t.Name = "" }},
		"unknown kind":             {"kind", func(t *tenancy.Token) { t.Kind = "root" }},
		"no scope":                 {"scopes", func(t *tenancy.Token) { t.Scopes = nil }},
		"the scope of the logs":    {"scopes", func(t *tenancy.Token) { t.Scopes = append(t.Scopes, tenancy.ReadAuditLogs) }},
		"legacy with scopes":       {"scopes", func(t *tenancy.Token) { t.Kind = tenancy.KindLegacy }},
		"log export with more":     {"scopes", func(t *tenancy.Token) { t.Kind = tenancy.KindLogExport }},
		"negative limit":           {"limit", func(t *tenancy.Token) { t.Limit = -1 }},
		"an event twice":           {"event_ids", func(t *tenancy.Token) { t.EventIDs = []int64{4, 4} }},
		"another organization's":   {"user_id", func(t *tenancy.Token) { t.OrgID++ }},
		"log export by a member":   {"user_id", logExport},
		"log export for one event": {"event_ids", func(t *tenancy.Token) { logExport(t); t.EventIDs = []int64{4} }},
	} {
		token := good
		c.spoil(&token)
		require.Equal(t, c.field, fieldOf(t, s.CreateToken(t.Context(), &token)), name)
	}
	require.NoError(t, s.CreateToken(t.Context(), &good))
}

func logExport(t *tenancy.Token) {
	t.Kind, t.Scopes = tenancy.KindLogExport, []tenancy.Scope{tenancy.ReadAuditLogs}
}

func TestWhoMayMakeALogExportToken(t *testing.T) {
	s, _ := newStore(t, "us")
	m := member(t, s, organization(t, s).ID)
	try := func(events ...int64) error {
		token := tenancy.Token{OrgID: m.OrgID, UserID: m.ID, Name: "Logs", EventIDs: events}
		logExport(&token)
		return s.CreateToken(t.Context(), &token)
	}
	become := func(edit func(*tenancy.Member)) {
		_, err := tenancy.Members.Update(t.Context(), s, tenancy.MemberPK(m.OrgID, m.ID), func(m *tenancy.Member) error {
			edit(m)
			return nil
		})
		require.NoError(t, err)
	}
	require.Equal(t, "user_id", fieldOf(t, try()))
	become(func(m *tenancy.Member) { m.ManageUsers = true })
	require.NoError(t, try())
	require.Equal(t, "event_ids", fieldOf(t, try(4)))
	become(func(m *tenancy.Member) { m.ManageUsers, m.Role = false, tenancy.RoleAdmin })
	require.NoError(t, try())
	become(func(m *tenancy.Member) { m.Active = false })
	require.Equal(t, "user_id", fieldOf(t, try()))
}

func TestSecretsAreInNoChange(t *testing.T) {
	s, c := newStore(t, "us")
	m := member(t, s, organization(t, s).ID)
	token := tenancy.Token{OrgID: m.OrgID, UserID: m.ID, Name: "CI", Kind: tenancy.KindLegacy, SecretHash: []byte("hash")}
	require.NoError(t, s.CreateToken(t.Context(), &token))
	for _, item := range changes(t, s, m.OrgID, c.at) {
		require.NotContains(t, string(item.Data), "secret_hash")
	}
	require.Empty(t, token.WithoutSecret().SecretHash)
	require.NotEmpty(t, token.SecretHash)
}

func TestATokenExpiresAtItsTime(t *testing.T) {
	end := wire.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	token := tenancy.Token{ExpiresAt: &end}
	require.False(t, token.Expired(end.Add(-time.Millisecond)))
	require.True(t, token.Expired(end.Time))
	require.False(t, (&tenancy.Token{}).Expired(end.Time))
}

func TestWhatMembersAndTokensSee(t *testing.T) {
	require.True(t, (&tenancy.Token{}).Sees(5))
	require.True(t, (&tenancy.Token{EventIDs: []int64{5}}).Sees(5))
	require.False(t, (&tenancy.Token{EventIDs: []int64{4}}).Sees(5))
	require.True(t, (&tenancy.Member{Role: tenancy.RoleMember}).Sees(5))
	require.False(t, (&tenancy.Member{Role: tenancy.RoleEventOnly}).Sees(5))
	require.True(t, (&tenancy.Member{Role: tenancy.RoleEventOnly, EventIDs: []int64{5}}).Sees(5))
}
