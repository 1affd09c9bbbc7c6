// Package bulk has the bulk request of sessions, contacts, sponsors and exhibitors (gaps.md
// section 3): the shape, the limits, and the answer with the result of each operation. The
// record packages plan the operations, package write commits them.
package bulk

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Request is the body of a bulk operation.
type Request struct {
	Operations []Operation `json:"operations" minItems:"1" maxItems:"100" doc:"They are done in this order; each succeeds or fails on its own."`
	_          struct{}    `json:"-" additionalProperties:"true"`
}

// Operation is an entry of a request.
type Operation struct {
	Action string           `json:"action" doc:"create, update or delete. Another word fails this operation only."`
	ID     wire.Opt[string] `json:"id,omitzero" doc:"The record, for update and delete."`
	Data   wire.Opt[Data]   `json:"data,omitzero" doc:"What the single operation takes as its body, for create and update."`
	_      struct{}         `json:"-" additionalProperties:"true"`

	// refused is the error of an entry that is no operation; nil for an operation.
	refused error
}

// UnmarshalJSON never fails: it keeps the error, to fail this operation only, with the
// Action and ID that can be read.
func (o *Operation) UnmarshalJSON(text []byte) error {
	type plain Operation
	if object := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")); !object {
		*o = Operation{refused: apierr.Invalid("", "An operation must be an object with an action.")}
		return nil
	}
	sent, err := check.Decode[plain](text)
	if err == nil {
		*o = Operation(*sent)
		return nil
	}
	*o = Operation{refused: err}
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(text, &parts)
	_ = json.Unmarshal(parts["action"], &o.Action)
	_ = json.Unmarshal(parts["id"], &o.ID)
	return nil
}

// ChecksItself has the check of the request leave an operation to UnmarshalJSON.
func (Operation) ChecksItself() {}

// Data is the body of an operation. It is checked when the operation is built, so that an
// error fails this operation only.
type Data json.RawMessage

// UnmarshalJSON keeps the text.
func (d *Data) UnmarshalJSON(text []byte) error { *d = bytes.Clone(text); return nil }

// MarshalJSON gives the text back.
func (d Data) MarshalJSON() ([]byte, error) { return d, nil }

// Schema allows any object.
func (Data) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Response is the answer of a bulk operation. T is the record, E the shape of an error.
type Response[T, E any] struct {
	BatchID string         `json:"batch_id" format:"uuid"`
	Results []Result[T, E] `json:"results" doc:"One for each operation, in the order of the request."`
	Stats   Stats          `json:"stats"`

	// refused are the errors of Results by index, fail renders them.
	refused map[int]*apierr.Error
	fail    func(*apierr.Error) E
	causes  []error
}

// Result is the result of an operation.
type Result[T, E any] struct {
	Index  int     `json:"index" doc:"The operation's place in the request, from 0."`
	Action string  `json:"action"`
	Status string  `json:"status" enum:"success,error"`
	ID     *string `json:"id" doc:"The record's id; null when it was not created."`
	Data   Text[T] `json:"data,omitempty" doc:"What the single operation answers. Left out on an error, and when the answer as a whole would be too large."`
	Error  *E      `json:"error,omitempty"`
}

// Text is a T encoded as JSON.
type Text[T any] json.RawMessage

// MarshalJSON gives the text.
func (t Text[T]) MarshalJSON() ([]byte, error) { return t, nil }

// Schema returns the schema of T.
func (Text[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// Failure is the error of an operation, for all records except contacts.
type Failure struct {
	Code         string         `json:"code" doc:"What was refused, for a program."`
	Message      string         `json:"message" doc:"One sentence for a person."`
	Details      map[string]any `json:"details,omitempty" doc:"Facts about the refusal, such as field."`
	ValidOptions []string       `json:"valid_options,omitempty" doc:"What a dropdown field accepts, when the value is none of it. Left out when the answer as a whole would be too large."`
}

// Fail shows an error as a Failure.
func Fail(e *apierr.Error) Failure {
	return Failure{Code: e.Code, Message: e.Message, Details: e.Details, ValidOptions: e.ValidOptions}
}

// Stats counts the results.
type Stats struct {
	Total     int `json:"total"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}

// Maker builds the operations of a kind of record.
type Maker struct {
	NewID  func() string
	Create func(ctx context.Context, id string, data Data) (write.Op, error)
	Update func(ctx context.Context, id string, data Data) (write.Op, error)
	Delete func(ctx context.Context, id string) (write.Op, error)
	// Again renders records by id, deleted or not, for operations that an earlier request
	// with the Idempotency-Key did.
	Again func(ctx context.Context, ids []string) (map[string]any, error)
}

// Run does a request. fail renders an error. The returned error concerns the request as a
// whole: 409 while the Idempotency-Key is in use.
func Run[T, E any](ctx context.Context, t *table.Table, req Request, m Maker, fail func(*apierr.Error) E) (*Response[T, E], error) {
	r := &run{Maker: m, operations: req.Operations, entries: make([]write.Entry, len(req.Operations))}
	newID := func(int) string { return m.NewID() }
	if key := idempotency.From(ctx); key != nil {
		newID = key.ID
	}
	answer := &Response[T, E]{BatchID: newID(-1), fail: fail}
	for i, op := range req.Operations {
		r.entries[i] = entry(op, func() string { return newID(i) })
	}
	results, err := write.Bulk(ctx, t, write.Batch{Entries: r.entries, Prepare: r.prepare, Again: m.Again})
	if err != nil {
		return nil, err
	}
	return answer, answer.show(ctx, req.Operations, r.entries, results)
}

// entry returns the operation's entry, with the error of an operation that could not be
// read.
func entry(op Operation, newID func() string) write.Entry {
	e := addressed(op, newID)
	if op.refused != nil {
		e.Err = op.refused
	}
	return e
}

// addressed returns the entry with the id of the record.
func addressed(op Operation, newID func() string) write.Entry {
	switch op.Action {
	case "create":
		return write.Entry{ID: newID()}
	case "update", "delete":
		id, err := uuid.Parse(op.ID.Value)
		if err != nil || len(op.ID.Value) != len(id.String()) {
			return write.Entry{Err: apierr.Invalid("id", "id must be the UUID of the record to %s.", op.Action)}
		}
		return write.Entry{ID: id.String()} // In the one form that ids are kept in.
	}
	return write.Entry{Err: apierr.Invalid("action", "action must be create, update or delete.")}
}

// run builds the operations of a request.
type run struct {
	Maker
	operations []Operation
	entries    []write.Entry
}

// prepare builds the operations that are still to be done.
func (r *run) prepare(ctx context.Context, todo []int) error {
	for _, i := range todo {
		if e := &r.entries[i]; e.Err == nil {
			e.Op, e.Err = r.op(ctx, e.ID, r.operations[i])
		}
	}
	return nil
}

func (r *run) op(ctx context.Context, id string, op Operation) (write.Op, error) {
	prepare := r.Create
	switch {
	case op.Action == "delete":
		return r.Delete(ctx, id)
	case !op.Data.Has():
		return nil, apierr.Invalid("data", "data is required to %s a record.", op.Action)
	case op.Action == "update":
		prepare = r.Update
	}
	return prepare(ctx, id, op.Data.Value)
}
