package bus

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// keyName is the file with the master key.
	keyName = "master.key"
	// keyBytes is the number of random bytes of a key: 64 characters.
	keyBytes = 32
)

// memoryKey is the master key of every region without a folder. Such a region ends with its data.
var memoryKey = strings.Repeat("lectern0", keyBytes/4)

// MasterKey returns the master key of a folder. The first call writes the file with a random key.
func MasterKey(dir string) (string, error) {
	if dir == "" {
		return memoryKey, nil
	}
	path := filepath.Join(dir, keyName)
	text, err := os.ReadFile(path) //nolint:gosec // the developer names the folder
	if err == nil && len(text) != 2*keyBytes {
		return "", fmt.Errorf("bus: %s has %d bytes and not the %d of a master key", path, len(text), 2*keyBytes)
	}
	if err == nil {
		return string(text), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("bus: read the master key: %w", err)
	}
	random := make([]byte, keyBytes)
	_, _ = rand.Read(random) // It never fails.
	key := hex.EncodeToString(random)
	return key, replace(path, []byte(key))
}

// replace replaces a file as a whole.
func replace(path string, text []byte) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, text, 0o600); err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	return nil
}
