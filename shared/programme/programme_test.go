package programme_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

func event() programme.Event {
	start := time.Date(2027, 5, 11, 14, 0, 0, 0, time.UTC)
	return programme.Event{OrgID: 1, Name: "Conf", Timezone: "Europe/Berlin", DefaultLanguage: "en",
		StartsAt: wire.At(start), EndsAt: wire.At(start.Add(48 * time.Hour))}
}

func TestEventsAreListedAndReadBack(t *testing.T) {
	s := tenancy.Store{Table: tabletest.Start(t), Now: time.Now, Region: "us"}
	require.NoError(t, tenancy.Organizations.Create(t.Context(), s, &tenancy.Organization{Name: "Acme"}))
	first, second := event(), event()
	second.Timezone, second.Features.Sessions2 = "", true
	require.NoError(t, programme.Events.Create(t.Context(), s, &first))
	require.NoError(t, programme.Events.Create(t.Context(), s, &second))

	ids, err := programme.Events.IDs(t.Context(), s, 1)
	require.NoError(t, err)
	require.Equal(t, []int64{first.ID, second.ID}, ids)
	got, err := programme.Many(t.Context(), s, 1, ids)
	require.NoError(t, err)
	require.Equal(t, []*programme.Event{&first, &second}, got)

	_, err = programme.Events.Get(t.Context(), s, table.Event(2, first.ID))
	var missing *apierr.Error
	require.ErrorAs(t, err, &missing, "another organization's")
	require.Equal(t, "Event not found", missing.Message)
}

func TestEventsThatBreakARule(t *testing.T) {
	s := tenancy.Store{Table: tabletest.Start(t), Now: time.Now, Region: "us"}
	for field, spoil := range map[string]func(*programme.Event){
		"name":             func(e *programme.Event) { e.Name = strings.Repeat("x", 256) },
		"timezone":         func(e *programme.Event) { e.Timezone = "Europe/Atlantis" },
		"ends_at":          func(e *programme.Event) { e.EndsAt = wire.At(e.StartsAt.Add(-time.Second)) },
		"default_language": func(e *programme.Event) { e.DefaultLanguage = "english" },
		"custom_fields": func(e *programme.Event) {
			e.CustomFields = []programme.CustomField{{Name: "A", InternalName: "a", Value: strings.Repeat("x", 100<<10)}}
		},
		"custom_fields[1].name": func(e *programme.Event) {
			e.CustomFields = []programme.CustomField{{Name: "A", InternalName: "a"}, {Name: "A!", InternalName: "a"}}
		},
		"integration_mappings[0].external_id": func(e *programme.Event) {
			e.IntegrationMappings = []programme.IntegrationMapping{{Source: "crm"}}
		},
		"integration_mappings[0].source": func(e *programme.Event) {
			e.IntegrationMappings = []programme.IntegrationMapping{{CampaignID: "c"}}
		},
	} {
		e := event()
		spoil(&e)
		var refused *apierr.Error
		require.ErrorAs(t, programme.Events.Create(t.Context(), s, &e), &refused, field)
		require.Equal(t, field, refused.Details["field"])
	}
}

func TestLocation(t *testing.T) {
	for _, none := range []string{"", "Local", "Mars/Olympus", "../etc/passwd"} {
		require.Nil(t, programme.Location(none), none)
	}
	berlin := programme.Location("Europe/Berlin")
	require.Equal(t, "Europe/Berlin", berlin.String())
	require.Same(t, berlin, programme.Location("Europe/Berlin"), "loaded once")
}

func TestSwitchKnowsEveryFeature(t *testing.T) {
	var f programme.Features
	for _, name := range []string{"sessions_2_0", "speaker_acceptance", "primary_speakers", "translated_fields", "content_slots", "participant_roles"} {
		require.True(t, f.Switch(name, true), name)
	}
	require.Equal(t, programme.Features{
		Sessions2: true, SpeakerAcceptance: true, PrimarySpeakers: true,
		TranslatedFields: true, ContentSlots: true, ParticipantRoles: true,
	}, f)
	require.False(t, f.Switch("sessions_3_0", true))
}
