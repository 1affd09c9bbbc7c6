// Command quick checks a change in minutes: it vets the changed packages, runs the unit tests of
// changed and importing packages, and the integration tests of the changed groups. After a change of a
// shared package, quick runs the tests of all areas with the mark Everywhere, and vets the importing
// packages instead of their unit tests if they are many. The change has all differences from the branch
// main, committed or not:
//
//	quick [-base COMMIT]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	base := flag.String("base", "main", "the branch or commit that the change is compared with")
	flag.Parse()
	if err := run(*base); err != nil {
		fmt.Fprintln(os.Stderr, "quick:", err)
		os.Exit(1)
	}
}

// run finds the change, and runs every step of its plan, also after one has failed.
func run(base string) (failed error) {
	files, err := changed(base)
	if err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	began := time.Now()
	for _, s := range plan(files, packages) {
		fmt.Fprintln(os.Stdout, "==", s)
		cmd := exec.Command("go", s.args...) //nolint:noctx // the project's own packages
		cmd.Env = append(os.Environ(), s.env...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s, err))
		}
	}
	for _, file := range unchecked(files, packages) {
		fmt.Fprintln(os.Stdout, "== not checked:", file)
	}
	fmt.Fprintf(os.Stdout, "== %d files differ from %s, checked in %.0f s\n", len(files), base, time.Since(began).Seconds())
	return failed
}

// changed returns the files that differ from where the work left the base, or from the last
// commit where the base is unknown, and the files that git does not know yet.
func changed(base string) ([]string, error) {
	from, err := output("git", "merge-base", "HEAD", base)
	if err != nil {
		from = "HEAD"
	}
	differing, err := output("git", "diff", "--name-only", strings.TrimSpace(from))
	if err != nil {
		return nil, err
	}
	unknown, err := output("git", "ls-files", "--others", "--exclude-standard")
	return strings.Fields(differing + unknown), err
}

// list returns the packages of the project.
func list() (all []pkg, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	text, err := output("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var p struct {
			ImportPath, Dir                    string
			Imports, TestImports, XTestImports []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		folder, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, pkg{p.ImportPath, filepath.ToSlash(folder), slices.Concat(p.Imports, p.TestImports, p.XTestImports)})
	}
}

// output runs a command and returns what it prints.
func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output() //nolint:noctx // the tool's own commands
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return string(text), nil
}
