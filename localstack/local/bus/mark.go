package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// markName is the file with the follower's mark.
const markName = "published.json"

// mark is how far the follower has come.
type mark struct {
	// First is the time of the first start. No earlier change is published.
	First time.Time `json:"first"`
	// Until is the time at which every change that the feed had was published.
	Until time.Time `json:"until"`
}

// openMark returns the mark of a folder. The first call writes a mark at the present time.
func openMark(dir string, now time.Time) (m mark, err error) {
	m = mark{First: now.UTC(), Until: now.UTC()}
	if dir == "" {
		return m, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, markName)) //nolint:gosec // the developer names the folder
	if errors.Is(err, os.ErrNotExist) {
		return m, m.write(dir)
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("bus: read %s: %w", markName, err)
	}
	return m, nil
}

// write replaces the mark of a folder.
func (m mark) write(dir string) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("bus: encode the mark: %w", err)
	}
	return replace(filepath.Join(dir, markName), text)
}

// from returns the time of the first change to read, so that no change which was written late is
// missed.
func (m mark) from(overlap time.Duration) time.Time {
	if from := m.Until.Add(-overlap); from.After(m.First) {
		return from
	}
	return m.First
}
