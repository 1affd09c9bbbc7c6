package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// TestAnOperatorsCommandLeavesALine with its name and outcome, and nothing of its input.
func TestAnOperatorsCommandLeavesALine(t *testing.T) {
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.WithLog(log))
	s.Inside(t, "another process writes the log at its own time")
	s.Operator(t, "organization-create", map[string]any{"name": "Not for the log"})
	require.Regexp(t, `"msg":"command done","command":"organization-create","request_id":"[0-9a-f-]{36}"`, log.String())
	_, err := s.TryOperator(t, "organization-show", map[string]any{"org_id": 1_000_000_000})
	require.Error(t, err)
	require.Regexp(t, `"msg":"command refused","command":"organization-show","request_id":"[0-9a-f-]{36}","code":"NOT_FOUND"`, log.String())
	_, err = s.TryOperator(t, "Not for the log", nil)
	require.Error(t, err)
	require.Regexp(t, `"msg":"command refused","command":"","request_id":"[0-9a-f-]{36}","code":"VALIDATION_ERROR"`, log.String())
	require.NotContains(t, log.String(), "Not for the log")
}
