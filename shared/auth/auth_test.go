package auth_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/metering"
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

var now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// world is an organization with a member, an event and a token of each kind.
type world struct {
	store tenancy.Store
	auth  *auth.Authenticator
	org   *tenancy.Organization
	owner *tenancy.Member
	event *programme.Event
	token *tenancy.Token
	text  auth.Text
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, tabletest.Start(t))
}

func newWorldOn(t *testing.T, tab *table.Table) *world {
	t.Helper()
	at := func() time.Time { return now }
	s := tenancy.Store{Table: tab, Now: at, Region: "us"}
	w := &world{store: s, auth: auth.New(s.Table, at, "us")}
	w.org = &tenancy.Organization{Name: "Acme"}
	require.NoError(t, tenancy.Organizations.Create(t.Context(), s, w.org))
	w.owner = &tenancy.Member{OrgID: w.org.ID, Name: "Ada", Email: "ada@example.com", Role: tenancy.RoleAdmin, Active: true}
	require.NoError(t, tenancy.Members.Create(t.Context(), s, w.owner))
	w.event = &programme.Event{OrgID: w.org.ID, Name: "Conf", DefaultLanguage: "en", StartsAt: wire.At(now), EndsAt: wire.At(now)}
	require.NoError(t, programme.Events.Create(t.Context(), s, w.event))
	w.text = auth.Text{Region: "us", Org: w.org.ID, User: w.owner.ID, Secret: auth.NewSecret()}
	end := wire.At(now.Add(time.Hour))
	w.token = &tenancy.Token{OrgID: w.org.ID, UserID: w.owner.ID, Name: "CI", Kind: tenancy.KindLegacy,
		SecretHash: w.text.Hash(), ExpiresAt: &end}
	require.NoError(t, s.CreateToken(t.Context(), w.token))
	w.text.ID = w.token.ID
	return w
}

// refusal returns the refusal of a token. It requires the same 401 for every reason.
func refusal(t *testing.T, err error) auth.Refusal {
	t.Helper()
	var refused *auth.Refusal
	require.ErrorAs(t, err, &refused)
	var shown *apierr.Error
	require.ErrorAs(t, err, &shown)
	require.Equal(t, apierr.Unauthorized(), shown)
	return *refused
}

func TestAuthenticateFindsTheCaller(t *testing.T) {
	w := newWorld(t)
	for range 2 { // from the table, then from memory
		w.org.Auth = 3 // member, event, token
		caller, err := w.auth.Authenticate(t.Context(), auth.FormToken, w.text.String(), w.event.ID)
		require.NoError(t, err)
		require.Equal(t, &auth.Caller{Token: *w.token, Member: *w.owner, Org: *w.org, Event: w.event}, caller)
		caller, err = w.auth.Authenticate(t.Context(), auth.FormToken, w.text.String(), 0)
		require.NoError(t, err)
		require.Nil(t, caller.Event, "no event in the path")
		caller, err = w.auth.Authenticate(t.Context(), auth.FormToken, w.text.String(), 4711)
		require.NoError(t, err)
		require.Nil(t, caller.Event, "an unknown event")
	}
}

func TestTokensThatAreRefusedUnread(t *testing.T) {
	w := newWorld(t)
	good := w.text.String()
	other := w.text
	other.Region = "eu"
	for name, c := range map[string]struct {
		text string
		want auth.Reason
	}{
		"missing":         {"", auth.ReasonMissing},
		"no token at all": {"hunter2", auth.ReasonMalformed},
		"too short":       {"lct_us_abc", auth.ReasonMalformed},
		"endless":         {good + strings.Repeat("a", 10_000), auth.ReasonMalformed},
		"a typo":          {typo(good), auth.ReasonChecksum},
		"cut":             {good[:len(good)-1], auth.ReasonChecksum},
		"other region":    {other.String(), auth.ReasonRegion},
	} {
		ctx, meter := metering.Measured(t.Context())
		_, err := w.auth.Authenticate(ctx, auth.FormToken, c.text, 0)
		require.Equal(t, auth.Refusal{Reason: c.want}, refusal(t, err), name)
		calls, _, _, _ := meter.Totals()
		require.Zero(t, calls, name)
	}
}

// typo changes a character in the middle of a text.
func typo(text string) string {
	middle := len(text) / 2
	swapped := byte('x')
	if text[middle] == swapped {
		swapped = 'y'
	}
	return text[:middle] + string(swapped) + text[middle+1:]
}

func TestTokensThatAreRefusedAfterReading(t *testing.T) {
	earlier := wire.At(now)
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, *world)
		want  auth.Reason
	}{
		{"unknown", func(_ *testing.T, w *world) { w.text.ID += 99 }, auth.ReasonUnknown},
		{"another organization's", func(_ *testing.T, w *world) { w.text.Org++ }, auth.ReasonUnknown},
		{"another user's", func(_ *testing.T, w *world) { w.text.User++ }, auth.ReasonUnknown},
		{"wrong secret", func(_ *testing.T, w *world) { w.text.Secret[0] ^= 1 }, auth.ReasonWrongSecret},
		{"revoked", func(t *testing.T, w *world) { w.editToken(t, func(k *tenancy.Token) { k.RevokedAt = &earlier }) }, auth.ReasonRevoked},
		{"expired", func(t *testing.T, w *world) { w.editToken(t, func(k *tenancy.Token) { k.ExpiresAt = &earlier }) }, auth.ReasonExpired},
		{"owner inactive", func(t *testing.T, w *world) { w.editOwner(t, func(m *tenancy.Member) { m.Active = false }) }, auth.ReasonOwner},
		{"owner removed", func(t *testing.T, w *world) { w.editOwner(t, func(m *tenancy.Member) { m.RemovedAt = &earlier }) }, auth.ReasonOwner},
		{"organization disabled", func(t *testing.T, w *world) { w.disable(t) }, auth.ReasonOrganization},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.spoil(t, w)
			_, err := w.auth.Authenticate(t.Context(), auth.FormToken, w.text.String(), w.event.ID)
			want := auth.Refusal{Reason: c.want}
			if c.want != auth.ReasonUnknown {
				want.Org, want.Token = w.org.ID, w.token.ID
			}
			require.Equal(t, want, refusal(t, err))
		})
	}
}

func (w *world) editToken(t *testing.T, edit func(*tenancy.Token)) {
	t.Helper()
	_, err := tenancy.Tokens.Update(t.Context(), w.store, tenancy.TokenPK(w.org.ID, w.token.ID), func(k *tenancy.Token) error {
		edit(k)
		return nil
	})
	require.NoError(t, err)
}

func (w *world) editOwner(t *testing.T, edit func(*tenancy.Member)) {
	t.Helper()
	_, err := tenancy.Members.Update(t.Context(), w.store, tenancy.MemberPK(w.org.ID, w.owner.ID), func(m *tenancy.Member) error {
		edit(m)
		return nil
	})
	require.NoError(t, err)
}

func (w *world) disable(t *testing.T) {
	t.Helper()
	_, err := tenancy.Organizations.Update(t.Context(), w.store, table.Org(w.org.ID), func(o *tenancy.Organization) error {
		o.Disabled = true
		return nil
	})
	require.NoError(t, err)
}

func TestAReactivatedOwnersTokenWorksAgain(t *testing.T) {
	w := newWorld(t)
	w.editOwner(t, func(m *tenancy.Member) { m.Active = false })
	w.editOwner(t, func(m *tenancy.Member) { m.Active = true })
	_, err := w.auth.Authenticate(t.Context(), auth.FormToken, w.text.String(), 0)
	require.NoError(t, err)
}

func TestTextRoundTrip(t *testing.T) {
	for _, ids := range [][3]int64{{1, 1, 1}, {127, 128, 1 << 40}, {1_000_000_001, 1_000_000_002, 1_000_000_003}} {
		for _, form := range []auth.Form{auth.FormToken, auth.FormAccess, auth.FormRefresh} {
			want := auth.Text{Form: form, Region: "eu", Org: ids[0], User: ids[1], ID: ids[2], Secret: auth.NewSecret()}
			text := want.String()
			require.Regexp(t, `^lc[tar]_eu_[0-9A-Za-z]+$`, text)
			for _, as := range []auth.Form{auth.FormToken, auth.FormAccess, auth.FormRefresh} {
				got, err := auth.Parse(as, text)
				if as == form {
					require.NoError(t, err)
					require.Equal(t, want, got)
				} else {
					require.Equal(t, auth.ReasonMalformed, refusal(t, err).Reason)
				}
			}
		}
	}
}

// TestParseRefusesWellSummedNonsense: texts with a valid checksum but invalid content.
func TestParseRefusesWellSummedNonsense(t *testing.T) {
	id := big.NewInt(0).Text(62)
	for _, digits := range []string{id, "1", "!!!!", "1!", strings.Repeat("z", 60), strings.Repeat("0", 60), "-1"} {
		text := auth.Summed("lct_us_" + digits)
		_, err := auth.Parse(auth.FormToken, text)
		require.Equal(t, auth.ReasonMalformed, refusal(t, err).Reason, digits)
	}
}

// TestATokenHasOneText: zeros or a sign ahead of the digits do not make another
// text of the same token, whatever its checksum.
func TestATokenHasOneText(t *testing.T) {
	text := auth.Text{Region: "eu", Org: 1, User: 2, ID: 3, Secret: auth.NewSecret()}.String()
	head, digits, _ := strings.Cut(text[:len(text)-6], "eu_")
	require.Equal(t, text, auth.Summed(head+"eu_"+digits))
	for _, ahead := range []string{"0", "00", "+", "+0"} {
		_, err := auth.Parse(auth.FormToken, auth.Summed(head+"eu_"+ahead+digits))
		require.Equal(t, auth.ReasonMalformed, refusal(t, err).Reason, ahead)
	}
}

func TestMay(t *testing.T) {
	token := func(kind tenancy.Kind, scopes ...auth.Scope) *auth.Caller {
		return &auth.Caller{Token: tenancy.Token{Kind: kind, Scopes: scopes}}
	}
	legacy := token(tenancy.KindLegacy)
	logs := token(tenancy.KindLogExport, auth.ReadAuditLogs)
	reader := token(tenancy.KindAPI, auth.ReadEvents)

	for _, scope := range auth.AllScopes {
		reads := strings.HasPrefix(string(scope), "read:") && scope != auth.ReadAuditLogs
		require.Equal(t, reads, legacy.May(auth.Scopes{scope}) == nil, "legacy, %s", scope)
		require.Equal(t, scope == auth.ReadAuditLogs, logs.May(auth.Scopes{scope}) == nil, "log export, %s", scope)
		require.Equal(t, scope == auth.ReadEvents, reader.May(auth.Scopes{scope}) == nil, "read:events, %s", scope)
	}
	require.NoError(t, reader.May(auth.Scopes{auth.ReadSessions, auth.ReadEvents}), "any of them")
	require.NoError(t, reader.May(auth.Public))
	require.NoError(t, logs.May(auth.Public))

	require.Equal(t, "log_export_only", forbidden(t, logs.May(auth.Scopes{auth.ReadEvents})).Reason)
	refused := forbidden(t, reader.May(auth.Scopes{auth.ReadSessions, auth.ReadContacts}))
	require.Empty(t, refused.Reason)
	require.Contains(t, refused.Message, "read:sessions or read:contacts")
}

func forbidden(t *testing.T, err error) *apierr.Error {
	t.Helper()
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 403, refused.Status)
	return refused
}

func TestScopesAreWrittenWithABar(t *testing.T) {
	require.Equal(t, "read:events|read:sessions", auth.Scopes{auth.ReadEvents, auth.ReadSessions}.String())
	require.Len(t, auth.AllScopes, 20)
}

func TestSeesEventNeedsTokenAndMember(t *testing.T) {
	caller := auth.Caller{Token: tenancy.Token{EventIDs: []int64{1, 2}}, Member: tenancy.Member{Role: tenancy.RoleEventOnly, EventIDs: []int64{2, 3}}}
	for event, want := range map[int64]bool{1: false, 2: true, 3: false, 4: false} {
		require.Equal(t, want, caller.SeesEvent(event), "event %d", event)
	}
}

func TestTheCallerIsTheActorOfChanges(t *testing.T) {
	caller := &auth.Caller{Token: tenancy.Token{ID: 5}, Member: tenancy.Member{ID: 6}}
	ctx := auth.With(context.Background(), caller)
	require.Same(t, caller, auth.From(ctx))
	require.Nil(t, auth.From(context.Background()))
	got := change.New(ctx, change.Record{At: wire.At(now)})
	require.Equal(t, change.Actor{Type: change.ActorToken, ID: 6, Token: 5}, got.Actor)
	require.Equal(t, change.SourceAPI, got.Source)
}

func TestATableThatFailsIsNoRefusal(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.auth.Authenticate(ctx, auth.FormToken, w.text.String(), 0)
	require.ErrorIs(t, err, context.Canceled)
	var refused *auth.Refusal
	require.False(t, errors.As(err, &refused))
}
