package batteries_test

import (
	"errors"
	"net/http"

	"lectern/localstack/test/it"
	"lectern/shared/apierr"
)

// compose links two sessions or cuts a link, as the operator does.
func (w *writer) compose(top []string) {
	w.m.composing.Lock()
	defer w.m.composing.Unlock()
	input := map[string]any{"org_id": w.at[0].Org, "event_id": w.at[0].Event}
	do := func(command string) func() (int, map[string]any) {
		return func() (int, map[string]any) {
			body, err := w.stack().TryOperator(w.t, command, input)
			var refused *apierr.Error
			switch {
			case errors.As(err, &refused):
				return refused.Status, map[string]any{"code": refused.Code, "message": refused.Message, "details": refused.Details}
			case err != nil:
				w.t.Logf("%s: %v", command, err)
				return http.StatusInternalServerError, nil
			}
			return http.StatusOK, body
		}
	}
	both := func(target, source string) func(map[string]any) map[string]int64 {
		return func(map[string]any) map[string]int64 { return map[string]int64{target: 1, source: 1} }
	}
	linked := w.m.sessions.some(func(s *state) bool { return s.source })
	if len(linked) > 0 && chance(w.r, 2) {
		source := it.OneOf(w.r, linked)
		target := w.m.targetOf(source)
		input["source_id"] = source
		write(w, w.m.sessions, job{touched: []string{target, source}}, do("session-unlink"), both(target, source))
		return
	}
	target, source := it.OneOf(w.r, top), it.OneOf(w.r, top)
	if target == source {
		return
	}
	input["target_id"], input["source_id"] = target, source
	input["relationship_type"] = map[[2]bool]string{{true, true}: "merged_abstract", {false, true}: "composed_into_session"}[[2]bool{w.m.sessions.state(target).abstract, w.m.sessions.state(source).abstract}]
	if input["relationship_type"] == "" {
		input["relationship_type"] = "merged_session"
	}
	write(w, w.m.sessions, job{touched: []string{target, source}}, do("session-link"), both(target, source))
}
