package bulk

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	// maxAnswer is how many bytes of records and options an answer holds; the
	// entries beyond carry their id or message only, for a Lambda cannot answer
	// more (gaps.md section 3).
	maxAnswer = 5<<20 - envelope
	// envelope is room for what the results have beside.
	envelope = 100 << 10
	// maxEcho is how many characters of a word that is no action are repeated.
	maxEcho = 100
	// maxBrief is how many bytes of a message are repeated where errors are many
	// and long.
	maxBrief = 2 << 10
)

// show fills in what came of the operations.
func (r *Response[T, E]) show(operations []Operation, entries []write.Entry, results []write.Result) error {
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
	return r.fill(results)
}

// echo is a word of the client's in a length that is worth repeating.
func echo(word string) string {
	if runes := []rune(word); len(runes) > maxEcho {
		return string(runes[:maxEcho]) + "…"
	}
	return word
}

// refusal is an operation's error as a caller may see it. That the service failed it is
// among Causes, once for all operations that failed by the same.
func (r *Response[T, E]) refusal(index int, err error) *apierr.Error {
	shown := api.Visible(err)
	told := func(cause error) bool { return errors.Unwrap(cause).Error() == err.Error() }
	if shown.Status >= http.StatusInternalServerError && !slices.ContainsFunc(r.causes, told) {
		r.causes = append(r.causes, fmt.Errorf("bulk: operation %d: %w", index, err))
	}
	return shown
}

// Causes are the errors behind those results that the service failed, for the log.
func (r *Response[T, E]) Causes() []error { return r.causes }

// fill writes errors in brief, then what is long in them and then records into the
// answer for as long as they fit.
func (r *Response[T, E]) fill(results []write.Result) error {
	room, err := r.fillErrors()
	if err != nil {
		return err
	}
	fits, err := r.fillRecords(results, room)
	if err == nil && !fits && slimmed(results) {
		_, err = r.fillRecords(results, room)
	}
	return err
}

// fillErrors shows the errors, the first of them with their whole messages and
// options, and gives the room that is left.
func (r *Response[T, E]) fillErrors() (room int, err error) {
	room = maxAnswer
	for i := range r.Results {
		if e, ok := r.refused[i]; ok {
			r.put(i, brief(e))
			text, err := wire.Encode(r.Results[i].Error)
			if err != nil {
				return 0, fmt.Errorf("bulk: encode error %d: %w", i, err)
			}
			room -= len(text)
		}
	}
	full := false
	for _, i := range r.long() {
		e := r.refused[i]
		text, err := wire.Encode(append([]string{e.Message}, e.ValidOptions...))
		if err != nil {
			return 0, fmt.Errorf("bulk: encode options %d: %w", i, err)
		}
		if full = full || room < len(text); full {
			r.refused[i] = brief(e)
			continue
		}
		room -= len(text)
		r.put(i, e)
	}
	return room, nil
}

// put shows e as the error at index i.
func (r *Response[T, E]) put(i int, e *apierr.Error) {
	shown := r.fail(e)
	r.Results[i].Error = &shown
}

// brief is an error without options and without what is long: the message of a
// dropdown quotes each option.
func brief(e *apierr.Error) *apierr.Error {
	cut := *e
	cut.ValidOptions = nil
	if len(cut.Message) > maxBrief+len("…") {
		cut.Message = strings.ToValidUTF8(cut.Message[:maxBrief], "") + "…"
	}
	return &cut
}

// long are the indexes of the errors that brief would change.
func (r *Response[T, E]) long() (indexes []int) {
	for i := range r.Results {
		if e, ok := r.refused[i]; ok && (len(e.ValidOptions) > 0 || len(e.Message) > maxBrief+len("…")) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// fillRecords writes the records for as long as they fit. It is false when one
// does not; those behind it are left out then too.
func (r *Response[T, E]) fillRecords(results []write.Result, room int) (fits bool, err error) {
	for i, result := range results {
		if result.Err != nil || result.Answer == nil {
			continue
		}
		text, err := encoded(result.Answer)
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

// slimmed has the records leave something out once, such as what was added to them
// on request. It is false when there was nothing.
func slimmed(results []write.Result) (slim bool) {
	for _, result := range results {
		if record, ok := result.Answer.(interface{ Collapse() bool }); ok && record.Collapse() {
			slim = true
		}
	}
	return slim
}

// Slim leaves out the last of the records, a quarter of what is shown of them;
// once there are none, what is long in the last errors. It is false when there
// are none of those either.
func (r *Response[T, E]) Slim() bool {
	size := 0
	for _, result := range r.Results {
		size += len(result.Data)
	}
	if size == 0 {
		return r.slimErrors()
	}
	room := size / 4 * 3
	for i := range r.Results {
		if room -= len(r.Results[i].Data); room < 0 {
			r.Results[i].Data = nil
		}
	}
	return true
}

func (r *Response[T, E]) slimErrors() bool {
	long := r.long()
	for _, i := range long[len(long)/4*3:] {
		r.refused[i] = brief(r.refused[i])
		r.put(i, r.refused[i])
	}
	return len(long) > 0
}

// encoded is a record as the single operation would answer it: one that no answer has
// room for leaves something out.
func encoded(answer any) ([]byte, error) {
	for {
		text, err := wire.Encode(answer)
		if err != nil || len(text) <= maxAnswer {
			return text, err
		}
		if record, ok := answer.(interface{ Slim() bool }); !ok || !record.Slim() {
			return text, nil
		}
	}
}
