package bulk

import (
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

const (
	// maxAnswer bounds the records and options of an answer, in bytes. Entries beyond have
	// their id or message only (gaps.md section 3).
	maxAnswer = size.Plain - envelope
	// envelope is the room for the other parts of the results.
	envelope = 100 << 10
	// maxEcho is how many characters of an unknown action an answer repeats.
	maxEcho = 100
	// maxBrief is how many bytes of a message an answer with many long errors repeats.
	maxBrief = 2 << 10
)

// show fills in the results of the operations.
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

// echo shortens a word of the client.
func echo(word string) string {
	if runes := []rune(word); len(runes) > maxEcho {
		return string(runes[:maxEcho]) + "…"
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
// is room.
func (r *Response[T, E]) fill(results []write.Result) error {
	room, err := r.fillErrors()
	if err != nil {
		return err
	}
	for step := 0; ; step++ {
		fits, less, err := r.fillRecords(results, room, step)
		if err != nil || fits || step > 0 && !less {
			return err
		}
	}
}

// fillErrors shows the errors, the first of them with full messages and options, and returns
// the room left.
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

// brief returns an error without options and with a short message: the message of a dropdown
// quotes every option.
func brief(e *apierr.Error) *apierr.Error {
	cut := *e
	cut.ValidOptions = nil
	if len(cut.Message) > maxBrief+len("…") {
		cut.Message = strings.ToValidUTF8(cut.Message[:maxBrief], "") + "…"
	}
	return &cut
}

// long returns the indexes of the errors that brief would change.
func (r *Response[T, E]) long() (indexes []int) {
	for i := range r.Results {
		if e, ok := r.refused[i]; ok && (len(e.ValidOptions) > 0 || len(e.Message) > maxBrief+len("…")) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// shower is an answer that is rendered late. Show returns nil if there is no memory left.
type shower interface{ Show() any }

// fillRecords writes the records while there is room, each after the given number of
// shrinking steps (size.Shrinker). The steps are 0, 1 and so on. It reports whether all
// records fit, and whether a record could shrink by this step.
func (r *Response[T, E]) fillRecords(results []write.Result, room, step int) (fits, less bool, err error) {
	for i, result := range results {
		if result.Err != nil || result.Answer == nil {
			continue
		}
		text, shrank, err := encoded(result.Answer, step)
		if err != nil {
			return false, false, fmt.Errorf("bulk: encode answer %d: %w", i, err)
		}
		less = less || shrank
		if room -= len(text); text == nil || room < 0 {
			return false, less, nil
		}
		r.Results[i].Data = text
	}
	return true, less, nil
}

// encoded renders a record after the steps up to step; nil if there is no memory left. It
// reports whether the record had this step. A record rendered before has taken the earlier
// steps already.
func encoded(answer any, step int) (text []byte, shrank bool, err error) {
	steps := min(step, 1)
	if later, ok := answer.(shower); ok {
		if answer, steps = later.Show(), step; answer == nil {
			return nil, false, nil
		}
	}
	if record, ok := answer.(size.Shrinker); ok {
		for range steps {
			shrank = record.Shrink()
		}
	}
	text, err = wire.Encode(answer)
	return text, shrank, err
}

// Shrink leaves out the last quarter of the records, or without records the long parts of
// the last errors. It reports whether there was anything to leave out.
func (r *Response[T, E]) Shrink() bool {
	shown := 0
	for _, result := range r.Results {
		shown += len(result.Data)
	}
	if shown == 0 {
		return r.shrinkErrors()
	}
	room := shown / 4 * 3
	for i := range r.Results {
		if room -= len(r.Results[i].Data); room < 0 {
			r.Results[i].Data = nil
		}
	}
	return true
}

func (r *Response[T, E]) shrinkErrors() bool {
	long := r.long()
	for _, i := range long[len(long)/4*3:] {
		r.refused[i] = brief(r.refused[i])
		r.put(i, r.refused[i])
	}
	return len(long) > 0
}
