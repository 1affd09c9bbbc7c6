// Command lines prints the size of the service: the production lines of each group, and the
// lines for a route. Run from the project's folder; `make golden` does.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lectern/functions"
)

func main() {
	if err := run(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

// run prints the table for the project in a folder.
func run(w io.Writer, root string) error {
	fmt.Fprintf(w, "%-20s %6s %6s %8s\n", "group", "routes", "lines", "a route")
	routes := 0
	for _, g := range functions.Groups {
		lines, err := count(filepath.Join(root, "functions", g.Name))
		if err != nil {
			return err
		}
		row(w, g.Name, len(g.Operations), lines)
		routes += len(g.Operations)
	}
	handlers, err := count(filepath.Join(root, "functions"))
	if err != nil {
		return err
	}
	packages, err := count(filepath.Join(root, "shared"))
	if err != nil {
		return err
	}
	row(w, "functions", routes, handlers)
	row(w, "functions and shared", routes, handlers+packages)
	return nil
}

// row prints a row of the table.
func row(w io.Writer, name string, routes, lines int) {
	fmt.Fprintf(w, "%-20s %6d %6d %8.0f\n", name, routes, lines, float64(lines)/float64(max(routes, 1)))
}

// count returns the lines of Go files in a folder and the folders below, without tests. A missing
// folder has no lines: a group may be declared by the package of another group.
func count(folder string) (int, error) {
	c := counter{files: os.DirFS(folder)}
	err := fs.WalkDir(c.files, ".", c.visit)
	return c.lines, err
}

// counter adds up the lines of files.
type counter struct {
	files fs.FS
	lines int
}

// visit counts the lines of a file.
func (c *counter) visit(path string, entry fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) && path == "." {
		return nil
	}
	if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
		return err
	}
	text, err := fs.ReadFile(c.files, path)
	c.lines += bytes.Count(text, []byte("\n"))
	return err
}
