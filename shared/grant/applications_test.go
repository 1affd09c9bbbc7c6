package grant_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

func clientKey(id string) table.Key { return table.Key{PK: "R#application", SK: id} }

// TestAStrangersApplicationEndsUnlessAMemberConnectsIt within a day.
func TestAStrangersApplicationEndsUnlessAMemberConnectsIt(t *testing.T) {
	w := newWorld(t)
	register := func() *grant.Client {
		c := &grant.Client{Name: "Agenda", RedirectURIs: []string{callback}, Scopes: []auth.Scope{auth.ReadEvents}}
		require.NoError(t, w.RegisterStranger(t.Context(), c))
		return c
	}
	forgotten, kept := register(), register()
	w.client = kept
	w.connect()
	w.connect()
	item, err := w.Tenancy.Table.Get(t.Context(), clientKey(forgotten.ID))
	require.NoError(t, err)
	require.NotZero(t, item.Expires)
	w.now = w.now.Add(24 * time.Hour)
	_, err = w.Client(t.Context(), forgotten.ID)
	requireRefused(t, err, grant.InvalidClient)
	found, err := w.Client(t.Context(), kept.ID)
	require.NoError(t, err)
	require.Nil(t, found.ExpiresAt)
	item, err = w.Tenancy.Table.Get(t.Context(), clientKey(kept.ID))
	require.NoError(t, err)
	require.Zero(t, item.Expires, "the table keeps it")
}

// TestADisabledApplication gets no code and no tokens; its access tokens work until they expire or its connections are ended.
func TestADisabledApplication(t *testing.T) {
	w := newWorld(t)
	tokens, code := w.connect(), w.code(w.request())
	a, err := w.Check(t.Context(), w.request())
	require.NoError(t, err)
	disabled := func(c *grant.Client) { c.Disabled = true }
	_, err = w.Edit(t.Context(), w.client.ID, disabled)
	require.NoError(t, err)
	_, err = w.Check(t.Context(), w.request())
	requireRefused(t, err, grant.InvalidClient)
	_, err = w.Tokens(t.Context(), w.exchange(code))
	requireRefused(t, err, grant.InvalidClient)
	_, err = w.refresh(tokens.RefreshToken)
	requireRefused(t, err, grant.InvalidClient)
	require.True(t, w.opens(tokens.AccessToken))
	ended, err := w.DisconnectAll(t.Context(), w.org.ID, w.client.ID)
	require.NoError(t, err)
	require.Equal(t, 1, ended)
	require.False(t, w.opens(tokens.AccessToken))
	ended, err = w.DisconnectAll(t.Context(), w.org.ID, w.client.ID)
	require.NoError(t, err)
	require.Zero(t, ended)

	_, err = w.Edit(t.Context(), w.client.ID, func(c *grant.Client) { c.Disabled = false })
	require.NoError(t, err)
	_, err = w.Approve(t.Context(), a, w.org.ID, w.member.ID)
	require.NoError(t, err)
	_, err = w.Edit(t.Context(), w.client.ID, func(c *grant.Client) { c.Name = "" })
	require.True(t, apierr.IsInvalid(err))
	_, err = w.Edit(t.Context(), "00000000-0000-4000-8000-000000000000", disabled)
	require.True(t, apierr.IsNotFound(err))
}

// TestAMemberSeesAndEndsConnections of the member alone.
func TestAMemberSeesAndEndsConnections(t *testing.T) {
	w := newWorld(t)
	tokens := w.connect()
	w.connect()
	all, err := w.Tenancy.Connections(t.Context(), w.org.ID, w.member.ID)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, c := range []struct{ org, user, id int64 }{
		{w.org.ID, w.member.ID + 1, all[0].ID}, {w.org.ID + 1, w.member.ID, all[0].ID}, {w.org.ID, w.member.ID, all[1].ID + 1},
	} {
		require.True(t, apierr.IsNotFound(w.Disconnect(t.Context(), c.org, c.user, c.id)))
	}
	require.True(t, w.opens(tokens.AccessToken))
	require.NoError(t, w.Disconnect(t.Context(), w.org.ID, w.member.ID, all[0].ID))
	require.NoError(t, w.Disconnect(t.Context(), w.org.ID, w.member.ID, all[0].ID))
	require.False(t, w.opens(tokens.AccessToken))
	left, err := w.Tenancy.Connections(t.Context(), w.org.ID, w.member.ID)
	require.NoError(t, err)
	require.Equal(t, []int64{all[1].ID}, []int64{left[0].ID})
	require.Len(t, left, 1)
	ended, err := tenancy.Tokens.Get(t.Context(), w.Tenancy, tenancy.TokenPK(w.org.ID, all[0].ID))
	require.NoError(t, err)
	require.Equal(t, tenancy.EndedByMember, ended.Grant.Ended)
}

// TestAHundredConnections are the most; expired ones make room.
func TestAHundredConnections(t *testing.T) {
	w := newWorld(t)
	var ids []int64
	for range 100 {
		w.connect()
	}
	a, err := w.Check(t.Context(), w.request())
	require.NoError(t, err)
	_, err = w.Approve(t.Context(), a, w.org.ID, w.member.ID)
	requireRefused(t, err, grant.AccessDenied)
	all, err := w.Tenancy.Connections(t.Context(), w.org.ID, w.member.ID)
	require.NoError(t, err)
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	require.IsIncreasing(t, ids)
	w.now = w.now.Add(8 * 24 * time.Hour)
	kept := w.connect()
	require.True(t, w.opens(kept.AccessToken))
	all, err = w.Tenancy.Connections(t.Context(), w.org.ID, w.member.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// TestApplicationsAreListed in pages.
func TestApplicationsAreListed(t *testing.T) {
	w := newWorld(t)
	want := map[string]bool{w.client.ID: true}
	for range 4 {
		want[w.register("https://app.example/x").ID] = true
	}
	after, found := "", map[string]bool{}
	for range 3 {
		page, next, err := w.Clients(t.Context(), after, 2)
		require.NoError(t, err)
		for _, c := range page {
			require.Greater(t, c.ID, after)
			found[c.ID] = true
		}
		after = next
	}
	require.Empty(t, after)
	require.Equal(t, want, found)
}

// TestTheWayBack to an application keeps the query of its address.
func TestTheWayBack(t *testing.T) {
	w := newWorld(t)
	r := grant.Request{RedirectURI: "https://app.example/done?a=1&b=%20", State: "s t"}
	granted, err := url.Parse(w.Granted(r, "c"))
	require.NoError(t, err)
	require.Equal(t, "a=1&b=%20&code=c&iss="+url.QueryEscape(w.Address)+"&state=s+t", granted.RawQuery)
	refused := w.Refused(grant.Request{RedirectURI: "com.example.app:/done"}, &grant.Error{Code: grant.AccessDenied, Description: "No."})
	require.Equal(t, "com.example.app:/done?error=access_denied&error_description=No.&iss="+url.QueryEscape(w.Address), refused)
}

// TestHowLongAnApplicationOfAStrangerWaits is part of the record, so that the operator sees it.
func TestHowLongAnApplicationOfAStrangerWaits(t *testing.T) {
	w := newWorld(t)
	c := &grant.Client{Name: "Agenda", RedirectURIs: []string{callback}, Scopes: []auth.Scope{auth.ReadEvents}}
	require.NoError(t, w.RegisterStranger(t.Context(), c))
	require.Equal(t, wire.At(w.now.Add(24*time.Hour)), *c.ExpiresAt)
}
