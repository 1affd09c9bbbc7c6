// Package programme declares the events of organizations.
// An event decides by timezone and features how sessions are read and written. The settings
// of an event (fields, metadata, roles) are in package settings; only
// the operator changes an event itself.
package programme

import (
	"context"
	"sync"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Keys are the patterns of the items of events.
var Keys = []keys.Pattern{
	{Name: "event", PK: "e", SK: "-", Personal: keys.Outside},
	{Name: "line of a list", PK: "o#L#event", SK: "<time>#<number>", Personal: keys.Nothing},
}

// Event is a conference.
type Event struct {
	ID    int64  `json:"id"`
	OrgID int64  `json:"org_id"`
	Name  string `json:"name"`
	// Timezone is an IANA name or empty.
	Timezone        string    `json:"timezone"`
	StartsAt        wire.Time `json:"starts_at"`
	EndsAt          wire.Time `json:"ends_at"`
	DefaultLanguage string    `json:"default_language"`
	Features        Features  `json:"features"`
	// CustomFields and IntegrationMappings keep the order of the operator.
	CustomFields        []CustomField        `json:"custom_fields,omitempty"`
	IntegrationMappings []IntegrationMapping `json:"integration_mappings,omitempty"`
	CreatedAt           wire.Time            `json:"created_at"`
	UpdatedAt           wire.Time            `json:"updated_at"`
	// Settings counts the changes of the event's settings.
	Settings int64 `json:"-"`
	Version  int64 `json:"-"`
}

// Features are the switches of an event, all off in a new event (gaps.md section 1).
type Features struct {
	Sessions2         bool `json:"sessions_2_0" doc:"Abstracts and custom participant roles."`
	SpeakerAcceptance bool `json:"speaker_acceptance" doc:"Participants accept or decline."`
	PrimarySpeakers   bool `json:"primary_speakers" doc:"One speaker of a session stands out."`
	TranslatedFields  bool `json:"translated_fields" doc:"Texts in more than one language."`
	ContentSlots      bool `json:"content_slots" doc:"Files are asked for by slots."`
	ParticipantRoles  bool `json:"participant_roles" doc:"Participants show the configured roles."`
}

// Switch turns the feature of a name on or off. It returns false for an unknown name.
func (f *Features) Switch(name string, on bool) bool {
	feature := map[string]*bool{
		"sessions_2_0": &f.Sessions2, "speaker_acceptance": &f.SpeakerAcceptance,
		"primary_speakers": &f.PrimarySpeakers, "translated_fields": &f.TranslatedFields,
		"content_slots": &f.ContentSlots, "participant_roles": &f.ParticipantRoles,
	}[name]
	if feature != nil {
		*feature = on
	}
	return feature != nil
}

// AllowsTranslations returns the 403 of an event without the feature of translations.
func (e *Event) AllowsTranslations() error {
	if e.Features.TranslatedFields {
		return nil
	}
	return apierr.FeatureNeeded("Translations need the translated fields feature, which this event does not have.")
}

// AllowsCustomRoles returns the 403 of an event without the feature of custom roles.
func (e *Event) AllowsCustomRoles() error {
	if e.Features.Sessions2 {
		return nil
	}
	return apierr.FeatureNeeded("Custom roles need the Sessions 2.0 feature, which this event does not have.")
}

// AllowsContentSlots returns the 403 of an event without the feature of upload slots.
func (e *Event) AllowsContentSlots() error {
	if e.Features.ContentSlots {
		return nil
	}
	return apierr.FeatureNeeded("Upload slots need the content slots feature, which this event does not have.")
}

// CustomField is a custom field of the event itself, with its value.
type CustomField struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	InternalName string `json:"internal_name"`
	// Type is a type of package field, Options and Multiple refine the type.
	Type     string   `json:"type"`
	Options  []string `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
	// Value has the form in which package field stores values: a datetime in UTC.
	Value     any       `json:"value"`
	CreatedAt wire.Time `json:"created_at"`
}

// IntegrationMapping ties the event to its counterpart in a connected system.
type IntegrationMapping struct {
	ID string `json:"id"`
	// Source is the connector's key in the connector's own form.
	Source string `json:"source"`
	// ExternalID is the counterpart's id in that system, nil for a connector that knows
	// the event by a campaign alone.
	ExternalID   *string `json:"external_id"`
	ExternalName *string `json:"external_name"`
	// CampaignID is the campaign of a live-engagement app. The id opens the campaign to every
	// reader, so the API never shows the id.
	CampaignID string    `json:"campaign_id,omitempty"`
	CreatedAt  wire.Time `json:"created_at"`
}

// Events is the family of events.
var Events = tenancy.Family[Event]{Name: "event", Title: "Event", Check: (*Event).check,
	Facts: func(e *Event) tenancy.Facts {
		return tenancy.Facts{ID: &e.ID, Version: &e.Version, Settings: &e.Settings,
			CreatedAt: &e.CreatedAt, UpdatedAt: &e.UpdatedAt,
			Org: e.OrgID, Event: e.ID, PK: table.Event(e.OrgID, e.ID)}
	}}

// Many reads events of an organization by id, in the order of ids.
func Many(ctx context.Context, s tenancy.Store, org int64, ids []int64) ([]*Event, error) {
	pks := make([]string, len(ids))
	for i, id := range ids {
		pks[i] = table.Event(org, id)
	}
	return Events.Many(ctx, s, pks)
}

// Location returns the event's timezone, nil without a valid timezone: times are then shown in
// UTC (spec.md section 2.1).
func (e *Event) Location() *time.Location { return Location(e.Timezone) }

// locations keeps the loaded zones, since loading unpacks a zone each time.
var locations sync.Map

// Location returns the zone of an IANA name, nil for an unknown name.
func Location(name string) *time.Location {
	if known, ok := locations.Load(name); ok {
		return known.(*time.Location)
	}
	// Package time reads these names as UTC and the machine's zone.
	if name == "" || name == "Local" {
		return nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	locations.Store(name, loc)
	return loc
}
