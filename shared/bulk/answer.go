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
	// maxAnswer is how many bytes of records and options an answer holds; the
	// entries beyond carry their id or message only (gaps.md section 3).
	maxAnswer = size.Plain - envelope
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

// fill writes errors in brief, then their long parts, then records into the answer for as
// long as they fit.
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

// shower is an answer that is rendered where there is room for it: Show returns nil where
// there is no memory for it.
type shower interface{ Show() any }

// fillRecords writes the records for as long as they fit, each without so many steps of
// what a record can leave out (size.Shrinker). It is called with step 0, 1 and so on. It
// reports whether all fit, and whether one of them had this step to leave out.
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

// encoded renders a record without the steps up to step; nil where there is no memory for
// it. It reports whether the record had that step. A record that was rendered before has
// left out the earlier ones.
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

// Shrink leaves out a quarter of the records, the last ones; once there are none, what is
// long in the last errors. It reports whether there was anything left to leave out.
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
