package grant_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/auth"
	"lectern/shared/grant"
)

// TestAnApplicationThatChangesBesideAnExchange gets what it may after the change: nothing if it is disabled.
func TestAnApplicationThatChangesBesideAnExchange(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*grant.Client)
		want string
	}{
		"disabled":      {func(c *grant.Client) { c.Disabled = true }, grant.InvalidClient},
		"fewer scopes":  {func(c *grant.Client) { c.Scopes = []auth.Scope{auth.ReadSessions} }, "read:sessions"},
		"other scopes":  {func(c *grant.Client) { c.Scopes = []auth.Scope{auth.ReadContacts} }, grant.InvalidGrant},
		"other address": {func(c *grant.Client) { c.RedirectURIs = []string{"https://other.example"} }, grant.InvalidGrant},
		"another name":  {func(c *grant.Client) { c.Name = "Agenda 2" }, "read:events read:sessions write:sessions"},
	} {
		w := newWorld(t)
		code, calls := w.code(w.request()), 0
		st := w.Store
		st.Tenancy.Now = func() time.Time { // The second time is that of the new tokens: the application has been read.
			if calls++; calls == 2 {
				_, err := w.Edit(t.Context(), w.client.ID, c.edit)
				require.NoError(t, err)
			}
			return w.now
		}
		tokens, err := st.Tokens(t.Context(), w.exchange(code))
		require.GreaterOrEqual(t, calls, 2, name)
		var refused *grant.Error
		if errors.As(err, &refused) {
			require.Equal(t, c.want, refused.Code, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, tokens.Scope, name)
	}
}

// TestARefreshGivesWhatTheApplicationMayAskForNow, and nothing without any scope.
func TestARefreshGivesWhatTheApplicationMayAskForNow(t *testing.T) {
	w := newWorld(t)
	tokens := w.connect()
	limit := func(scopes ...auth.Scope) {
		_, err := w.Edit(t.Context(), w.client.ID, func(c *grant.Client) { c.Scopes = scopes })
		require.NoError(t, err)
	}
	limit(auth.ReadSessions, auth.ReadContacts)
	all := grant.Refresh{Token: tokens.RefreshToken, ClientID: w.client.ID, Scope: tokens.Scope}
	next, err := w.Refresh(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, "read:sessions", next.Scope)
	limit(auth.ReadContacts)
	for _, scope := range []string{tokens.Scope, "", "read:sessions"} {
		all.Scope = scope
		again, err := w.Refresh(t.Context(), all)
		require.NoError(t, err, "the answer was lost")
		require.Equal(t, next, again)
	}
	all.Scope = "read:events"
	_, err = w.Refresh(t.Context(), all)
	require.ErrorContains(t, err, grant.InvalidScope)
	_, err = w.Refresh(t.Context(), grant.Refresh{Token: next.RefreshToken, ClientID: w.client.ID})
	require.ErrorContains(t, err, grant.InvalidGrant)
	limit(auth.ReadEvents, auth.ReadSessions)
	again, err := w.Refresh(t.Context(), grant.Refresh{Token: next.RefreshToken, ClientID: w.client.ID})
	require.NoError(t, err)
	require.Equal(t, "read:events read:sessions", again.Scope, "the member has approved both")
}
