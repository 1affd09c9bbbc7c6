package transcriptions

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/content"
)

const (
	aboutEventDocument = "Returns the report of the event as a PDF file: the summaries and insights of the sessions " +
		"in the order of their start. `full` has all texts; `daily` has the beginnings of texts by day, `theme` by track. " +
		"A report that would be too long ends early, and says so in its last line. " +
		"An event without a summary or an insight has no report. " + aboutBytes

	aboutSessionDocument = "Returns a document of the session: `summary_pdf`, its summaries and insights as a PDF file, " +
		"or `summary_card`, a picture in PNG with the beginning of its first summary. " +
		"A session without a summary has no documents. " + aboutBytes

	aboutBytes = "The same texts give the same bytes. " +
		"Send an `Accept` header such as `*/*`: without one, the gateway answers the file in base64."
)

type eventDocumentInput struct {
	api.InEvent
	Type    string          `path:"documentType" enum:"event_report" doc:"The type of the document."`
	Variant content.Variant `query:"variant" enum:"full,daily,theme" default:"full" doc:"The form of the report."`
}

func (s *service) eventDocument(ctx context.Context, in *eventDocumentInput) (*api.Download, error) {
	return download(s.content.Report(ctx, auth.From(ctx), in.Variant))
}

type sessionDocumentInput struct {
	api.InSession
	Type string `path:"documentType" enum:"summary_pdf,summary_card" doc:"The type of the document."`
}

func (s *service) sessionDocument(ctx context.Context, in *sessionDocumentInput) (*api.Download, error) {
	return download(s.content.SessionDocument(ctx, auth.From(ctx), in.SessionID, in.Type))
}

// download returns the answer with a document.
func download(d *content.Download, err error) (*api.Download, error) {
	if err != nil {
		return nil, err
	}
	return &api.Download{File: api.File{Type: d.Type, Body: d.Body}, Name: d.Name, Version: d.UpdatedAt.UnixMilli()}, nil
}
