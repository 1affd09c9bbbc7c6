// Package operator has the commands of an operator, who invokes the function past the API. The
// commands change organizations, members, events, tokens, and records that no public route
// changes. A command is declared as a line of commands.go: name, summary and method. The input is a JSON
// object that is checked by the method's input type. The record packages have the rules.
//
// Read commands.go, operator.go; then the files of the commands.
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
	"lectern/shared/session/store"
	"lectern/shared/settings/handler"
	"lectern/shared/stores"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Command describes a command.
type Command struct {
	Name, Summary string
	// Input lists the keys of the input, with a star after a required key.
	Input string
}

// command is a Command with the function that does the command.
type command struct {
	Command
	do func(s *Service, ctx context.Context, input json.RawMessage) (any, error)
}

// method is a method of the Service with the input I and the answer O.
type method[I, O any] = func(*Service, context.Context, *I) (O, error)

// define returns the command of a method.
func define[I, O any](name, summary string, do method[I, O]) command {
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

// keys lists the keys of an input type, with a star after a required key.
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

// Commands lists every command, in the order to show.
func Commands() []Command {
	all := make([]Command, len(commands))
	for i, c := range commands {
		all[i] = c.Command
	}
	return all
}

// Service does commands in a region.
type Service struct {
	env      api.Env
	tenancy  tenancy.Store
	settings *handler.Service
	sessions *store.Store
}

// New returns the Service of a region.
func New(env api.Env) *Service {
	return &Service{
		env:      env,
		tenancy:  tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region, LocalProviders: env.LocalReceivers},
		settings: handler.Start(env),
		sessions: stores.Sessions(env),
	}
}

// Do does a command and returns an answer to print as JSON. The input is a JSON object. Do
// returns an *apierr.Error for a refused command or input, and writes nothing then. The log
// gets the name of a known command and the request id of the change records, and nothing of
// the input.
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

// find returns the index of the command of a name, below 0 for an unknown name.
func find(name string) int {
	return slices.IndexFunc(commands, func(c command) bool { return c.Name == name })
}

// log writes the line of a command: done, refused, or failed with the cause.
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

// Refusal is the answer of a refused command.
type Refusal struct {
	// Status is the HTTP status that the API would answer.
	Status int           `json:"status"`
	Error  *apierr.Error `json:"error"`
}

// ErrFailed is the error of a failed command for the caller of a Lambda; the log has the cause.
var ErrFailed = errors.New("the command failed, and its cause is in the log")

// Invocation is the payload of an invocation: a command and the input.
type Invocation struct {
	Command string          `json:"command"`
	Input   json.RawMessage `json:"input"`
}

// Invoke does the command of a payload for the caller of a Lambda. It answers a Refusal for a
// command that is refused or finds the table busy, and returns ErrFailed for a failed command.
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

// invocation decodes a payload by the rules of a request body. It returns an empty Invocation
// for anything else; Do then refuses the empty command. Do also reports errors inside input,
// relative to the input.
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

// Answer decodes the JSON of an answer of Invoke: the command's own answer, or the
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

// InOrganization names an organization.
type InOrganization struct {
	OrgID int64 `json:"org_id"`
}

// InEvent names an event.
type InEvent struct {
	InOrganization
	EventID int64 `json:"event_id"`
}

func (in InEvent) event() InEvent { return in }

// located is the pointer to an input that names an event.
type located[I any] interface {
	*I
	event() InEvent
}

// element names an entry of a list in an error.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
