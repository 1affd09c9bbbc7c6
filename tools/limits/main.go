// Command limits compares the measured packages with the list of packages that may be over a
// limit. It reads the table of check-house from its input and prints the table. A package over a
// limit that the list does not name is an error, and so is a named limit that the package keeps.
// With -update the command writes the list.
//
//	check-house -packages DIR... | go run ./tools/limits [-update] .ci/limits.txt
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// limits names the columns that a star marks.
var limits = []string{"files", "params", "closures", "pointing", "is"}

// row matches the row of a package: the name, the star of each column with a limit, and the
// closures in 1,000 lines.
var row = regexp.MustCompile(`^  (?P<name>\S+) +\d+(?P<files>\*?) +\d+ +\d+ +\d+/ *\d+/ *\d+ +\d+(?P<params>\*?) +` +
	`(?P<density>[\d.]+)(?P<closures>\*?) +\d+ +[\d.]+(?P<pointing>\*?) +\d+(?P<is>\*?) *$`)

// fewClosures has the packages with a limit of their own for closures in 1,000 lines, below
// the limit of all packages.
var fewClosures = map[string]float64{"shared/session": 8, "shared/session/view": 8, "shared/session/store": 8, "shared/party": 8}

// broken has the limits that a package breaks, by the package's folder.
type broken map[string][]string

func main() {
	update := flag.Bool("update", false, "write the list from the measured table")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, flag.Arg(0), *update); err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(1)
	}
}

// run prints the table and compares the packages with the list in a file, or writes the file.
func run(in io.Reader, out io.Writer, file string, update bool) error {
	measured, err := measure(io.TeeReader(in, out))
	if err != nil {
		return err
	}
	if update {
		return os.WriteFile(file, []byte(measured.String()), 0o644) //nolint:gosec // a file of the project, for everyone
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return compare(listed(string(text)), measured)
}

// measure reads the table.
func measure(table io.Reader) (broken, error) {
	found, packages := broken{}, 0
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "  ") {
			continue
		}
		name, over, err := read(lines.Text())
		if err != nil {
			return nil, err
		}
		packages++
		if len(over) > 0 {
			found[name] = over
		}
	}
	if packages == 0 {
		return nil, errors.New("the input has no row of a package")
	}
	return found, lines.Err()
}

// read returns the package of a row and the limits that the package is over.
func read(line string) (name string, over []string, err error) {
	found := row.FindStringSubmatch(line)
	if found == nil {
		return "", nil, fmt.Errorf("the row has another form: %q", line)
	}
	name = found[row.SubexpIndex("name")]
	density, err := strconv.ParseFloat(found[row.SubexpIndex("density")], 64)
	if err != nil {
		return "", nil, err
	}
	for _, limit := range limits {
		own, has := fewClosures[name]
		if found[row.SubexpIndex(limit)] != "" || limit == "closures" && has && density > own {
			over = append(over, limit)
		}
	}
	return name, over, nil
}

// listed reads a list: a package on each line, with the limits that the package may break.
func listed(text string) broken {
	all := broken{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			all[words[0]] = words[1:]
		}
	}
	return all
}

// String returns the list.
func (b broken) String() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b)) {
		fmt.Fprintln(&text, name, strings.Join(b[name], " "))
	}
	return text.String()
}

// compare returns an error that names each difference between list and table.
func compare(list, measured broken) error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		for _, limit := range measured[name] {
			if !slices.Contains(list[name], limit) {
				all = append(all, fmt.Errorf("%s is over the limit of %s: mend the package", name, limit))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		for _, limit := range list[name] {
			if !slices.Contains(measured[name], limit) {
				all = append(all, fmt.Errorf("%s keeps the limit of %s: take it off the list (.ci/limits -update)", name, limit))
			}
		}
	}
	return errors.Join(all...)
}
