package insights

import (
	"context"
	"net/http"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/insight"
	"lectern/shared/insight/writer"
)

const (
	aboutWrite = "Writes a query from a prompt in any language, by a language model that the region's operator has configured; without one " +
		"it is a 503 `AI_NOT_CONFIGURED`. The model gets the prompt, the conversation and the names of entities and fields, and no record. " +
		"Its query is checked as `execute` checks it, and is not run. A prompt of which no query can be made is a 422 `QUERY_NOT_WRITTEN`. " +
		"For example:\n\n```json\n" + exampleWrite + "\n```\n\nThe answer:\n\n```json\n" + exampleWritten + "\n```"
	exampleWrite   = `{"prompt": "How many sessions does each track have?"}`
	exampleWritten = `{"query": "SELECT track.name, COUNT(session.id) AS sessions FROM sessions JOIN tracks GROUP BY track.name",
  "explanation": "Counts the sessions of each track."}`
)

// written routes write queries.
var written = []api.Route[service]{
	api.Post("writeEventQuery", inEvent+"/ai/generate", (*service).write, readers, limit, api.Repeatable,
		api.Refuses(http.StatusUnprocessableEntity), api.Describe(aboutWrite)),
	api.Post("writeQuery", inOrganization+"/ai/generate", (*service).writeAcross, readers, limit, api.Repeatable,
		api.Refuses(http.StatusUnprocessableEntity), api.Refuses(http.StatusNotFound), api.Describe(aboutWrite)),
}

// Dialogue is a prompt for a query, with the messages before.
type Dialogue struct {
	Prompt       string           `json:"prompt" minLength:"1" maxLength:"2000" pattern:"\\S" doc:"What the query shall show."`
	Conversation []writer.Message `json:"conversationHistory,omitempty" maxItems:"20" doc:"Earlier prompts and answers, the oldest first."`
}

// Written is a query with an explanation.
type Written struct {
	Query       string `json:"query" doc:"The query, which the caller may run. If it compares personal data, send obfuscatePii as false."`
	Explanation string `json:"explanation" doc:"What the query shows, in the words of the model."`
}

type writeInput struct {
	api.InEvent
	Body struct {
		Dialogue
		_ struct{} `json:"-" additionalProperties:"true"`
	}
}

// write writes a query about the event.
func (s *service) write(ctx context.Context, in *writeInput) (*Written, error) {
	return s.writeAbout(ctx, nil, in.Body.Dialogue)
}

type writeAcrossInput struct {
	Body struct {
		Dialogue
		About
		_ struct{} `json:"-" additionalProperties:"true"`
	}
}

// writeAcross writes a query about events of the organization.
func (s *service) writeAcross(ctx context.Context, in *writeAcrossInput) (*Written, error) {
	return s.writeAbout(ctx, in.Body.events(), in.Body.Dialogue)
}

func (s *service) writeAbout(ctx context.Context, events []int64, d Dialogue) (*Written, error) {
	reach, err := s.insights.Reach(ctx, auth.From(ctx), events)
	if err != nil {
		return nil, err
	}
	made, err := s.writer.Write(ctx, writer.Request{
		Prompt: d.Prompt, Conversation: d.Conversation, Schema: reach.Schema(),
		Check: func(text string) error { return reach.Check("query", insight.Question{Query: text, Unmasked: true}) },
	})
	if err != nil {
		return nil, err
	}
	return &Written{made.Query, made.Explanation}, nil
}
