package verify

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// TestTheNumbersOfADeletedRecordAreChecked while it can be restored. Afterwards a purge may have begun.
func TestTheNumbersOfADeletedRecordAreChecked(t *testing.T) {
	s := stacktest.Start(t)
	create := func(path string, body map[string]any) string {
		return stacktest.Call[map[string]any](s, 200, "POST", s.EventPath(path), body)["id"].(string)
	}
	draft := create("/agenda-drafts/create", map[string]any{"name": "Plan"})
	session := create("/sessions/create", map[string]any{"title": "A talk"})
	create("/agenda-drafts/"+draft+"/sessions/create", map[string]any{"session_id": session})
	s.Call(t, 200, "DELETE", s.EventPath("/agenda-drafts/"+draft), nil)
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	all := read(t, client, name)
	require.Empty(t, all.problems())

	number := slices.IndexFunc(all, func(i raw.Item) bool {
		kind, _, _ := resource.KindOf(i.Key)
		return strings.HasSuffix(i.PK, "#F#"+draft) && i.SK == (resource.Owner{}).CountKey(kind).SK
	})
	require.GreaterOrEqual(t, number, 0)
	all[number].Data = "7"
	require.Contains(t, strings.Join(all.problems(), "\n"), "counts 6 records")
	deleted := slices.IndexFunc(all, func(i raw.Item) bool {
		_, id, deleted := resource.KindOf(i.Key)
		return deleted && id == draft
	})
	require.GreaterOrEqual(t, deleted, 0)
	long := wire.At(time.Now().Add(-resource.Keep - time.Minute)).String()
	all[deleted].Data = regexp.MustCompile(`"deleted_at":"[^"]+"`).ReplaceAllString(all[deleted].Data, `"deleted_at":"`+long+`"`)
	require.Empty(t, all.problems())
}

// TestRunningNumbersAndSums are compared with the records, and a message says what is wrong.
func TestRunningNumbersAndSums(t *testing.T) {
	s := stacktest.Start(t)
	programs := fmt.Sprintf("/v1/organization/%d/awards/programs", s.Org)
	program := stacktest.Call[map[string]any](s, 200, "POST", programs, map[string]any{"name": "Best", "status": "open"})["id"].(string)
	for _, name := range []string{"ada", "joan"} {
		submitter := map[string]any{"name": name, "email": name + "@example.org"}
		s.Operator(t, "award-submit", map[string]any{"org_id": s.Org, "program_id": program, "submitter": submitter})
	}
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	changed := func(part, from, to string) string {
		all := read(t, client, name)
		require.Empty(t, all.problems())
		at := slices.IndexFunc(all, func(i raw.Item) bool {
			return strings.HasPrefix(i.SK, part) && strings.HasSuffix(i.PK, "#F"+map[bool]string{false: "#" + program}[part == "C#"]) && strings.Contains(i.Data, from)
		})
		require.GreaterOrEqual(t, at, 0, part)
		all[at].Data = strings.Replace(all[at].Data, from, to, 1)
		return strings.Join(all.problems(), "\n")
	}
	require.Regexp(t, `award_submission AWD-\d+-00002 is over its counter, which is 1`, changed("C#", "2", "1"))
	require.Regexp(t, ` are both award_submission AWD-\d+-00001`, changed("R#award_submission#", "-00002", "-00001"))
	require.Regexp(t, `: "submissions" of the record \S+ is off by \+5 from what the records award_submission add`, changed("S#", "2", "7"))
}
