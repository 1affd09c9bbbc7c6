package insights

import (
	"context"
	"fmt"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/insight"
	"lectern/shared/participation"
	"lectern/shared/query"
)

const (
	aboutSchema = "Lists the entities of queries with their fields and types, whether a field is personal data, which entities a JOIN can " +
		"add, and examples. The custom fields of the events are among them, as `custom.<internal_name>`: of the organization's newest 100 events."
	aboutSuggestions = "Lists queries to begin with; each can run as it is. For a custom dropdown of sessions there is a query that counts " +
		"its options, in the organization's newest 100 events."
)

// Schema describes the entities of queries.
type Schema struct {
	Entities []Entity `json:"entities" nullable:"false" doc:"The entities."`
	Examples []string `json:"examples" nullable:"false" doc:"Queries that can run as they are."`
	// Roles are nil for more than one event.
	Roles []participation.Role `json:"session_participant_roles,omitzero" nullable:"false" doc:"The roles of participants; for one event alone."`
}

// Entity is a family of records.
type Entity struct {
	Name          string   `json:"name" example:"sessions" doc:"The name after FROM, JOIN and FIND; FIND takes the singular, too."`
	Singular      string   `json:"singular" example:"session" doc:"The name before a field."`
	Aliases       []string `json:"aliases" nullable:"false" doc:"Other names."`
	Description   string   `json:"description" doc:"What the records are."`
	Fields        []Field  `json:"fields" nullable:"false" doc:"The fields."`
	Relationships []string `json:"relationships" nullable:"false" doc:"The entities that a JOIN can add."`
}

// Field is a field of an entity.
type Field struct {
	Name        string     `json:"name" example:"session.title" doc:"The name in a query."`
	Type        query.Type `json:"type" enum:"text,number,boolean,time,date" doc:"The type of the values."`
	ContainsPII bool       `json:"contains_pii" doc:"Whether the values are personal data."`
	Description string     `json:"description" doc:"What the values are."`
}

// schema returns the schema of the event, or of all events of the organization.
func (s *service) schema(ctx context.Context, _ *api.InEvent) (*Schema, error) {
	reach, err := s.insights.Newest(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	known := reach.Schema()
	shown := &Schema{Entities: make([]Entity, len(known.Entities))}
	for i, e := range known.Entities {
		shown.Entities[i] = Entity{
			Name: e.Name, Singular: e.Singular, Aliases: append([]string{}, e.Aliases...), Description: e.Doc,
			Fields: make([]Field, len(e.Columns)), Relationships: append([]string{}, known.Related(e)...),
		}
		for j, c := range e.Columns {
			shown.Entities[i].Fields[j] = Field{e.Singular + "." + c.Name, c.Type, c.PII, c.Doc}
		}
	}
	for _, s := range suggested(reach) {
		shown.Examples = append(shown.Examples, s.Query)
	}
	if auth.From(ctx).Event != nil {
		for _, r := range reach.Roles() {
			shown.Roles = append(shown.Roles, participation.Role{ID: r.ID, Name: r.Name, CoreRole: r.CoreRole, IsCustom: r.IsCustom})
		}
	}
	return shown, nil
}

// Suggestions are queries to begin with.
type Suggestions struct {
	Suggestions []Suggestion `json:"suggestions" nullable:"false" doc:"The queries."`
}

// Suggestion is a query to begin with.
type Suggestion struct {
	Query       string `json:"query" doc:"The query."`
	Description string `json:"description" doc:"What it shows."`
	Category    string `json:"category" enum:"sessions,abstracts,people,companies,files" doc:"What it is about."`
}

// suggestions returns queries about the event, or about all events of the organization.
func (s *service) suggestions(ctx context.Context, _ *api.InEvent) (*Suggestions, error) {
	reach, err := s.insights.Newest(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return &Suggestions{suggested(reach)}, nil
}

// general are the suggestions for every event.
var general = []Suggestion{
	{"SELECT session.status, COUNT(session.id) AS sessions FROM sessions GROUP BY session.status ORDER BY sessions DESC",
		"Sessions by status.", "sessions"},
	{"SELECT track.name, COUNT(session.id) AS sessions FROM sessions JOIN tracks GROUP BY track.name ORDER BY sessions DESC",
		"Sessions by track.", "sessions"},
	{"SELECT session.start_date, COUNT(session.id) AS sessions FROM sessions WHERE session.starts_at IS NOT NULL GROUP BY session.start_date",
		"Sessions by day.", "sessions"},
	{"SELECT room.name, SUM(session.duration_minutes) AS minutes FROM sessions JOIN rooms GROUP BY room.name ORDER BY minutes DESC",
		"How many minutes each room is in use.", "sessions"},
	{"SELECT session.friendly_id, session.title FROM sessions LEFT JOIN speakers WHERE speaker.id IS NULL ORDER BY session.title",
		"Sessions without a speaker.", "sessions"},
	{"SELECT session.friendly_id, session.title, session.created_at FROM sessions WHERE session.starts_at IS NULL ORDER BY session.created_at",
		"Sessions without a time.", "sessions"},
	{"SELECT abstract.status, COUNT(abstract.id) AS abstracts FROM abstracts GROUP BY abstract.status ORDER BY abstracts DESC",
		"Abstracts by status.", "abstracts"},
	{"SELECT speaker.full_name, COUNT(session.id) AS sessions FROM speakers JOIN sessions GROUP BY speaker.full_name ORDER BY sessions DESC",
		"Speakers with most sessions.", "people"},
	{"SELECT contact.company_name, COUNT(contact.id) AS contacts FROM contacts WHERE contact.company_name IS NOT NULL " +
		"GROUP BY contact.company_name HAVING contacts > 1 ORDER BY contacts DESC",
		"Companies with more than one contact.", "people"},
	{"SELECT participant.role_name, COUNT(participant.id) AS participants FROM participants GROUP BY participant.role_name",
		"Participants by role.", "people"},
	{"SELECT sponsor.name, COUNT(session.id) AS sessions FROM sponsors LEFT JOIN sessions GROUP BY sponsor.name ORDER BY sessions DESC",
		"Sponsors with their sessions.", "companies"},
	{"SELECT file.type, COUNT(file.id) AS files, SUM(file.size) AS bytes FROM files GROUP BY file.type",
		"Files by type.", "files"},
}

// mostOwn is how many suggestions there are about custom fields.
const mostOwn = 5

// suggested returns the suggestions for a reach.
func suggested(reach *insight.Reach) []Suggestion {
	all := append([]Suggestion{}, general...)
	for _, d := range reach.Dropdowns() {
		if len(all) == len(general)+mostOwn {
			break
		}
		name := "session.custom." + d.InternalName
		all = append(all, Suggestion{
			fmt.Sprintf("SELECT %s, COUNT(session.id) AS sessions FROM sessions GROUP BY %s ORDER BY sessions DESC", name, name),
			"Sessions by " + d.PublicName + ".", "sessions",
		})
	}
	return all
}
