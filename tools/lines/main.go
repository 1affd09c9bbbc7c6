// Command lines prints the size of the service: the production lines of each group, and the
// lines for a route. Run from the project's folder; `make golden` does. Some groups have code of
// their own in shared: rows of their own show these groups with that code.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"lectern/functions"
)

// together are groups that share code of their own: a package or a file of shared that no other
// group uses.
type together struct {
	name   string
	groups []string
	shared string
}

// withShared lists the groups that have code of their own in shared.
var withShared = []together{
	{"agendaplanning with shared/agenda", []string{"agendaplanning"}, "agenda"},
	{"awards with shared/award", []string{"awards"}, "award"},
	{"insights with shared/insight", []string{"insights"}, "insight"},
	{"reports and dashboards with shared/report", []string{"reports", "dashboards"}, "report"},
	{"media with shared/media", []string{"media"}, "media"},
	{"recordings with shared/recording", []string{"recordings"}, "recording"},
	{"sessionfiles with shared/sessionfile", []string{"sessionfiles"}, "sessionfile"},
	{"transcriptions with shared/transcript", []string{"transcriptions"}, "transcript"},
	{"sponsors and exhibitors with shared/account/routes.go",
		[]string{"sponsors", "sponsorwrites", "exhibitors", "exhibitorwrites"}, "account/routes.go"},
	{"settings with shared/settings/handler", []string{"eventsettings", "fieldwrites", "metadatawrites"}, "settings/handler"},
}

func main() {
	if err := run(os.Stdout, os.DirFS(".")); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

// size is the size of a group.
type size struct{ routes, lines int }

// run prints the table for the project in files.
func run(w io.Writer, files fs.FS) error {
	fmt.Fprintf(w, form, "group", "routes", "lines", "a route")
	sizes, routes := map[string]size{}, 0
	for _, g := range functions.Groups {
		lines, err := count(files, path.Join("functions", g.Name))
		if err != nil {
			return err
		}
		sizes[g.Name] = size{len(g.Operations), lines}
		row(w, g.Name, sizes[g.Name])
		routes += len(g.Operations)
	}
	for _, t := range withShared {
		if err := t.row(w, files, sizes); err != nil {
			return err
		}
	}
	handlers, err := count(files, "functions")
	if err != nil {
		return err
	}
	packages, err := count(files, "shared")
	if err != nil {
		return err
	}
	row(w, "functions", size{routes, handlers})
	row(w, "functions and shared", size{routes, handlers + packages})
	return nil
}

// row prints the row of the groups with their code in shared.
func (t together) row(w io.Writer, files fs.FS, sizes map[string]size) error {
	lines, err := count(files, path.Join("shared", t.shared))
	sum := size{lines: lines}
	for _, name := range t.groups {
		sum.routes += sizes[name].routes
		sum.lines += sizes[name].lines
	}
	row(w, t.name, sum)
	return err
}

// form is the form of a row.
const form = "%-53s %6v %6v %8v\n"

// row prints a row of the table.
func row(w io.Writer, name string, s size) {
	fmt.Fprintf(w, form, name, s.routes, s.lines, fmt.Sprintf("%.0f", float64(s.lines)/float64(max(s.routes, 1))))
}

// count returns the lines of Go files in a folder and the folders below, without tests, or of a
// single file. A missing folder has no lines: a group may be declared by the package of another
// group.
func count(files fs.FS, root string) (int, error) {
	c := counter{files, root, 0}
	err := fs.WalkDir(files, root, c.visit)
	return c.lines, err
}

// counter adds up the lines of files.
type counter struct {
	files fs.FS
	root  string
	lines int
}

// visit counts the lines of a file.
func (c *counter) visit(path string, entry fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) && path == c.root {
		return nil
	}
	if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
		return err
	}
	text, err := fs.ReadFile(c.files, path)
	c.lines += bytes.Count(text, []byte("\n"))
	return err
}
