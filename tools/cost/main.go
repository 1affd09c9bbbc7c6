// Command cost computes the cost of the service on AWS: for a million requests of a kind, and
// for a month at several loads. Units and milliseconds are from docs/performance.md, list
// prices from prices.go, the alarms and logs of a region from the golden file of infra, and
// assumptions from model.go. It prints the tables of docs/operations.md, or writes them into the
// document. It fails when a goal (goals.go) is missed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	var from sources
	flag.StringVar(&from.measured, "figures", "docs/performance.md", "the document with the measured figures")
	flag.StringVar(&from.watched, "shape", "infra/testdata/watched.golden.txt", "the list of a region's logs, filters and alarms")
	into := flag.String("into", "", "the document whose tables are replaced, such as docs/operations.md; none to print them")
	flag.Parse()
	if err := run(from, *into); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sources names the files that the costs are computed from.
type sources struct{ measured, watched string }

// run prints the tables, or writes them into a document, and then returns an error if a goal is
// missed.
func run(from sources, into string) error {
	c, err := from.model()
	if err != nil {
		return err
	}
	tables, err := c.render()
	if err != nil {
		return err
	}
	if into == "" {
		_, err = fmt.Fprint(os.Stdout, tables)
	} else {
		err = write(tables, into)
	}
	return errors.Join(err, c.judge())
}

// write replaces the tables of a document.
func write(tables, into string) error {
	text, err := os.ReadFile(into)
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	replaced, err := replace(string(text), tables)
	if err != nil {
		return fmt.Errorf("cost: %s: %w", into, err)
	}
	return os.WriteFile(into, []byte(replaced), 0o644) //nolint:gosec // a document for everyone
}

// model reads the files.
func (s sources) model() (c model, err error) {
	measured, err := os.ReadFile(s.measured)
	if err != nil {
		return c, fmt.Errorf("cost: %w", err)
	}
	watched, err := os.ReadFile(s.watched)
	if err != nil {
		return c, fmt.Errorf("cost: %w", err)
	}
	if c.figures, err = figures(string(measured)); err != nil {
		return c, err
	}
	c.shape, err = readShape(string(watched))
	return c, err
}

// Lines of a document around the tables.
const (
	begin = "<!-- cost: what make cost prints -->\n"
	end   = "<!-- cost: end -->\n"
)

// between returns the tables of a document and the text around them.
func between(text string) (before, tables, after string, err error) {
	before, rest, ok := strings.Cut(text, begin)
	if ok {
		tables, after, ok = strings.Cut(rest, end)
	}
	if !ok {
		return "", "", "", errors.New("has no place for the tables")
	}
	return before, tables, after, nil
}

// replace replaces the tables of a document.
func replace(text, tables string) (string, error) {
	before, _, after, err := between(text)
	return before + begin + tables + end + after, err
}
