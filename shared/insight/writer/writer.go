// Package writer writes queries from the words of a person, through a language model (decision 54). The model
// gets the language and the entities with their fields, and no record. Read writer.go, then request.go,
// prompt.go and answer.go; the package bedrock below calls Amazon Bedrock.
//
// A prompt may try to give the model other instructions. The only effect of an answer is a text that the
// check of the request accepts as a query, with an explanation. Nothing here runs the query: the caller
// may send it as any other query, with the caller's own rights.
package writer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/query"
)

// The bounds of the calls for a query.
const (
	// MaxTokens is the highest number of tokens of an answer of the model.
	MaxTokens = 1000
	// maxTime limits all calls for a query. It ends before the function does.
	maxTime = 20 * time.Second
)

// ErrBusy reports that the model gives no answer at the moment: it is throttled, does not answer in
// time, or cannot be reached.
var ErrBusy = errors.New("writer: the language model is busy")

// Model is a language model.
type Model interface {
	// Answer returns the answer of the model to a conversation, with system as its instructions. The
	// messages alternate between user and assistant; the first and the last are of the user. An answer
	// has at most MaxTokens. ErrBusy reports a failure that a later call may not have.
	Answer(ctx context.Context, system string, conversation []Message) (string, error)
}

// Writer writes queries.
type Writer struct {
	// Model is nil in a region without a language model.
	Model Model
	// Now is the clock, for prompts such as "the sessions of tomorrow".
	Now func() time.Time
}

// Written is a query that the check of the request has accepted. Explanation is text of the model.
type Written struct{ Query, Explanation string }

// Write returns the query for a request. It asks the model, and once more if the check refuses the first
// query. The error is a 422 if no query was written, or a 503 without a model or an answer of the model.
func (w Writer) Write(ctx context.Context, r Request) (Written, error) {
	if w.Model == nil {
		return Written{}, notConfigured()
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	system, messages := instructions(r.Schema, w.Now()), append(slices.Clone(r.Conversation), Message{RoleUser, r.Prompt})
	for try := 1; ; try++ {
		text, err := w.Model.Answer(ctx, system, alternate(messages))
		if err != nil {
			return Written{}, failed(err)
		}
		a := parse(text)
		mistake, err := a.check(r.Check)
		switch {
		case err != nil:
			return Written{}, err
		case mistake == "":
			return Written(a), nil
		case try == maxTries || a.declines():
			return Written{}, notWritten(a)
		}
		messages = append(messages, Message{RoleAssistant, text}, Message{RoleUser, "The answer was refused: " + mistake + "\n" +
			"Answer again in the same form, with a query that avoids this mistake."})
	}
}

// maxTries is the number of answers that Write asks for.
const maxTries = 2

// failed returns the error of a call of the model for the caller, who gets no cause; the log has the cause.
func failed(err error) error {
	if errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("writer: ask the model: %w: %w", apierr.Unavailable(), err)
	}
	return fmt.Errorf("writer: ask the model: %w", err)
}

// notConfigured returns the 503 of a region without a language model. A repetition does not help, so it
// has no Retry-After.
func notConfigured() *apierr.Error {
	e := apierr.Unavailable()
	e.Code, e.Header = "AI_NOT_CONFIGURED", nil
	e.Message = "This service has no language model. Write the query yourself: the schema of insights lists the entities and fields."
	return e
}

// notWritten returns the 422 of a prompt without a query. The details have the explanation of a model
// that wrote none.
func notWritten(a answer) *apierr.Error {
	e := apierr.Unprocessable("QUERY_NOT_WRITTEN",
		"No valid query could be written. Name in prompt the records and the fields that the result should have.")
	if a.declines() {
		e = e.With("explanation", a.Explanation)
	}
	return e
}

// mistakeOf returns the message of an error that refuses a query; empty for another failure.
func mistakeOf(err error) string {
	if mistake := (*query.Error)(nil); errors.As(err, &mistake) {
		return mistake.Error()
	}
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status < http.StatusInternalServerError {
		return refused.Message
	}
	return ""
}
