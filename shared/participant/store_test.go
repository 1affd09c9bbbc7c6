package participant_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/participant"
	"lectern/shared/programme"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// backstage writes roles of an event.
type backstage struct {
	*testing.T
	item.Store
	caller *auth.Caller
}

func newBackstage(t *testing.T) *backstage {
	t.Helper()
	b := &backstage{t, item.Store{Table: tabletest.Start(t), Now: time.Now, NewID: uuid.NewString}, &auth.Caller{
		Org: tenancy.Organization{ID: 1}, Event: &programme.Event{ID: 2, Features: programme.Features{Sessions2: true}},
	}}
	owner := table.Item{Key: item.Place{Org: 1, Event: 2}.Owner(), Version: 1, Data: []byte("{}")}
	require.NoError(t, b.Table.Transact(t.Context(), table.Insert(owner)))
	return b
}

// roles are the event's, as they are stored.
func (b *backstage) roles() *participant.Roles {
	b.Helper()
	var stored []*participant.Role
	for found, err := range b.Table.Between(context.Background(), item.Place{Org: 1, Event: 2}.Partition(), "A", "~") {
		require.NoError(b, err)
		r, err := item.Decode[participant.Role](found)
		require.NoError(b, err)
		stored = append(stored, r)
	}
	return participant.NewRoles(2, wire.Time{}, stored)
}

// store returns the store of roles for the event as it is stored.
func (b *backstage) store() participant.Store {
	b.Helper()
	return participant.Store{Store: b.Store, Caller: b.caller, Roles: b.roles()}
}

func draft(name, core string) participant.Draft {
	return participant.Draft{Name: wire.Some(name), CoreRole: wire.Some(core)}
}

func (b *backstage) refused(status int, field string, err error) {
	b.Helper()
	var e *apierr.Error
	require.ErrorAs(b, err, &e)
	require.Equal(b, status, e.Status)
	if field != "" {
		require.Equal(b, field, e.Details["field"])
	}
}

func slugs(roles *participant.Roles) (all []string) {
	for _, r := range roles.All() {
		all = append(all, r.Slug)
	}
	return all
}

func TestEveryEventHasThreeRoles(t *testing.T) {
	roles := participant.NewRoles(2, wire.Time{}, nil)
	require.Equal(t, []string{"speaker", "chairperson", "moderator"}, slugs(roles))
	for _, r := range roles.All() {
		require.Equal(t, r.Slug, r.CoreRole)
		require.False(t, r.IsCustom)
		found, ok := roles.ByID(r.ID)
		require.True(t, ok)
		require.Same(t, r, found)
	}
	again := participant.NewRoles(2, wire.Time{}, nil)
	require.Equal(t, roles.All()[0].ID, again.All()[0].ID)
	require.NotEqual(t, roles.All()[0].ID, participant.NewRoles(3, wire.Time{}, nil).All()[0].ID)
	_, ok := roles.ByID("")
	require.False(t, ok)
}

func TestCustomRoles(t *testing.T) {
	b := newBackstage(t)
	ctx := t.Context()
	host, err := b.store().Create(ctx, draft("Stage Host", participant.Moderator))
	require.NoError(t, err)
	require.Equal(t, "stage_host", host.Slug)
	require.Equal(t, "Stage Hosts", host.NamePlural)
	require.Equal(t, 4, host.Order)
	core, ok := b.roles().ByCore(participant.Moderator)
	require.True(t, ok)
	require.False(t, core.IsCustom)

	changed, err := b.store().Update(ctx, host.ID, participant.Draft{Name: wire.Some("Host"), NamePlural: wire.Some("Hosts"), Order: wire.Some(0)})
	require.NoError(t, err)
	require.Equal(t, "stage_host", changed.Slug)
	require.Equal(t, []string{"stage_host", "speaker", "chairperson", "moderator"}, slugs(b.roles()))

	require.NoError(t, b.store().Delete(ctx, host.ID))
	require.Len(t, b.roles().All(), 3)
	b.refused(404, "", b.store().Delete(ctx, host.ID))
	_, err = b.store().Create(ctx, draft("Stage host", participant.Speaker))
	require.NoError(t, err, "the slug is free again")
}

func TestRolesRefused(t *testing.T) {
	b := newBackstage(t)
	ctx := t.Context()
	_, err := b.store().Create(ctx, draft("Panelist", participant.Speaker))
	require.NoError(t, err)
	for _, c := range []struct {
		status int
		field  string
		draft  participant.Draft
	}{
		{409, "name", draft("PANELIST", participant.Speaker)},
		{409, "name", draft("Speaker", participant.Speaker)},
		{400, "name", draft("", participant.Speaker)},
		{400, "name", draft("!", participant.Speaker)},
		{400, "core_role", draft("Host", "host")},
		{400, "core_role", participant.Draft{Name: wire.Some("Host")}},
		{400, "order", participant.Draft{Name: wire.Some("Host"), CoreRole: wire.Some("speaker"), Order: wire.Some(-1)}},
		{400, "name_plural", participant.Draft{Name: wire.Some("Host"), CoreRole: wire.Some("speaker"), NamePlural: wire.Some("")}},
	} {
		_, err := b.store().Create(ctx, c.draft)
		b.refused(c.status, c.field, err)
	}
	panelist, _ := b.roles().BySlug("panelist")
	_, err = b.store().Update(ctx, panelist.ID, draft("Panelist", participant.Moderator))
	b.refused(400, "core_role", err)
	_, err = b.store().Update(ctx, b.roles().All()[0].ID, draft("Other", participant.Speaker))
	b.refused(409, "", err)
	_, err = b.store().Update(ctx, uuid.NewString(), participant.Draft{})
	b.refused(404, "", err)

	b.caller.Event.Features.Sessions2 = false
	_, err = b.store().Create(ctx, draft("Host", participant.Speaker))
	b.refused(403, "", err)
}
