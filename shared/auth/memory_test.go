package auth_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/tabletest"
	"lectern/shared/auth"
	"lectern/shared/metering"
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// units returns the read units of an authentication. The token may be refused.
func (w *world) units(t *testing.T, text auth.Text, event int64) float64 {
	t.Helper()
	ctx, meter := metering.Measured(t.Context())
	_, _ = w.auth.Authenticate(ctx, auth.FormToken, text.String(), event) // A refusal costs as well.
	_, _, rcu, wcu := meter.Totals()
	require.Zero(t, wcu)
	return rcu
}

func TestAuthenticationReadsOrganizationAndEvent(t *testing.T) {
	w := newWorld(t)
	const first, renewed = 3 + 6, 2 + 6
	require.EqualValues(t, first, w.units(t, w.text, w.event.ID))
	for range 3 {
		require.EqualValues(t, 2, w.units(t, w.text, w.event.ID))
		require.EqualValues(t, 1, w.units(t, w.text, 0))
	}
	changes := map[string]func(){
		"token":  func() { w.editToken(t, func(k *tenancy.Token) { k.Name += "!" }) },
		"member": func() { w.editOwner(t, func(m *tenancy.Member) { m.Name += "!" }) },
		"organization": func() {
			_, err := tenancy.Organizations.Update(t.Context(), w.store, table.Org(w.org.ID), func(*tenancy.Organization) error { return nil })
			require.NoError(t, err)
		},
		"event": func() {
			_, err := programme.Events.Update(t.Context(), w.store, table.Event(w.org.ID, w.event.ID), func(*programme.Event) error { return nil })
			require.NoError(t, err)
		},
		"another member": func() {
			other := tenancy.Member{OrgID: w.org.ID, Name: "Bo", Email: "bo@example.com", Role: tenancy.RoleMember, Active: true}
			require.NoError(t, tenancy.Members.Create(t.Context(), w.store, &other))
		},
		"another event": func() {
			other := programme.Event{OrgID: w.org.ID, Name: "Conf", DefaultLanguage: "en", StartsAt: wire.At(now), EndsAt: wire.At(now)}
			require.NoError(t, programme.Events.Create(t.Context(), w.store, &other))
		},
		"another token": func() {
			other := *w.token
			require.NoError(t, w.store.CreateToken(t.Context(), &other))
		},
	}
	for name, change := range changes {
		change()
		require.EqualValues(t, renewed, w.units(t, w.text, w.event.ID), name)
		require.EqualValues(t, 2, w.units(t, w.text, w.event.ID), name)
	}
}

// TestSettingsLeaveTheMemory: settings change often, and do not change access.
func TestSettingsLeaveTheMemory(t *testing.T) {
	w := newWorld(t)
	w.units(t, w.text, w.event.ID)
	for _, pk := range []string{table.Org(w.org.ID), table.Event(w.org.ID, w.event.ID)} {
		require.NoError(t, w.store.Table.Transact(t.Context(), table.BumpSettings(table.Key{PK: pk, SK: "-"}, 7)))
	}
	caller, err := w.auth.Authenticate(t.Context(), auth.FormToken, w.text.String(), w.event.ID)
	require.NoError(t, err)
	require.Equal(t, []int64{7, 7}, []int64{caller.Org.Settings, caller.Event.Settings})
	require.EqualValues(t, 2, w.units(t, w.text, w.event.ID))
}

// TestForgedTokensAreNeverKept: a forged text costs the first batch each time, and does not
// change the memory.
func TestForgedTokensAreNeverKept(t *testing.T) {
	w := newWorld(t)
	wrong, unknown, other, foreign := w.text, w.text, w.text, w.text
	wrong.Secret[0] ^= 1
	unknown.ID += 1000
	other.User++
	foreign.Org += 1000
	for range 2 {
		for name, text := range map[string]auth.Text{"wrong": wrong, "unknown": unknown, "other": other, "foreign": foreign} {
			require.EqualValues(t, 3, w.units(t, text, w.event.ID), name)
		}
		require.Zero(t, w.auth.Kept())
	}
	w.units(t, w.text, w.event.ID)
	require.Equal(t, 1, w.auth.Kept())
	w.editToken(t, func(k *tenancy.Token) { k.Name += "!" })
	for range 2 {
		require.EqualValues(t, 2, w.units(t, wrong, w.event.ID), "a wrong secret has nothing read again")
		require.EqualValues(t, 2, w.units(t, other, w.event.ID))
		require.EqualValues(t, 3, w.units(t, foreign, w.event.ID))
		require.Equal(t, auth.ReasonWrongSecret, w.reason(t, wrong))
		require.Equal(t, auth.ReasonUnknown, w.reason(t, other))
	}
	require.Equal(t, 1, w.auth.Kept())
}

func (w *world) reason(t *testing.T, text auth.Text) auth.Reason {
	t.Helper()
	_, err := w.auth.Authenticate(t.Context(), auth.FormToken, text.String(), w.event.ID)
	return refusal(t, err).Reason
}

// TestTheMemoryIsBounded: tokens that were used lately stay, at most a thousand in all.
func TestTheMemoryIsBounded(t *testing.T) {
	w := newWorld(t)
	w.units(t, w.text, w.event.ID)
	for i := range 1700 {
		w.auth.Keep(auth.Text{Org: w.org.ID, ID: int64(1_000_000 + i)})
		if i%300 == 0 {
			require.EqualValues(t, 2, w.units(t, w.text, w.event.ID), "after %d others", i)
		}
		require.LessOrEqual(t, w.auth.Kept(), 1000)
	}
	for i := range 1000 {
		w.auth.Keep(auth.Text{Org: w.org.ID, ID: int64(2_000_000 + i)})
	}
	require.EqualValues(t, 9, w.units(t, w.text, w.event.ID), "forgotten, not refused")
}

// TestAnOrganizationOfBefore: tokens of an organization without an auth version are not taken
// from memory until the first change of the organization.
func TestAnOrganizationOfBefore(t *testing.T) {
	w := newWorld(t)
	org := w.org.ID + 1000
	text := auth.Text{Region: "us", Org: org, User: w.owner.ID, ID: w.token.ID, Secret: w.text.Secret}
	for _, pk := range []string{table.Org(w.org.ID), tenancy.MemberPK(w.org.ID, w.owner.ID), tenancy.TokenPK(w.org.ID, w.token.ID)} {
		item, err := w.store.Table.Get(t.Context(), table.Key{PK: pk, SK: "-"})
		require.NoError(t, err)
		item.PK = table.Org(org) + pk[len(table.Org(w.org.ID)):]
		item.Data = []byte(strings.NewReplacer(fmt.Sprintf(`"id":%d,`, w.org.ID), fmt.Sprintf(`"id":%d,`, org),
			fmt.Sprintf(`"org_id":%d,`, w.org.ID), fmt.Sprintf(`"org_id":%d,`, org)).Replace(string(item.Data)))
		require.NoError(t, w.store.Table.Transact(t.Context(), table.Insert(item)))
	}
	for range 2 {
		caller, err := w.auth.Authenticate(t.Context(), auth.FormToken, text.String(), 0)
		require.NoError(t, err)
		require.Zero(t, caller.Org.Auth)
	}
	require.EqualValues(t, 7, w.units(t, text, 0), "as if it were in no memory")
	key := table.Key{PK: tenancy.TokenPK(org, w.token.ID), SK: "-"}
	item, err := w.store.Table.Get(t.Context(), key)
	require.NoError(t, err)
	token, err := tenancy.Tokens.Decode(item)
	require.NoError(t, err)
	at := wire.At(now)
	token.RevokedAt = &at
	was := item.Version
	item.Version++
	item.Data, err = wire.Encode(token)
	require.NoError(t, err)
	require.NoError(t, w.store.Table.Transact(t.Context(), table.Replace(item, was)))
	require.Equal(t, auth.ReasonRevoked, w.reason(t, text), "revoked by the release before, which raises no auth version")
	_, err = tenancy.Tokens.Update(t.Context(), w.store, tenancy.TokenPK(org, w.token.ID), func(k *tenancy.Token) error {
		k.RevokedAt = nil
		return nil
	})
	require.NoError(t, err)
	for range 2 {
		_, err = w.auth.Authenticate(t.Context(), auth.FormToken, text.String(), 0)
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, w.units(t, text, 0))
}

// TestATornChangeIsNotKept: while a change becomes visible item by item, a read may see the new
// auth version with the old token. The old token must not stay in memory.
func TestATornChangeIsNotKept(t *testing.T) {
	w := newWorldOn(t, tabletest.Behind(t, func(c table.Client) table.Client { return faulty.New(c, faulty.Config{Seed: 1, Torn: 1}) }))
	for round := range 40 {
		active := round%2 == 1
		instance := auth.New(w.store.Table, func() time.Time { return now }, "us")
		ctx, stop := context.WithCancel(t.Context())
		var reader sync.WaitGroup
		reader.Go(func() {
			for ctx.Err() == nil {
				_, _ = instance.Authenticate(ctx, auth.FormToken, w.text.String(), 0) // Served or refused, as the change goes.
			}
		})
		w.editOwner(t, func(m *tenancy.Member) { m.Active = active })
		_, err := instance.Authenticate(t.Context(), auth.FormToken, w.text.String(), 0)
		stop()
		reader.Wait()
		require.Equal(t, active, err == nil, "round %d: %v", round, err)
	}
}
