package bulk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/size"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// show fills in the results of the operations.
func (r *Response[T, E]) show(ctx context.Context, operations []Operation, entries []write.Entry, results []write.Result) error {
	r.Results = make([]Result[T, E], len(results))
	r.refused = map[int]*apierr.Error{}
	for i, result := range results {
		shown := &r.Results[i]
		*shown = Result[T, E]{Index: i, Action: echo(operations[i].Action), Status: "success"}
		if entries[i].ID != "" && (result.Err == nil || operations[i].Action != "create") {
			shown.ID = &entries[i].ID
		}
		if result.Err != nil {
			shown.Status = "error"
			r.refused[i] = r.refusal(i, result.Err)
		}
	}
	r.Stats = Stats{Total: len(results), Succeeded: len(results) - len(r.refused), Failed: len(r.refused)}
	return r.fill(size.NewSpace(ctx), results)
}

// echo shortens a word of the client.
func echo(word string) string {
	if runes := []rune(word); len(runes) > size.BulkWord {
		return string(runes[:size.BulkWord]) + "…"
	}
	return word
}

// refusal returns an operation's error as a caller may see it. An error of the service is
// added to the causes, once for all operations with the same error.
func (r *Response[T, E]) refusal(index int, err error) *apierr.Error {
	shown := api.Visible(err)
	told := func(cause error) bool { return errors.Unwrap(cause).Error() == err.Error() }
	if shown.Status >= http.StatusInternalServerError && !slices.ContainsFunc(r.causes, told) {
		r.causes = append(r.causes, fmt.Errorf("bulk: operation %d: %w", index, err))
	}
	return shown
}

// Causes returns the errors behind results that failed in the service, for the log.
func (r *Response[T, E]) Causes() []error { return r.causes }

// fill writes brief errors, then their long parts, then records into the answer while there
// is space. Records omit parts, all the same ones, until every record has space.
func (r *Response[T, E]) fill(space size.Space, results []write.Result) error {
	if err := r.fillErrors(&space); err != nil {
		return err
	}
	texts := make([]Text[T], len(results))
	for detail := size.Full; detail <= size.Bare; detail++ {
		if fits, err := r.fillRecords(space, results, texts, detail); err != nil || fits {
			return err
		}
	}
	return nil
}

// fillErrors shows the errors, the first of them with full messages and options, and takes
// their space.
func (r *Response[T, E]) fillErrors(space *size.Space) error {
	for i := range r.Results {
		if e, ok := r.refused[i]; ok {
			r.put(i, brief(e))
			text, err := wire.Encode(r.Results[i].Error)
			if err != nil {
				return fmt.Errorf("bulk: encode error %d: %w", i, err)
			}
			space.Take(text)
		}
	}
	for _, i := range r.long() {
		e := r.refused[i]
		text, err := wire.Encode(append([]string{e.Message}, e.ValidOptions...))
		if err != nil {
			return fmt.Errorf("bulk: encode options %d: %w", i, err)
		}
		if !space.Fits(text) {
			return nil
		}
		space.Take(text)
		r.put(i, e)
	}
	return nil
}

// put shows e as the error at index i.
func (r *Response[T, E]) put(i int, e *apierr.Error) {
	shown := r.fail(e)
	r.Results[i].Error = &shown
}

// brief returns an error without options and with a short message: the message of a dropdown
// quotes every option.
func brief(e *apierr.Error) *apierr.Error {
	cut := *e
	cut.ValidOptions = nil
	if len(cut.Message) > size.BulkMessage+len("…") {
		cut.Message = strings.ToValidUTF8(cut.Message[:size.BulkMessage], "") + "…"
	}
	return &cut
}

// long returns the indexes of the errors that brief would change.
func (r *Response[T, E]) long() (indexes []int) {
	for i := range r.Results {
		if e, ok := r.refused[i]; ok && (len(e.ValidOptions) > 0 || len(e.Message) > size.BulkMessage+len("…")) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// shower is a record that is rendered late. Show returns nil if there is no memory left.
type shower interface{ Show(size.Detail) any }

// fillRecords writes the records at a Detail while there is space, and reports whether all of
// them fit. texts keeps what it encodes. A record without memory is left out.
func (r *Response[T, E]) fillRecords(
	space size.Space, results []write.Result, texts []Text[T], detail size.Detail,
) (fits bool, err error) {
	for i := range r.Results {
		r.Results[i].Data = nil
	}
	for i, result := range results {
		if result.Err != nil || result.Answer == nil {
			continue
		}
		if texts[i], err = encoded(texts[i], result.Answer, detail); err != nil {
			return false, fmt.Errorf("bulk: encode answer %d: %w", i, err)
		}
		if texts[i] == nil {
			continue
		}
		if !space.Fits(texts[i]) {
			return false, nil
		}
		space.Take(texts[i])
		r.Results[i].Data = texts[i]
	}
	return true, nil
}

// encoded encodes a record at a Detail; nil if there is no memory left. It returns before for a
// record that omits no more than before.
func encoded(before []byte, answer any, detail size.Detail) ([]byte, error) {
	if later, ok := answer.(shower); ok {
		if answer = later.Show(detail); answer == nil {
			return nil, nil
		}
	} else if record, ok := answer.(size.Reducer); ok && !record.Reduce(detail) && before != nil {
		return before, nil
	}
	return wire.Encode(answer)
}
