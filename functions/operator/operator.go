// Package operator is what an operator does by invoking it, not through the API:
// organizations, members, events, tokens, and what no public route changes. A
// command is a line of the table below and a method; its input is a JSON object
// held strictly to the method's input type. The rules are the record packages'.
package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/session"
	"lectern/shared/settings"
	"lectern/shared/stores"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Command describes one thing an operator can do.
type Command struct {
	Name, Summary string
	// Input lists the keys of the input, with a star where they are required.
	Input string
}

// command is a Command with what does it.
type command struct {
	Command
	do func(s *Service, ctx context.Context, input json.RawMessage) (any, error)
}

// define makes a command of a method.
func define[I, O any](name, summary string, do func(*Service, context.Context, *I) (O, error)) command {
	return command{
		Command: Command{Name: name, Summary: summary, Input: strings.Join(keys(reflect.TypeFor[I]()), " ")},
		do: func(s *Service, ctx context.Context, input json.RawMessage) (any, error) {
			in, err := check.Decode[I](input)
			if err != nil {
				return nil, err
			}
			return do(s, ctx, in)
		},
	}
}

// keys lists the keys of an input type, those it must have with a star.
func keys(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, optional, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "":
		case optional == "":
			names = append(names, name+"*")
		default:
			names = append(names, name)
		}
	}
	return names
}

// Commands lists every command, in the order to show them.
func Commands() []Command {
	all := make([]Command, len(commands))
	for i, c := range commands {
		all[i] = c.Command
	}
	return all
}

// Service does commands in one region.
type Service struct {
	env      api.Env
	tenancy  tenancy.Store
	settings *settings.Cache
	sessions *session.Store
}

// New makes the Service of a region.
func New(env api.Env) *Service {
	return &Service{
		env:      env,
		tenancy:  tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region},
		settings: stores.Settings(env),
		sessions: stores.Sessions(env),
	}
}

// Do does a command and returns an answer to print as JSON. The input is a JSON
// object. It is an *apierr.Error when the command or its input is refused, and
// nothing is written then. The log gets the command's name and the id that its change
// records have, and nothing of its input, nor a name that is no command's.
func (s *Service) Do(ctx context.Context, name string, input json.RawMessage) (any, error) {
	id := s.env.NewID()
	i := find(name)
	if i < 0 {
		err := apierr.Invalid("command", "There is no command %q.", name)
		s.log(ctx, name, id, err)
		return nil, err
	}
	ctx = change.WithActor(ctx, change.Actor{Type: change.ActorOperator}, change.SourceAdmin)
	ctx = change.WithRequest(ctx, id)
	var answer any
	err := table.Safely(func() (err error) {
		answer, err = commands[i].do(s, ctx, input)
		return err
	})()
	s.log(ctx, name, id, err)
	if err != nil {
		return nil, fmt.Errorf("operator: %s: %w", name, err)
	}
	return answer, nil
}

// find is where in commands one of a name stands, below 0 for none.
func find(name string) int {
	return slices.IndexFunc(commands, func(c command) bool { return c.Name == name })
}

// log writes the line of a command: done, refused, or failed with its cause.
func (s *Service) log(ctx context.Context, name, id string, err error) {
	if find(name) < 0 {
		name = ""
	}
	line := []any{"command", name, "request_id", id}
	if err == nil {
		s.env.Log.InfoContext(ctx, "command done", line...)
		return
	}
	shown := api.Visible(err)
	line = append(line, "code", shown.Code)
	if shown.Status < http.StatusInternalServerError {
		s.env.Log.InfoContext(ctx, "command refused", line...)
		return
	}
	s.env.Log.ErrorContext(ctx, "command failed", append(line, "error", err)...)
}

// Refusal is the answer of a command that was refused.
type Refusal struct {
	// Status is the HTTP status that the API would answer.
	Status int           `json:"status"`
	Error  *apierr.Error `json:"error"`
}

// ErrFailed is all that the caller of a Lambda is told of a command that failed.
var ErrFailed = errors.New("the command failed, and its cause is in the log")

// Invocation is the payload of an invocation: a command and its input.
type Invocation struct {
	Command string          `json:"command"`
	Input   json.RawMessage `json:"input"`
}

// Invoke is Do for the caller of a Lambda, who sends an Invocation: one that is refused,
// or that finds the table busy, answers a Refusal. One that fails is ErrFailed.
func (s *Service) Invoke(ctx context.Context, payload []byte) (answer any, err error) {
	in, err := invocation(payload)
	if err != nil {
		s.log(ctx, in.Command, s.env.NewID(), err)
	} else if answer, err = s.Do(ctx, in.Command, in.Input); err == nil {
		return answer, nil
	}
	shown := api.Visible(err)
	if shown.Status == http.StatusInternalServerError {
		return nil, ErrFailed
	}
	return Refusal{shown.Status, shown}, nil
}

// invocation reads a payload by the rules of a request body. What is wrong within the
// input is left to Do, which names it as where the input comes alone, and so is what is
// no invocation at all, as one of no command.
func invocation(payload []byte) (in Invocation, err error) {
	if json.Unmarshal(payload, &in) != nil {
		return Invocation{}, nil //nolint:nilerr // Do refuses it
	}
	if _, err = check.Decode[map[string]any](in.Input); in.Input == nil || err == nil {
		_, err = check.Decode[Invocation](payload)
		return in, err
	}
	return in, nil
}

// Answer reads what Invoke answered, as its JSON: the command's own answer, or the
// *apierr.Error of a Refusal.
func Answer(payload []byte) (json.RawMessage, error) {
	var refusal Refusal
	if err := json.Unmarshal(payload, &refusal); err == nil && refusal.Error != nil {
		refusal.Error.Status = refusal.Status
		return nil, refusal.Error
	}
	return payload, nil
}

// results is a list as an answer.
type results[T any] struct {
	Results []T `json:"results"`
}

// InOrganization is the part of an input that names an organization.
type InOrganization struct {
	OrgID int64 `json:"org_id"`
}

// InEvent is the part of an input that names an event.
type InEvent struct {
	InOrganization
	EventID int64 `json:"event_id"`
}

// element names one entry of a list in an error.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
