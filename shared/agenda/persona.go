package agenda

import (
	"time"

	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Persona is a made-up attendee who judges an agenda.
type Persona struct {
	resource.Header
	EventID     int64         `json:"event_id" doc:"The event's id."`
	Name        string        `json:"name" doc:"The persona's name."`
	Description *string       `json:"description" doc:"A sentence about the persona."`
	Config      PersonaConfig `json:"config" doc:"Who the persona is."`
	IsCustom    bool          `json:"is_custom" doc:"Whether the event added it; false for the three that every event has."`
}

// PersonaConfig describes a persona.
type PersonaConfig struct {
	Role          string   `json:"role,omitempty" maxLength:"255" example:"First-time attendee" doc:"The persona's role at the event."`
	Biography     string   `json:"biography,omitempty" maxLength:"2000" doc:"The persona's life so far."`
	FeedbackStyle string   `json:"feedback_style,omitempty" enum:"positive,neutral,constructive,critical" doc:"How the persona judges."`
	Likes         []string `json:"likes,omitempty" maxItems:"3" minLength:"1" maxLength:"255" pattern:"\\S" doc:"What the persona likes."`
	Dislikes      []string `json:"dislikes,omitempty" maxItems:"3" minLength:"1" maxLength:"255" pattern:"\\S" doc:"What the persona dislikes."`
	_             struct{} `json:"-" additionalProperties:"true"`
}

// PersonaDraft has the properties of a persona that a client may write.
type PersonaDraft struct {
	Name        wire.Opt[string]        `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The name."`
	Description wire.Opt[string]        `json:"description,omitzero" maxLength:"2000" doc:"A sentence about the persona."`
	Config      wire.Opt[PersonaConfig] `json:"config,omitzero" nullable:"false" doc:"Who the persona is, replaced as a whole; {} without it."`
}

// Personas is the kind of the personas.
var Personas = &resource.Kind[Persona, *Persona, PersonaDraft]{
	Name: "persona", Title: "Persona", Many: "personas", Max: 100, BuiltIn: builtInPersonas, Show: (*Persona).custom,
}

// custom marks a stored persona.
func (p *Persona) custom(resource.Store, resource.Owner) { p.IsCustom = true }

// builtIns are the personas that every event has. Their time is that of their first release.
var (
	firstRelease = wire.At(time.Date(2026, time.November, 28, 0, 0, 0, 0, time.UTC))
	builtIns     = []Persona{
		{Name: "Newcomer", Config: PersonaConfig{
			Role: "First-time attendee", FeedbackStyle: "positive", Biography: "Knows nobody yet, and little of the subject.",
			Likes: []string{"introductions", "time to find the next room"}, Dislikes: []string{"unexplained terms", "parallel talks on one topic"},
		}},
		{Name: "Specialist", Config: PersonaConfig{
			Role: "Experienced practitioner", FeedbackStyle: "critical", Biography: "Comes for depth, and knows most speakers by their work.",
			Likes: []string{"advanced sessions", "long discussions"}, Dislikes: []string{"repetition", "product talks"},
		}},
		{Name: "Manager", Config: PersonaConfig{
			Role: "Manager with little time", FeedbackStyle: "constructive", Biography: "Attends one day, between two meetings.",
			Likes: []string{"short sessions", "a clear result"}, Dislikes: []string{"gaps in the day", "late changes of rooms"},
		}},
	}
)

// builtInPersonas returns the built-in personas of an event.
func builtInPersonas(o resource.Owner) []*Persona {
	all := make([]*Persona, len(builtIns))
	for i, p := range builtIns {
		p.ID, p.EventID = o.BuiltInID("persona", p.Name), o.Event
		p.CreatedAt, p.UpdatedAt = firstRelease, firstRelease
		all[i] = &p
	}
	return all
}

// Apply writes the draft into the persona.
func (d PersonaDraft) Apply(e resource.Edit[*Persona]) error {
	p := e.Record
	if e.New {
		p.EventID = e.Event
	}
	d.Name.Into(&p.Name)
	d.Description.IntoPointer(&p.Description)
	d.Config.Into(&p.Config)
	return nil
}
