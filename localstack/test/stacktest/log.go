package stacktest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Log keeps log lines in memory. Tests may read a Log while a service writes it.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the whole text.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Line returns the service's line about a request. The service may write the line after the
// answer, so Line waits.
func (l *Log) Line(t testing.TB, requestID string) (line string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for text := range strings.Lines(l.String()) {
			if strings.Contains(text, requestID) {
				line = text
			}
		}
		return strings.HasSuffix(line, "\n")
	}, 5*time.Second, time.Millisecond)
	return line
}

// Fields returns the fields of the service's line about a request.
func (l *Log) Fields(t testing.TB, requestID string) (fields map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(l.Line(t, requestID)), &fields))
	return fields
}
