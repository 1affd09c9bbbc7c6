package child

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns a program by its path in the project: in the working directory, beside this
// program, or in a folder above either.
func Find(path string) (string, bool) {
	if dir, err := os.Getwd(); err == nil {
		if found, ok := above(dir, path); ok {
			return found, true
		}
	}
	if program, err := os.Executable(); err == nil {
		return above(filepath.Dir(program), path)
	}
	return "", false
}

// above returns the program in a folder or a folder above.
func above(dir, path string) (string, bool) {
	for {
		found := filepath.Join(dir, path)
		if _, err := exec.LookPath(found); err == nil {
			return found, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
