// Package bulk is the bulk request that sessions, contacts, sponsors and
// exhibitors share (gaps.md section 3): its shape, its limits, and the answer
// that says of each operation how it came out. What an operation does is for
// the record's package to say, how operations are committed for write.
package bulk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
	"lectern/shared/write"
)

// maxAnswer is how many bytes of records an answer holds; the entries beyond
// carry their id only, for a Lambda cannot answer more (gaps.md section 3).
const maxAnswer = 5 << 20

// Request is the body of a bulk operation.
type Request struct {
	Operations []Operation `json:"operations" minItems:"1" maxItems:"100" doc:"They are done in this order; each succeeds or fails on its own."`
	_          struct{}    `json:"-" additionalProperties:"true"`
}

// Operation is one entry of a request.
type Operation struct {
	Action string   `json:"action" enum:"create,update,delete"`
	ID     string   `json:"id,omitempty" doc:"The record, for update and delete."`
	Data   Data     `json:"data,omitempty" doc:"What the single operation takes as its body, for create and update."`
	_      struct{} `json:"-" additionalProperties:"true"`
}

// Data is the body of one operation, checked when the operation is prepared so
// that a mistake fails this one only.
type Data json.RawMessage

// UnmarshalJSON keeps the text.
func (d *Data) UnmarshalJSON(text []byte) error { *d = bytes.Clone(text); return nil }

// MarshalJSON gives the text back.
func (d Data) MarshalJSON() ([]byte, error) { return d, nil }

// Schema allows any object.
func (Data) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Response is the answer of a bulk operation; T is the record, E how an error
// is shown.
type Response[T, E any] struct {
	BatchID string         `json:"batch_id" format:"uuid"`
	Results []Result[T, E] `json:"results" doc:"One for each operation, in the order of the request."`
	Stats   Stats          `json:"stats"`
}

// Result says how one operation came out.
type Result[T, E any] struct {
	Index  int     `json:"index" doc:"The operation's place in the request, from 0."`
	Action string  `json:"action" enum:"create,update,delete"`
	Status string  `json:"status" enum:"success,error"`
	ID     *string `json:"id" doc:"The record's id; null when it was not created."`
	Data   Text[T] `json:"data,omitempty" doc:"What the single operation answers. Left out on an error, and when the answer as a whole would be too large."`
	Error  *E      `json:"error,omitempty"`
}

// Text is a T already written as JSON.
type Text[T any] json.RawMessage

// MarshalJSON gives the text.
func (t Text[T]) MarshalJSON() ([]byte, error) { return t, nil }

// Schema is that of T.
func (Text[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// Failure is the error of an operation, for all records but contacts.
type Failure struct {
	Code         string         `json:"code" doc:"What was refused, for a program."`
	Message      string         `json:"message" doc:"One sentence for a person."`
	Details      map[string]any `json:"details,omitempty" doc:"Facts about the refusal, such as field."`
	ValidOptions []string       `json:"valid_options,omitempty" doc:"What a dropdown field accepts, when the value is none of it."`
}

// Fail shows an error as a Failure.
func Fail(e *apierr.Error) Failure {
	f := Failure{Code: e.Code, Message: e.Message, Details: e.Details, ValidOptions: e.ValidOptions}
	if f.Code == "" {
		f.Code = e.Name
	}
	return f
}

// Stats counts the results.
type Stats struct {
	Total     int `json:"total"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}

// Maker makes the operations of one kind of record.
type Maker struct {
	NewID  func() string
	Create func(ctx context.Context, id string, data Data) (write.Op, error)
	Update func(ctx context.Context, id string, data Data) (write.Op, error)
	Delete func(ctx context.Context, id string) (write.Op, error)
	// Ready is called once all operations are made and before any is done.
	Ready func(ctx context.Context) error
}

// Run does a request. fail shows an error as the kind of record does. Its own
// error is for the request as a whole: 409 while the Idempotency-Key is in use.
func Run[T, E any](ctx context.Context, t *table.Table, req Request, m Maker, fail func(*apierr.Error) E) (*Response[T, E], error) {
	batch := m.NewID()
	if key := idempotency.From(ctx); key != nil {
		batch = key.ID(-1)
	}
	entries := make([]write.Entry, len(req.Operations))
	for i, op := range req.Operations {
		entries[i] = m.entry(ctx, i, op)
	}
	if err := m.Ready(ctx); err != nil {
		return nil, err
	}
	results, err := write.Bulk(ctx, t, entries)
	if err != nil {
		return nil, err
	}
	return respond[T](ctx, batch, entries, results, fail)
}

func (m Maker) entry(ctx context.Context, index int, op Operation) write.Entry {
	entry := write.Entry{Action: op.Action, ID: op.ID}
	if op.Action == "create" {
		entry.ID = m.NewID()
		if key := idempotency.From(ctx); key != nil {
			entry.ID = key.ID(index)
		}
		entry.Op, entry.Err = m.checked(ctx, entry.ID, op, m.Create)
		return entry
	}
	id, err := uuid.Parse(op.ID)
	if err != nil || len(op.ID) != len(id.String()) {
		entry.Err = apierr.Invalid("id", "id must be the UUID of the record to %s.", op.Action)
		return entry
	}
	entry.ID = id.String() // In the one form that ids are kept in.
	if op.Action == "delete" {
		entry.Op, entry.Err = m.Delete(ctx, entry.ID)
		return entry
	}
	entry.Op, entry.Err = m.checked(ctx, entry.ID, op, m.Update)
	return entry
}

func (m Maker) checked(ctx context.Context, id string, op Operation,
	prepare func(context.Context, string, Data) (write.Op, error)) (write.Op, error) {
	if len(op.Data) == 0 {
		return write.Op{}, apierr.Invalid("data", "data is required to %s a record.", op.Action)
	}
	return prepare(ctx, id, op.Data)
}

func respond[T, E any](ctx context.Context, batch string, entries []write.Entry, results []write.Result, fail func(*apierr.Error) E) (*Response[T, E], error) {
	answer := &Response[T, E]{BatchID: batch, Results: make([]Result[T, E], len(results)), Stats: Stats{Total: len(results)}}
	for i, result := range results {
		shown := Result[T, E]{Index: i, Action: entries[i].Action, Status: "success", ID: &entries[i].ID}
		if result.Err != nil {
			failed := fail(refusal(ctx, i, result.Err))
			shown.Status, shown.Error = "error", &failed
			if entries[i].Action == "create" || entries[i].ID == "" {
				shown.ID = nil
			}
			answer.Stats.Failed++
		} else {
			answer.Stats.Succeeded++
		}
		answer.Results[i] = shown
	}
	fits, err := answer.fill(results)
	if err == nil && !fits && slimmed(results) {
		_, err = answer.fill(results)
	}
	return answer, err
}

// fill writes the records into the answer for as long as they fit. It is false
// when one does not; those behind it are left out then too.
func (r *Response[T, E]) fill(results []write.Result) (fits bool, err error) {
	room := maxAnswer
	for i, result := range results {
		if result.Err != nil {
			continue
		}
		text, err := encode(result.Answer)
		if err != nil {
			return false, fmt.Errorf("bulk: encode answer %d: %w", i, err)
		}
		if room -= len(text); room < 0 {
			return false, nil
		}
		r.Results[i].Data = text
	}
	return true, nil
}

// slimmed has the records leave out what was added to them on request. It is
// false when there was nothing.
func slimmed(results []write.Result) (slim bool) {
	for _, result := range results {
		if record, ok := result.Answer.(interface{ Slim() bool }); ok && record.Slim() {
			slim = true
		}
	}
	return slim
}

// Slim leaves out the last of the records, a quarter of what is shown of them,
// and is false when there is none.
func (r *Response[T, E]) Slim() bool {
	size := 0
	for _, result := range r.Results {
		size += len(result.Data)
	}
	room := size / 4 * 3
	for i := range r.Results {
		if room -= len(r.Results[i].Data); room < 0 {
			r.Results[i].Data = nil
		}
	}
	return size > 0
}

// encode writes JSON as the pipeline does: HTML is not escaped.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// refusal is an operation's error as a caller may see it; what is none of the
// caller's business is logged.
func refusal(ctx context.Context, index int, err error) *apierr.Error {
	var shown *apierr.Error
	switch {
	case errors.As(err, &shown):
		return shown
	case errors.Is(err, table.ErrBusy):
		return apierr.Unavailable()
	}
	slog.ErrorContext(ctx, "bulk operation failed", "index", index, "error", err)
	return apierr.Internal()
}
