package events

import (
	"strings"
	"unicode"

	"lectern/shared/api"
	"lectern/shared/field"
	"lectern/shared/programme"
	"lectern/shared/wire"
)

// Event is an event as it is shown (spec.md section 2.3).
type Event struct {
	ID       int64              `json:"id"`
	Name     string             `json:"name"`
	Timezone string             `json:"timezone" doc:"An IANA name such as Europe/Berlin; empty when the event has none."`
	StartsAt wire.Time          `json:"starts_at"`
	EndsAt   wire.Time          `json:"ends_at"`
	Features programme.Features `json:"features"`
	// CustomFields and IntegrationMappings are nil unless asked for.
	CustomFields        []field.Shown `json:"custom_fields,omitzero" nullable:"false" doc:"Only with expand=custom_fields."`
	IntegrationMappings []Mapping     `json:"integration_mappings,omitzero" nullable:"false" doc:"Only with expand=integration_mappings."`
}

// Mapping is an EventIntegrationMapping of spec.md section 2.3. Campaigns of
// live-engagement apps are not in it.
type Mapping struct {
	ID           string    `json:"id" format:"uuid"`
	Source       string    `json:"source" doc:"The connector's key in underscore form."`
	ExternalID   *string   `json:"external_id" doc:"The event's id in the connected system."`
	ExternalName *string   `json:"external_name" doc:"Its name there."`
	CreatedAt    wire.Time `json:"created_at"`
}

func show(e *programme.Event, expand api.Strings) Event {
	shown := Event{
		ID: e.ID, Name: e.Name, Timezone: e.Timezone,
		StartsAt: e.StartsAt, EndsAt: e.EndsAt, Features: e.Features,
	}
	if expand.Has("custom_fields") {
		shown.CustomFields = customFields(e)
	}
	if expand.Has("integration_mappings") {
		shown.IntegrationMappings = mappings(e)
	}
	return shown
}

func customFields(e *programme.Event) []field.Shown {
	shown := make([]field.Shown, len(e.CustomFields))
	for i, f := range e.CustomFields {
		d := field.Definition{Type: field.Type(f.Type)}
		shown[i] = field.Shown{
			ID: f.ID, Name: f.Name, Type: d.Type, InternalName: f.InternalName,
			Value: d.Render(f.Value, e.Location()), CreatedAt: f.CreatedAt,
		}
	}
	return shown
}

func mappings(e *programme.Event) []Mapping {
	shown := make([]Mapping, len(e.IntegrationMappings))
	for i, m := range e.IntegrationMappings {
		shown[i] = Mapping{
			ID: m.ID, Source: underscore(m.Source),
			ExternalID: m.ExternalID, ExternalName: m.ExternalName, CreatedAt: m.CreatedAt,
		}
	}
	return shown
}

// underscore writes a connector's key in underscore form: liveEngagement,
// live-engagement and "Live Engagement" are all live_engagement.
func underscore(key string) string {
	var out strings.Builder
	before := '_'
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
			if before == '_' {
				continue
			}
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)):
			out.WriteRune('_')
		}
		out.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.TrimRight(out.String(), "_")
}
